//! What is known of a machine or a board: a value, and where it comes from.

use std::fmt;

use super::{Key, Source};

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

/// A parameter of a machine or a board.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// The name and the type of the parameter.
    pub key: &'static Key,
    /// What the file says it is.
    pub value: Value,
    /// Where it comes from.
    pub source: Source,
    /// Whose file says so.
    pub from: String,
}

impl Parameter {
    /// The value as it is read.
    pub fn shown(&self) -> String {
        if self.key.is_hex { self.value.to_hex() } else { self.value.to_string() }
    }
}
