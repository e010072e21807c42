//! Reads a board file: what it says itself, what it is based on, and what it takes from a machine.

use std::{collections::BTreeMap, fs, path::Path};

use machines::{Given, Key, MachineFile, Parameter};

use super::{
    Board, Error, KEYS, Kind, PcBoard, check,
    keys::PC,
    mesh::{self, MeshBoard},
};

/// The keys outside of sections.
const TEXTS: [&str; 3] = ["base", "machine", "about"];

/// What a machine and a board both have: its parameter, and the board's.
const SHARED: [(&str, &str); 15] = [
    ("layout.columns", "layout.columns"),
    ("layout.rows", "layout.rows"),
    ("layout.cores_per_tile", "layout.cores_per_tile"),
    ("layout.controllers", "layout.controllers"),
    ("prices.core_mhz", "cores.clock_mhz"),
    ("prices.cache_sets", "cores.l2_sets"),
    ("prices.cache_ways", "cores.l2_ways"),
    ("prices.hop_ps", "prices.hop_ps"),
    ("prices.mpb_ps", "prices.mpb_ps"),
    ("prices.memory_write_ps", "prices.memory_write_ps"),
    ("prices.memory_read_ps", "prices.memory_read_ps"),
    ("prices.put_from_mpb_ps", "prices.put_from_mpb_ps"),
    ("prices.put_from_memory_ps", "prices.put_from_memory_ps"),
    ("prices.get_to_memory_ps", "prices.get_to_memory_ps"),
    ("contention.mpb_port_ps", "contention.mpb_port_ps"),
];

/// The boards that have names.
const BUILT_IN: [(&str, &str); 3] = [
    ("scc", include_str!("../../scc.toml")),
    ("scc-2x2", include_str!("../../scc-2x2.toml")),
    ("pc", include_str!("../../pc.toml")),
];

/// What the name of a board file ends with.
pub const EXTENSION: &str = machines::EXTENSION;

/// The names of the boards that have one.
pub fn names() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|(name, _)| *name)
}

impl Board {
    /// The board with this name, if there is one. Tests see to it that its file is right.
    pub fn built_in(name: &str) -> Option<Self> {
        let (name, text) = BUILT_IN.iter().find(|(built_in, _)| *built_in == name)?;
        Self::parse(name, text).ok()
    }

    /// The board that a file describes.
    ///
    /// # Errors
    /// If it cannot be read, or does not describe one; the error is one line that names the file and the key.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        let text = fs::read_to_string(path).map_err(|error| Error(format!("cannot read {name}: {error}")))?;
        Self::parse(&name, &text)
    }

    /// The board that the text of a file with this name describes.
    ///
    /// # Errors
    /// If it does not; the error is one line that names the file and the key.
    pub fn parse(name: &str, text: &str) -> Result<Self, Error> {
        parse(name, text).map_err(|message| Error(format!("{name}: {message}")))
    }

    /// The board with this name, or, if it ends with [`EXTENSION`], that of a file.
    ///
    /// # Errors
    /// If there is none; the error is one line that lists the boards there are, or says what is wrong with the file.
    pub fn find(name: &str) -> Result<Self, Error> {
        if name.ends_with(EXTENSION) {
            return Self::read(Path::new(name));
        }
        let known = || names().collect::<Vec<_>>().join(", ");
        Self::built_in(name).ok_or_else(|| {
            Error(format!("there is no board `{name}`; there are {}, and your own FILE{EXTENSION}", known()))
        })
    }
}

fn parse(name: &str, text: &str) -> Result<Board, String> {
    let Given { mut texts, parameters: given } = Given::parse("board", KEYS, &TEXTS, name, text)?;
    let base = match texts.remove("base") {
        None => None,
        Some(base) => Some(
            Board::built_in(&base)
                .ok_or_else(|| format!("base names no board: there are {}", names().collect::<Vec<_>>().join(", ")))?,
        ),
    };
    let about =
        texts.remove("about").or_else(|| base.as_ref().map(|base| format!("like {}: {}", base.name, base.about)));
    let was_pc = base.as_ref().is_some_and(|base| matches!(base.kind, Kind::Pc(_)));
    let mut parameters = base.map(|base| base.parameters).unwrap_or_default();
    let is_pc = was_pc || given.values().any(|given| is_of_pc(given.key)) && parameters.is_empty();
    let misplaced = given.values().find(|given| is_of_pc(given.key) != is_pc);
    if let Some(misplaced) = misplaced {
        let kinds = if is_pc { "meshes, and this is a PC" } else { "PCs, and this is a mesh" };
        return Err(format!("{} is for {kinds}", misplaced.key.name));
    }
    match texts.remove("machine") {
        Some(_) if is_pc => return Err("machine is for meshes, and this is a PC".into()),
        Some(machine) => parameters.extend(of_machine(&machine)?),
        None => {}
    }
    parameters.extend(given);
    let is_missing =
        |place: &usize| KEYS[*place].required && is_of_pc(&KEYS[*place]) == is_pc && !parameters.contains_key(place);
    if let Some(missing) = (0..KEYS.len()).find(is_missing) {
        let key = &KEYS[missing];
        return Err(format!("{} is missing ({}), and there is no base that says it", key.name, key.about));
    }
    let values = mesh::Values::new(&parameters);
    let kind = if is_pc {
        Kind::Pc(PcBoard { most_cores: values.number("pc.most_cores") })
    } else {
        check::values(&values)?;
        let mesh = MeshBoard::new(&values);
        check::mesh(&mesh)?;
        Kind::Mesh(Box::new(mesh))
    };
    Ok(Board { name: name.into(), about: about.unwrap_or_default(), kind, parameters })
}

fn is_of_pc(key: &Key) -> bool {
    key.section() == PC
}

/// What a board takes from the machine with this name.
fn of_machine(name: &str) -> Result<BTreeMap<usize, Parameter>, String> {
    let machine = MachineFile::built_in(name).filter(|machine| !machine.is_cluster());
    let machine = machine.ok_or_else(|| {
        let meshes = machines::names().filter_map(MachineFile::built_in).filter(|machine| !machine.is_cluster());
        let names: Vec<_> = meshes.map(|machine| machine.name).collect();
        format!("machine names no mesh of the simulator: there are {}", names.join(", "))
    })?;
    let known = machine.parameters().filter_map(|parameter| {
        let (_, own) = SHARED.iter().find(|(name, _)| *name == parameter.key.name)?;
        let place = KEYS.iter().position(|key| key.name == *own)?;
        let from = format!("machine {}", parameter.from);
        Some((place, Parameter { key: &KEYS[place], from, ..parameter.clone() }))
    });
    Ok(known.collect())
}
