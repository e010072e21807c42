//! A board of any kind.

use std::collections::BTreeMap;

use machines::{Parameter, Value};

use super::{Error, KEYS, MeshBoard};

/// A board, as its file and those that it is based on describe it. Nothing that it needs is missing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Board {
    /// The board's name, or the file's.
    pub name: String,
    /// What it is, in a line.
    pub about: String,
    /// What it is made of.
    pub kind: Kind,
    /// By the place in [`KEYS`].
    pub(super) parameters: BTreeMap<usize, Parameter>,
}

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

impl Board {
    /// What is known of the board, in the order of [`KEYS`].
    pub fn parameters(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters.values()
    }

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
        let place = KEYS.iter().position(|key| key.name == "memory.default_gib");
        if let Some(size) = place.and_then(|place| self.parameters.get_mut(&place)) {
            size.value = Value::Number(gib);
            size.source = machines::Source { kind: "chosen".into(), text: "for this run".into() };
        }
        Ok(self)
    }
}
