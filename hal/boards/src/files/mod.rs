//! Board files: TOML that describes a board.
//!
//! The files next to this crate are the boards that have names, and the one place where what is known of them is
//! written down, each with its source as its comment. A file of one's own has the same form, or says what it is based
//! on and gives only what differs:
//!
//! ```toml
//! base = "scc"
//!
//! [cores]
//! # chosen: a board that was set up by Tile800_Mesh1600_DDR1066
//! clock_mhz = 800
//! ```
//!
//! Layout, clock, caches and prices can come from a machine of the simulator (`machine = "scc"`), whose files say them, too.
//! What there is to say is in [`KEYS`]. A file with the section `pc` describes a PC, others a mesh of tiles.

mod check;
mod keys;
mod memory;
mod mesh;
mod read;
mod text;

use std::{collections::BTreeMap, error, fmt, fs, path::Path};

use machines::{Parameter, Value};

pub use self::{
    keys::KEYS,
    memory::{Memory, Place},
    mesh::{Controller, MeshBoard},
};

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
    parameters: BTreeMap<usize, Parameter>,
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
        read::parse(name, text).map_err(|message| Error(format!("{name}: {message}")))
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

    /// The whole description as a file, without a base.
    pub fn to_toml(&self) -> String {
        text::of(self)
    }
}

/// Why a file describes no board, in one line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error(String);

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl error::Error for Error {}
