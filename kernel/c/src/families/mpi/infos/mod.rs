//! Infos: keys with values, in the order in which they came.

pub(crate) mod calls;

use alloc::{string::String, vec::Vec};

/// An info.
#[derive(Clone, Default)]
pub(crate) struct Info(Vec<(String, String)>);

impl Info {
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    pub(crate) fn set(&mut self, key: String, value: String) {
        match self.0.iter_mut().find(|(known, _)| *known == key) {
            Some((_, old)) => *old = value,
            None => self.0.push((key, value)),
        }
    }
}
