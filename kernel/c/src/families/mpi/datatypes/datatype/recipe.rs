//! How a type was made: what `MPI_Type_get_envelope` and `MPI_Type_get_contents` tell.

use alloc::{rc::Rc, vec::Vec};

use super::Datatype;

/// The functions that make types, with the ABI's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Combiner {
    Named = 101,
    Dup = 102,
    Contiguous = 103,
    Vector = 104,
    Hvector = 105,
    Indexed = 106,
    Hindexed = 107,
    IndexedBlock = 108,
    HindexedBlock = 109,
    Struct = 110,
    Subarray = 111,
    Darray = 112,
    Resized = 116,
}

impl Combiner {
    /// What the arguments are, each by its place among all.
    fn categories(self, arguments: &[i64]) -> Vec<Category> {
        use Category::{Address, Count, Integer};
        let all = |category| alloc::vec![category; arguments.len()];
        let last = |number: usize| {
            let mut categories = all(Count);
            categories.iter_mut().rev().take(number).for_each(|category| *category = Address);
            categories
        };
        match self {
            Self::Named | Self::Dup => Vec::new(),
            Self::Contiguous | Self::Vector | Self::Indexed | Self::IndexedBlock => all(Count),
            Self::Hvector => last(1),
            Self::Hindexed | Self::Struct => last(arguments.len() / 2),
            Self::HindexedBlock => last(arguments.len() - 2),
            Self::Resized => all(Address),
            Self::Subarray => {
                let mut categories = all(Count);
                categories[0] = Integer;
                *categories.last_mut().expect("the order") = Integer;
                categories
            }
            Self::Darray => {
                let mut categories = all(Integer);
                categories[3..][..arguments[2] as usize].fill(Count);
                categories
            }
        }
    }
}

/// What an argument is to those who ask for it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Category {
    /// An `int` in both forms.
    Integer,
    /// An `int`, or an `MPI_Count` in the form with large counts.
    Count,
    /// An `MPI_Aint`, or an `MPI_Count` in the form with large counts.
    Address,
}

/// How a type was made.
#[derive(Clone, Debug)]
pub(crate) struct Recipe {
    combiner: Combiner,
    /// Made by the form of the function with large counts.
    is_large: bool,
    /// All numbers, in the order of the standard's tables of contents.
    arguments: Vec<i64>,
    types: Vec<Rc<Datatype>>,
}

/// Numbers as a caller gets them.
#[derive(Debug, PartialEq, Eq, Default)]
pub(crate) struct Contents {
    /// Those that are an `int`.
    pub(crate) integers: Vec<i32>,
    /// Those that are an `MPI_Aint`.
    pub(crate) addresses: Vec<isize>,
    /// Those that are an `MPI_Count`.
    pub(crate) large_counts: Vec<i64>,
}

impl Recipe {
    /// What a function was called with.
    pub(crate) fn new(combiner: Combiner, is_large: bool, arguments: &[i64], types: &[Rc<Datatype>]) -> Self {
        Self { combiner, is_large, arguments: arguments.to_vec(), types: types.to_vec() }
    }

    /// Which function.
    pub(crate) fn combiner(&self) -> Combiner {
        self.combiner
    }

    /// Whether it was the form with large counts, which the small form of the queries does not know.
    pub(crate) fn is_large(&self) -> bool {
        self.is_large
    }

    /// The types that it was called with.
    pub(crate) fn types(&self) -> &[Rc<Datatype>] {
        &self.types
    }

    /// The numbers that it was called with.
    pub(crate) fn contents(&self) -> Contents {
        let mut contents = Contents::default();
        for (category, argument) in self.combiner.categories(&self.arguments).into_iter().zip(&self.arguments) {
            match category {
                Category::Count | Category::Address if self.is_large => contents.large_counts.push(*argument),
                Category::Address => contents.addresses.push(*argument as isize),
                Category::Count | Category::Integer => contents.integers.push(*argument as i32),
            }
        }
        contents
    }
}
