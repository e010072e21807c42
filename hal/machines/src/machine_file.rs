//! What a machine file says, asked for by the names of its keys.

use std::{collections::BTreeMap, error, fmt};

use crate::{KEYS, Parameter, Value};

/// A machine, as its file and those that it is based on describe it. Nothing that it needs is missing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MachineFile {
    /// The machine's name, or the file's.
    pub name: String,
    /// What it is, in a line.
    pub about: String,
    /// By the place in [`KEYS`].
    pub(crate) parameters: BTreeMap<usize, Parameter>,
}

impl MachineFile {
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
pub struct Error(pub(crate) String);

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl error::Error for Error {}
