//! What a description says, asked for by the names of its keys.

use std::collections::BTreeMap;

use super::{Key, Parameter, Shape, Source, Value};

/// Parameters, of which none that is required is missing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Values {
    /// What the values describe.
    subject: &'static str,
    keys: &'static [Key],
    shape: Shape,
    /// By the place of their key.
    parameters: BTreeMap<usize, Parameter>,
}

impl Values {
    /// The parameters that things of this shape have, without values.
    pub(super) fn new(
        subject: &'static str,
        keys: &'static [Key],
        shape: Shape,
        mut parameters: BTreeMap<usize, Parameter>,
    ) -> Result<Self, String> {
        parameters.retain(|_, parameter| parameter.key.fits(shape));
        let is_missing =
            |(place, key): &(usize, &Key)| key.required && key.fits(shape) && !parameters.contains_key(place);
        match keys.iter().enumerate().find(is_missing) {
            None => Ok(Self { subject, keys, shape, parameters }),
            Some((_, key)) => {
                Err(format!("{} is missing ({}), and there is no base that says it", key.name, key.about))
            }
        }
    }

    pub(super) fn into_parameters(self) -> BTreeMap<usize, Parameter> {
        self.parameters
    }

    /// The shape of what they describe.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// All parameters that have a value, in the order of the keys.
    pub fn parameters(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters.values()
    }

    /// The value of the parameter `section.key`, if there is one.
    ///
    /// # Panics
    /// If there cannot be one: who asks for it has made a mistake, which must not be taken for a 0.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.parameters.get(&self.place(name)).map(|parameter| &parameter.value)
    }

    fn place(&self, name: &str) -> usize {
        let place = self.keys.iter().position(|key| key.name == name);
        place.unwrap_or_else(|| panic!("{name} is no parameter of a {}", self.subject))
    }

    /// Chooses another value for a parameter that there is.
    pub(crate) fn choose(&mut self, name: &str, value: Value, reason: &str) {
        let place = self.place(name);
        if let Some(parameter) = self.parameters.get_mut(&place) {
            parameter.value = value;
            parameter.source = Source { kind: "chosen".into(), text: reason.into() };
        }
    }

    /// The number `section.key`; 0 where there is none.
    pub fn number(&self, name: &str) -> u64 {
        match self.get(name) {
            Some(Value::Number(number)) => *number,
            _ => 0,
        }
    }

    /// The number of a key whose range fits 32 bits.
    pub(crate) fn word(&self, name: &str) -> u32 {
        self.number(name) as u32
    }

    /// The numbers `section.key`, none where there are none.
    pub fn numbers(&self, name: &str) -> &[u64] {
        match self.get(name) {
            Some(Value::Numbers(numbers)) => numbers,
            _ => &[],
        }
    }

    /// The pairs `section.key`, none where there are none.
    pub fn pairs(&self, name: &str) -> &[[u64; 2]] {
        match self.get(name) {
            Some(Value::Pairs(pairs)) => pairs,
            _ => &[],
        }
    }

    /// The words `section.key`, none where there are none.
    pub fn words(&self, name: &str) -> &[String] {
        match self.get(name) {
            Some(Value::Words(words)) => words,
            _ => &[],
        }
    }

    /// Whether there is `section.key`, and, if it is a flag, whether it is set.
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| *value != Value::Flag(false))
    }

    /// Whether `word` is one of the words `section.key`.
    pub fn has_word(&self, name: &str, word: &str) -> bool {
        self.words(name).iter().any(|other| other == word)
    }

    /// Checks that memory controllers are at tiles that there are.
    pub(crate) fn check_controllers(&self) -> Result<(), String> {
        let [columns, rows] = ["layout.columns", "layout.rows"].map(|key| self.number(key));
        let outside = |[x, y]: &&[u64; 2]| *x >= columns || *y >= rows;
        match self.pairs("layout.controllers").iter().find(outside) {
            None => Ok(()),
            Some([x, y]) => Err(format!("layout.controllers: there is no tile [{x}, {y}] among {columns} x {rows}")),
        }
    }
}
