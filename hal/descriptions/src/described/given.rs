//! Reads a file of parameters: sections of keys, each with its source as its comment.

use std::collections::BTreeMap;

use toml::{Table, Value as Toml};

use super::{Key, Parameter, Subject, Type, Value, sources::sources};

/// What a file says itself, without what it is based on.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Given {
    /// Texts outside of sections, by their key; each is one line.
    pub texts: BTreeMap<&'static str, String>,
    /// Parameters, by the place of their key.
    pub parameters: BTreeMap<usize, Parameter>,
}

impl Given {
    /// Reads the text of the file `name`.
    ///
    /// # Errors
    /// A line that names the key, if it says something else.
    pub(super) fn parse<Of: Subject>(name: &str, text: &str) -> Result<Self, String> {
        let table: Table = text.parse().map_err(|error: toml::de::Error| {
            let line = error.span().map_or(1, |span| 1 + text[..span.start.min(text.len())].matches('\n').count());
            format!("line {line}: {}", one_line(error.message()))
        })?;
        let unknown = unknown::<Of>;
        let mut sources = sources(text);
        let mut given = Self::default();
        for (section, value) in &table {
            match (Of::TEXTS.iter().find(|text| *text == section), value) {
                (Some(key), Toml::String(text)) => drop(given.texts.insert(*key, one_line(text))),
                (Some(key), _) => return Err(format!("{key} has to be a text in quotes")),
                (None, Toml::Table(section_keys)) => {
                    for (key, value) in section_keys {
                        let full = format!("{section}.{key}");
                        let place = Of::KEYS.iter().position(|key| key.name == full).ok_or_else(|| unknown(&full))?;
                        let key = &Of::KEYS[place];
                        let value = typed(key, value)?;
                        let source = sources.remove(&full).unwrap_or_default();
                        let parameter = Parameter { key, value, source, from: name.into() };
                        given.parameters.insert(place, parameter);
                    }
                }
                _ => return Err(unknown(section)),
            }
        }
        Ok(given)
    }

    /// The keys of the parameters.
    pub fn keys(&self) -> impl Iterator<Item = &'static Key> {
        self.parameters.values().map(|parameter| parameter.key)
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn unknown<Of: Subject>(name: &str) -> String {
    let section = name.split_once('.').map_or("", |(section, _)| section);
    let siblings: Vec<_> = Of::KEYS.iter().filter(|key| key.section() == section).map(|key| key.name).collect();
    if siblings.is_empty() {
        let mut sections: Vec<_> = Of::KEYS.iter().map(Key::section).collect();
        sections.dedup();
        let (texts, sections) = (Of::TEXTS.join(", "), sections.join(", "));
        return format!("{name} is no part of a {}; there are {texts} and the sections {sections}", Of::NAME);
    }
    format!("{name} is no parameter of a {}; there are {}", Of::NAME, siblings.join(", "))
}

/// The value of a key, if it can have it.
fn typed(key: &Key, value: &Toml) -> Result<Value, String> {
    let wrong = |what: String| format!("{} has to be {what}, and is {}", key.name, one_line(&value.to_string()));
    let number = |value: &Toml| value.as_integer().and_then(|number| u64::try_from(number).ok());
    let many = |least: usize, most: usize| if least == most { format!("{most}") } else { format!("{least} to {most}") };
    match key.type_ {
        Type::Number(least, most) => number(value)
            .filter(|number| (least..=most).contains(number))
            .map(Value::Number)
            .ok_or_else(|| wrong(format!("a whole number from {least} to {most}"))),
        Type::Flag => value.as_bool().map(Value::Flag).ok_or_else(|| wrong("true or false".into())),
        Type::Numbers(least, most) => {
            let numbers = value.as_array().and_then(|numbers| numbers.iter().map(number).collect::<Option<Vec<_>>>());
            numbers
                .filter(|numbers| (least..=most).contains(&numbers.len()))
                .map(Value::Numbers)
                .ok_or_else(|| wrong(format!("a list of {} whole numbers", many(least, most))))
        }
        Type::Pairs(least, most) => {
            let pair = |pair: &Toml| match pair.as_array()?.as_slice() {
                [a, b] => Some([number(a)?, number(b)?]),
                _ => None,
            };
            let pairs = value.as_array().and_then(|pairs| pairs.iter().map(pair).collect::<Option<Vec<_>>>());
            pairs
                .filter(|pairs| (least..=most).contains(&pairs.len()))
                .map(Value::Pairs)
                .ok_or_else(|| wrong(format!("a list of {} pairs of whole numbers", many(least, most))))
        }
        Type::Words(known) => {
            let word = |word: &Toml| word.as_str().filter(|word| known.contains(word)).map(str::to_owned);
            let words = value.as_array().and_then(|words| words.iter().map(word).collect::<Option<Vec<_>>>());
            words.map(Value::Words).ok_or_else(|| wrong(format!("a list of some of \"{}\"", known.join("\", \""))))
        }
    }
}
