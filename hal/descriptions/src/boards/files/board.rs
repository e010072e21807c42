//! A board of any kind.

use super::{KEYS, MeshBoard, check, keys::own_name};
use crate::{Described, Error, Given, Key, Parameter, Shape, Subject, Value, Values, machines::MachineFile};

/// A board as its file describes it.
pub type Board = Described<Kind>;

/// What a board is made of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Tiles in a mesh, as on the SCC.
    Mesh(Box<MeshBoard>),
    /// Cores with one memory that they find themselves.
    Pc(PcBoard),
}

/// A PC, which describes itself when it starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PcBoard {
    /// Cores that are started at most.
    pub most_cores: u32,
}

impl Subject for Kind {
    const NAME: &'static str = "board";
    const KEYS: &'static [Key] = KEYS;
    const TEXTS: &'static [&'static str] = &["base", "machine", "about"];
    const FILES: &'static [(&'static str, &'static str)] = &[
        ("scc", include_str!("../../../boards/scc.toml")),
        ("scc-2x2", include_str!("../../../boards/scc-2x2.toml")),
        ("pc", include_str!("../../../boards/pc.toml")),
    ];

    fn unknown(name: &str) -> String {
        format!("there is no board `{name}`")
    }

    fn shape(given: &Given, base: Option<Shape>) -> Result<Shape, String> {
        let is_pc = given.keys().any(|key| key.shape == Some(Shape::Pc));
        Ok(base.unwrap_or(if is_pc { Shape::Pc } else { Shape::Mesh }))
    }

    fn taken_over(given: &Given, shape: Shape) -> Result<Vec<(usize, Parameter)>, String> {
        match given.texts.get("machine") {
            Some(_) if shape == Shape::Pc => Err("machine is for meshes, and this is a PC".into()),
            Some(machine) => of_machine(machine),
            None => Ok(Vec::new()),
        }
    }

    fn of(values: &Values) -> Result<Self, String> {
        if values.shape() == Shape::Pc {
            return Ok(Self::Pc(PcBoard { most_cores: values.word("pc.most_cores") }));
        }
        check::values(values)?;
        let mesh = MeshBoard::new(values);
        check::mesh(&mesh)?;
        Ok(Self::Mesh(Box::new(mesh)))
    }
}

/// What a board takes from the machine with this name.
fn of_machine(name: &str) -> Result<Vec<(usize, Parameter)>, String> {
    let machine = MachineFile::built_in(name).filter(|machine| !machine.is_cluster());
    let machine = machine.ok_or_else(|| {
        let meshes = MachineFile::all().filter(|machine| !machine.is_cluster());
        let names: Vec<_> = meshes.map(|machine| machine.name).collect();
        format!("machine names no mesh of the simulator: there are {}", names.join(", "))
    })?;
    let known = machine.values.parameters().filter_map(|parameter| {
        let own = own_name(parameter.key.name);
        let (place, key) = KEYS.iter().enumerate().find(|(_, key)| key.name == own)?;
        let from = format!("machine {}", parameter.from);
        Some((place, Parameter { key, from, ..parameter.clone() }))
    });
    Ok(known.collect())
}

impl Board {
    /// The mesh of tiles, if it is one.
    pub fn mesh(&self) -> Option<&MeshBoard> {
        match &self.kind {
            Kind::Mesh(mesh) => Some(mesh),
            Kind::Pc(_) => None,
        }
    }

    /// This board with `gib` GiB of memory behind each controller, one of the choices that it has.
    ///
    /// # Errors
    /// If it has no such choice.
    pub fn with_memory(mut self, gib: u64) -> Result<Self, Error> {
        let Kind::Mesh(mesh) = &mut self.kind else {
            return Err(Error(format!("{} is no mesh with memory controllers", self.name)));
        };
        mesh.memory(gib)?;
        mesh.default_memory_gib = gib;
        self.values.choose("memory.default_gib", Value::Number(gib), "for this run");
        Ok(self)
    }
}
