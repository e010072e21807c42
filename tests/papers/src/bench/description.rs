//! What a bench is: what it runs, what of that is shown, and what it claims.

use super::{claims::Claim, series::Rows};
use host::machine::{Machine, Variant};

/// A bench.
pub(crate) struct Bench {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// Independent of each other.
    pub(crate) runs: &'static [Run],
    /// The values of what is varied that the table on the screen shows besides the largest, or all if it is empty; the
    /// file has all.
    pub(crate) shown: &'static [u64],
    /// The bytes of the rows that it shows, besides the largest, or all if it is empty.
    pub(crate) sizes: &'static [u64],
    /// Where there are any, the table on the screen has a line for each algorithm and these columns instead.
    pub(crate) columns: &'static [Column],
    /// What is on the screen instead, if there is anything.
    pub(crate) report: Option<fn(&Rows) -> String>,
    /// Adds rows that are computed from others.
    pub(crate) derive: fn(&mut Rows),
    pub(crate) claims: &'static [Claim],
}

impl Bench {
    /// What a bench is whose author says no more: all rows are shown as they were measured, and nothing is claimed.
    pub(crate) const PLAIN: Self = Self {
        name: "",
        about: "",
        runs: &[],
        shown: &[],
        sizes: &[],
        columns: &[],
        report: None,
        derive: |_| {},
        claims: &[],
    };
}

/// A column of medians: those of `metric` at `bytes` bytes where the parameter is 0.
pub(crate) struct Column {
    pub(crate) title: &'static str,
    pub(crate) metric: &'static str,
    pub(crate) bytes: u64,
}

/// A program of the image, and the words that it is started with besides the user's.
pub(crate) struct Run {
    pub(crate) program: &'static str,
    /// May contain `cores=N`, where a bench compares numbers of ranks; what is more than the user wants does not run.
    /// And
    /// `machine=+contention` or another suffix: it runs on that variant of the user's machine, unless he has chosen a variant
    /// himself, and its rows are found by names that end with the suffix. QEMU has no variants: there such a run is
    /// left out. And `machine=NAME`: it runs on this machine, whole, in a bench on all cores of the default machine; its
    /// rows are found by names that end with `@` and what the machine's name begins with, `@cluster-fpga`.
    pub(crate) words: &'static [&'static str],
}

impl Run {
    /// The number of cores in a word.
    pub(crate) fn cores_in(word: &str) -> Option<u32> {
        word.strip_prefix("cores=")?.parse().ok()
    }

    /// The number of cores that it has to run on.
    pub(crate) fn cores(&self) -> Option<u32> {
        self.words.iter().find_map(|word| Self::cores_in(word))
    }

    /// The suffix of a machine in a word.
    pub(crate) fn variant_in(word: &str) -> Option<Variant> {
        word.strip_prefix("machine=")?.parse().ok()
    }

    /// The variant of the machine that it has to run on.
    pub(crate) fn variant(&self) -> Variant {
        self.words.iter().find_map(|word| Self::variant_in(word)).unwrap_or_default()
    }

    /// The machine in a word.
    pub(crate) fn machine_in(word: &str) -> Option<Machine> {
        word.strip_prefix("machine=")?.parse().ok()
    }

    /// The machine of its own that it has to run on.
    pub(crate) fn machine(&self) -> Option<Machine> {
        self.words.iter().find_map(|word| Self::machine_in(word))
    }

    /// What names of its rows end with.
    pub(crate) fn suffix(&self) -> String {
        match self.machine() {
            Some(machine) => format!("@{}", machine.family()),
            None => self.variant().to_string(),
        }
    }

    /// The words that the program gets.
    pub(crate) fn program_words(&self) -> impl Iterator<Item = &'static str> {
        let is_own = |word: &&str| {
            Self::cores_in(word).is_some() || Self::variant_in(word).is_some() || Self::machine_in(word).is_some()
        };
        self.words.iter().copied().filter(move |word| !is_own(word))
    }
}
