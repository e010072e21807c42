//! Machine files: TOML that describes a machine of the simulator, its layout and what everything costs.
//!
//! The files next to this crate are the machines that have names, and the one place where their parameters are written
//! down, each with its source as its comment. A file of one's own has the same form, or says what it is based on and
//! gives only what differs:
//!
//! ```toml
//! base = "scc"
//!
//! [prices]
//! # chosen: what if routers were four times as slow?
//! hop_ps = 20_000
//! ```
//!
//! What there is to say is in [`KEYS`]. A file with the key `layout.nodes` describes a cluster, others a mesh of tiles;
//! who is based on a machine of the other shape inherits what both have.

mod given;
mod keys;
mod name;
mod read;
mod sources;

pub use self::{
    given::Given,
    keys::{KEYS, Key, MOST_CONTROLLERS, MOST_CORES, Shape, Type},
    name::{Feature, Kind, Machine, Variant},
    sources::{KINDS, Source},
};

use std::{collections::BTreeMap, error, fmt, fs, path::Path};

/// The machines that have names.
const BUILT_IN: [(&str, &str); 7] = [
    ("scc", include_str!("../scc.toml")),
    ("scc-calibrated", include_str!("../scc-calibrated.toml")),
    ("scc-2x2", include_str!("../scc-2x2.toml")),
    ("mesh-1024", include_str!("../mesh-1024.toml")),
    ("mesh-4096", include_str!("../mesh-4096.toml")),
    ("cluster-fpga", include_str!("../cluster-fpga.toml")),
    ("cluster-asic", include_str!("../cluster-asic.toml")),
];

/// The names of the machines that have one.
pub fn names() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|(name, _)| *name)
}

/// What the name of a machine file ends with.
pub const EXTENSION: &str = ".toml";

/// What a parameter is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// A number.
    Number(u64),
    /// Numbers.
    Numbers(Vec<u64>),
    /// Pairs of numbers.
    Pairs(Vec<[u64; 2]>),
    /// Words.
    Words(Vec<String>),
    /// Whether something is so.
    Flag(bool),
}

impl Value {
    /// The value with its numbers in base 16.
    pub fn to_hex(&self) -> String {
        match self {
            Self::Number(number) => format!("{number:#x}"),
            Self::Numbers(numbers) => {
                numbers.iter().map(|number| format!("{number:#x}")).collect::<Vec<_>>().join(", ")
            }
            Self::Pairs(pairs) => pairs.iter().map(|[a, b]| format!("{a:#x}: {b:#x}")).collect::<Vec<_>>().join(", "),
            Self::Words(_) | Self::Flag(_) => self.to_string(),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(out),
            Self::Numbers(numbers) => {
                let numbers: Vec<_> = numbers.iter().map(u64::to_string).collect();
                out.write_str(&numbers.join(", "))
            }
            Self::Pairs(pairs) => {
                let pairs: Vec<_> = pairs.iter().map(|[a, b]| format!("{a}: {b}")).collect();
                out.write_str(&pairs.join(", "))
            }
            Self::Words(words) if words.is_empty() => out.write_str("none"),
            Self::Words(words) => out.write_str(&words.join(", ")),
            Self::Flag(flag) => flag.fmt(out),
        }
    }
}

/// A parameter of a machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// Its name, and what it can be.
    pub key: &'static Key,
    /// What the file says it is.
    pub value: Value,
    /// Where it comes from.
    pub source: Source,
    /// The machine whose file says so.
    pub from: String,
}

impl Parameter {
    /// The value as it is read.
    pub fn shown(&self) -> String {
        if self.key.is_hex { self.value.to_hex() } else { self.value.to_string() }
    }
}

/// A machine, as its file and those that it is based on describe it. Nothing that it needs is missing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MachineFile {
    /// The machine's name, or the file's.
    pub name: String,
    /// What it is, in a line.
    pub about: String,
    /// By the place in [`KEYS`].
    parameters: BTreeMap<usize, Parameter>,
}

impl MachineFile {
    /// The machine with this name, if there is one. Tests see to it that its file is right.
    pub fn built_in(name: &str) -> Option<Self> {
        let (name, text) = BUILT_IN.iter().find(|(built_in, _)| *built_in == name)?;
        Self::parse(name, text).ok()
    }

    /// The machine that a file describes.
    ///
    /// # Errors
    /// If it cannot be read, or does not describe one; the error is one line that names the file and the key.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        let text = fs::read_to_string(path).map_err(|error| Error(format!("cannot read {name}: {error}")))?;
        Self::parse(&name, &text)
    }

    /// The machine that the text of a file with this name describes.
    ///
    /// # Errors
    /// If it does not; the error is one line that names the file and the key.
    pub fn parse(name: &str, text: &str) -> Result<Self, Error> {
        read::parse(name, text).map_err(|message| Error(format!("{name}: {message}")))
    }

    /// What is known of the machine, in the order of [`KEYS`].
    pub fn parameters(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters.values()
    }

    /// The parameter `section.key`, if the machine has it.
    ///
    /// # Panics
    /// If no machine can have it: who asks for it has made a mistake, which must not be taken for a 0.
    pub fn get(&self, name: &str) -> Option<&Value> {
        let place = KEYS.iter().position(|key| key.name == name);
        let place = place.unwrap_or_else(|| panic!("{name} is no parameter of a machine"));
        self.parameters.get(&place).map(|parameter| &parameter.value)
    }

    /// The number `section.key`; 0 where machines of this shape have none.
    pub fn number(&self, name: &str) -> u64 {
        match self.get(name) {
            Some(Value::Number(number)) => *number,
            _ => 0,
        }
    }

    /// The pairs `section.key`, if the machine has them.
    pub fn pairs(&self, name: &str) -> Option<&[[u64; 2]]> {
        match self.get(name) {
            Some(Value::Pairs(pairs)) => Some(pairs),
            _ => None,
        }
    }

    /// Whether `section.key` has this word, or is true where there is none to name.
    pub fn has(&self, name: &str, word: &str) -> bool {
        match self.get(name) {
            Some(Value::Words(words)) => words.iter().any(|other| other == word),
            Some(Value::Flag(flag)) => *flag,
            _ => false,
        }
    }

    /// Whether it is a cluster of nodes, and not a mesh.
    pub fn is_cluster(&self) -> bool {
        self.get("layout.nodes").is_some()
    }

    /// Cores of the machine.
    pub fn cores(&self) -> u64 {
        if self.is_cluster() {
            return self.number("layout.nodes") * self.number("layout.cores_per_node");
        }
        self.number("layout.columns") * self.number("layout.rows") * self.number("layout.cores_per_tile")
    }
}

/// Why a file or a name describes no machine, in one line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error(String);

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl error::Error for Error {}
