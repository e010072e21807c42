//! What parameters are.

/// What machines and boards are made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// Tiles in a mesh.
    Mesh,
    /// Coherent nodes.
    Cluster,
    /// Cores with one memory that they find themselves.
    Pc,
}

impl Shape {
    pub(super) fn singular(self) -> &'static str {
        match self {
            Self::Mesh => "a mesh",
            Self::Cluster => "a cluster",
            Self::Pc => "a PC",
        }
    }

    pub(super) fn plural(self) -> &'static str {
        match self {
            Self::Mesh => "meshes",
            Self::Cluster => "clusters",
            Self::Pc => "PCs",
        }
    }
}

/// What a parameter can be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Type {
    /// A whole number in this range.
    Number(u64, u64),
    /// A list of whole numbers: the least and the greatest length that it can have.
    Numbers(usize, usize),
    /// A list of pairs of whole numbers: the least and the greatest number of pairs.
    Pairs(usize, usize),
    /// Any of these words.
    Words(&'static [&'static str]),
    /// `true` or `false`.
    Flag,
}

/// A parameter of machines or of boards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Key {
    /// `section.key`, as in the file.
    pub name: &'static str,
    /// The shape of things that have the parameter; `None` if all have it.
    pub shape: Option<Shape>,
    /// The type of its value.
    pub type_: Type,
    /// Whether a file, or what it is based on, has to say it.
    pub required: bool,
    /// What the parameter is, in words, with its unit.
    pub about: &'static str,
    /// Whether its numbers are read in base 16, as those of slots and registers are.
    pub is_hex: bool,
}

impl Key {
    /// The section of the file that it is in.
    pub fn section(&self) -> &'static str {
        self.name.split_once('.').map_or("", |(section, _)| section)
    }

    /// The unit of its numbers, taken from the end of the name; empty for plain numbers.
    pub fn unit(&self) -> &'static str {
        match self.name.rsplit_once('_') {
            Some((_, "ps")) => "ps",
            Some((_, "mhz")) => "MHz",
            Some((_, "cycles")) => "cycles",
            Some((_, "bytes")) => "bytes",
            Some((_, "gib")) => "GiB",
            _ => "",
        }
    }

    /// Whether what has this shape has the parameter.
    pub fn fits(&self, shape: Shape) -> bool {
        self.shape.is_none_or(|only| only == shape)
    }

    /// A parameter that has to be said.
    pub(crate) const fn new(name: &'static str, shape: Option<Shape>, type_: Type, about: &'static str) -> Self {
        Self { name, shape, type_, required: true, about, is_hex: false }
    }

    /// The same parameter as one that a file may leave out.
    pub(crate) const fn optional(self) -> Self {
        Self { required: false, ..self }
    }

    /// The same parameter, whose numbers are read in base 16.
    pub(crate) const fn hex(self) -> Self {
        Self { is_hex: true, ..self }
    }
}
