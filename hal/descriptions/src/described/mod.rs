//! What files describe, and the one reader of them: a file says what it is based on, and what differs.

mod given;
mod key;
mod parameter;
mod sources;
mod text;
mod values;

use std::{error, fmt, fs, path::Path};

pub use self::{
    given::Given,
    key::{Key, Shape, Type},
    parameter::{Parameter, Value},
    sources::{KINDS, Source},
    values::Values,
};

/// What the name of a file ends with.
pub const EXTENSION: &str = ".toml";

/// A machine or a board, as its file and those that it is based on describe it. Nothing that it needs is missing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Described<Of> {
    /// The name of the built-in description, or of the file.
    pub name: String,
    /// What the described thing is, in one line.
    pub about: String,
    /// The values of all parameters.
    pub values: Values,
    /// What is computed from these values.
    pub kind: Of,
}

/// A kind of thing that files describe.
pub trait Subject: Sized {
    /// What messages call a thing of this kind.
    const NAME: &'static str;
    /// All parameters, in the order of tables.
    const KEYS: &'static [Key];
    /// The keys outside of sections.
    const TEXTS: &'static [&'static str];
    /// The files that have names.
    const FILES: &'static [(&'static str, &'static str)];

    /// That nothing with a file has this name.
    fn unknown(name: &str) -> String;

    /// The shape of what a file describes, which may be based on something of another.
    ///
    /// # Errors
    /// A line that names the key by which it has none.
    fn shape(given: &Given, base: Option<Shape>) -> Result<Shape, String>;

    /// What a file takes over from a description of another kind.
    ///
    /// # Errors
    /// A line that says why there is no such description.
    fn taken_over(given: &Given, shape: Shape) -> Result<Vec<(usize, Parameter)>, String>;

    /// Checks what concerns several parameters, or the parts of one, and works out what follows from them.
    ///
    /// # Errors
    /// A line that names the key that is wrong.
    fn of(values: &Values) -> Result<Self, String>;
}

impl<Of: Subject> Described<Of> {
    /// The names of all built-in descriptions.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Of::FILES.iter().map(|(name, _)| *name)
    }

    /// These names in one line, for messages.
    pub(crate) fn known() -> String {
        Self::names().collect::<Vec<_>>().join(", ")
    }

    /// All that have names.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::names().filter_map(Self::built_in)
    }

    /// The one with this name, if there is one. Tests see to it that its file is right.
    pub fn built_in(name: &str) -> Option<Self> {
        let (name, text) = Of::FILES.iter().find(|(built_in, _)| *built_in == name)?;
        Self::parse(name, text).ok()
    }

    /// The one with this name, or, if it ends with [`EXTENSION`], that of a file.
    ///
    /// # Errors
    /// If there is none; the error is one line that lists those there are, or says what is wrong with the file.
    pub fn find(name: &str) -> Result<Self, Error> {
        if name.ends_with(EXTENSION) {
            return Self::read(Path::new(name));
        }
        Self::built_in(name).ok_or_else(|| {
            Error(format!("{}; there are {}, and your own FILE{EXTENSION}", Of::unknown(name), Self::known()))
        })
    }

    /// The one that a file describes.
    ///
    /// # Errors
    /// If it cannot be read, or does not describe one; the error is one line that names the file and the key.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        let text = fs::read_to_string(path).map_err(|error| Error(format!("cannot read {name}: {error}")))?;
        Self::parse(&name, &text)
    }

    /// The one that the text of a file with this name describes.
    ///
    /// # Errors
    /// If it does not; the error is one line that names the file and the key.
    pub fn parse(name: &str, text: &str) -> Result<Self, Error> {
        parse(name, text).map_err(|message| Error(format!("{name}: {message}")))
    }
}

fn parse<Of: Subject>(name: &str, text: &str) -> Result<Described<Of>, String> {
    let given = Given::parse::<Of>(name, text)?;
    let base = match given.texts.get("base") {
        None => None,
        Some(base) => Some(
            Described::<Of>::built_in(base)
                .ok_or_else(|| format!("base names no {}: there are {}", Of::NAME, Described::<Of>::known()))?,
        ),
    };
    let like = || base.as_ref().map(|base| format!("like {}: {}", base.name, base.about));
    let about = given.texts.get("about").cloned().or_else(like).unwrap_or_default();
    let shape = Of::shape(&given, base.as_ref().map(|base| base.values.shape()))?;
    let only_for = |key: &'static Key| Some((key, key.shape.filter(|only| *only != shape)?));
    if let Some((key, other)) = given.keys().find_map(only_for) {
        return Err(format!("{} is for {}, and this is {}", key.name, other.plural(), shape.singular()));
    }
    let mut parameters = base.map(|base| base.values.into_parameters()).unwrap_or_default();
    parameters.extend(Of::taken_over(&given, shape)?);
    parameters.extend(given.parameters);
    let values = Values::new(Of::NAME, Of::KEYS, shape, parameters)?;
    Ok(Described { name: name.into(), about, kind: Of::of(&values)?, values })
}

/// Why a file or a name describes nothing, in one line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error(pub(crate) String);

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl error::Error for Error {}
