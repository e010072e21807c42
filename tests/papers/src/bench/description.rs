//! What a bench is: what it runs, what of that is shown, and what it claims.

use super::{
    Machine as Place,
    claims::Claim,
    series::{Rows, Samples},
    setting::Setting,
};
use anyhow::Result;
use host::machine::Variant;
use std::str::FromStr;

/// The word of a run in which everything has its price.
const PRICED: &str = "priced";

/// A bench.
pub(crate) struct Bench {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// Independent of each other.
    pub(crate) runs: &'static [Sweep],
    /// How it measures, where that is more than all runs, which are built beforehand.
    pub(crate) measure: Option<Measure>,
    /// The machine that it is about, where it means nothing on others.
    pub(crate) only_on: Option<Place>,
    /// The values of what is varied that the table on the screen shows besides the largest, or all if it is empty; the
    /// file has all.
    pub(crate) shown: &'static [u64],
    /// The bytes of the rows that it shows, besides the largest, or all if it is empty.
    pub(crate) sizes: &'static [u64],
    /// Where there are any, the table on the screen has a line for each algorithm and these columns instead.
    pub(crate) columns: &'static [Column],
    /// What is on the screen instead, if there is anything.
    pub(crate) report: Option<fn(&Rows) -> String>,
    /// Another file that its rows make.
    pub(crate) file: Option<WriteFile>,
    /// Adds rows that are computed from others.
    pub(crate) derive: fn(&mut Rows),
    pub(crate) claims: &'static [Claim],
}

/// What a file is called, and its text; nothing where rows are missing.
pub(crate) type WriteFile = fn(&Rows) -> Option<(&'static str, String)>;

/// Measures in a way of its own.
pub(crate) type Measure = fn(&Setting<'_>) -> Result<Vec<Samples>>;

impl Bench {
    /// What a bench is whose author says no more: all rows are shown as they were measured, and nothing is claimed.
    pub(crate) const PLAIN: Self = Self {
        name: "",
        about: "",
        runs: &[],
        measure: None,
        only_on: None,
        shown: &[],
        sizes: &[],
        columns: &[],
        report: None,
        file: None,
        derive: |_| {},
        claims: &[],
    };

    /// All runs, one by one.
    pub(crate) fn runs(&self) -> Vec<Run> {
        self.runs.iter().flat_map(Sweep::runs).collect()
    }
}

/// A column of medians, with its title: those of a metric at this number of bytes where the parameter is 0.
pub(crate) struct Column(pub(crate) &'static str, pub(crate) &'static str, pub(crate) u64);

/// Runs of a program of the image with words that differ: `class={default|scosco}` is a run with each of the
/// alternatives, and what alternatives have between them may be several words. Where more than one word has
/// alternatives, each goes with each; those of the last word change first.
pub(crate) struct Sweep(pub(crate) &'static str, pub(crate) &'static [&'static str]);

impl Sweep {
    /// One run for each combination.
    pub(crate) fn runs(&self) -> Vec<Run> {
        let mut lines = vec![String::new()];
        for word in self.1 {
            let longer = |line: &String| alternatives(&format!("{line} {word}"));
            lines = lines.iter().flat_map(longer).collect();
        }
        let words = |line: &String| line.split_whitespace().map(str::to_owned).collect();
        lines.iter().map(|line| Run { program: self.0, words: words(line) }).collect()
    }
}

/// The texts that one with alternatives in braces stands for.
fn alternatives(text: &str) -> Vec<String> {
    let parts = text.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)));
    let Some((before, (inside, after))) = parts else { return vec![text.to_owned()] };
    inside.split('|').flat_map(|one| alternatives(&format!("{before}{one}{after}"))).collect()
}

/// A program of the image, and the words that it is started with besides the user's.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) program: &'static str,
    /// May contain `cores=N`, where a bench compares numbers of ranks; what is more than the user wants does not run.
    /// And `machine=+contention` or another suffix: it runs on that variant of the user's machine, unless he has chosen a
    /// variant himself, and its rows are found by names that end with the suffix. QEMU has no variants: there such a run
    /// is left out. And `machine=NAME`: it runs on this machine, whole, in a bench on all cores of the default machine;
    /// its rows are found by names that end with `@` and what the machine's name begins with, `@cluster-fpga`. So are
    /// those of the emulated board, which keeps time: `@scc-board`. And `priced`: everything has its price in the simulator, and
    /// not only what papers price; names of its rows have `-priced` behind that.
    pub(crate) words: Vec<String>,
}

impl Run {
    /// The value of a word, if there is one of this kind.
    pub(crate) fn value<T: FromStr>(&self, key: &str) -> Option<T> {
        self.words.iter().find_map(|word| word.strip_prefix(key)?.strip_prefix('=')?.parse().ok())
    }

    /// The number of cores that it has to run on.
    pub(crate) fn cores(&self) -> Option<u32> {
        self.value("cores")
    }

    /// The variant of the machine that it has to run on.
    pub(crate) fn variant(&self) -> Variant {
        self.value("machine").unwrap_or_default()
    }

    /// The machine of its own that it has to run on.
    pub(crate) fn machine(&self) -> Option<Place> {
        self.value("machine")
    }

    /// Whether everything has its price where it runs, in the simulator.
    pub(crate) fn is_priced(&self) -> bool {
        self.words.iter().any(|word| word == PRICED)
    }

    /// What names of its rows end with.
    pub(crate) fn suffix(&self) -> String {
        match self.machine() {
            Some(Place::Simulated(_)) if self.is_priced() => format!("@scc-{PRICED}"),
            Some(Place::Simulated(machine)) => format!("@{}", machine.family()),
            Some(other) => format!("@{other}"),
            None => self.variant().to_string(),
        }
    }

    /// The words that the program gets.
    pub(crate) fn program_words(&self) -> impl Iterator<Item = &str> {
        let is_own = |word: &&str| *word == PRICED || ["cores=", "machine="].iter().any(|key| word.starts_with(key));
        self.words.iter().map(String::as_str).filter(move |word| !is_own(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternatives_go_with_each_other() {
        let runs = Sweep("x", &["cores={2|4}", "all", "{class=a|halo=b weak}", "size={1|2}x{3|4}"]).runs();
        let lines: Vec<_> = runs.iter().map(|run| run.words.join(" ")).collect();
        assert_eq!(lines.len(), 2 * 2 * 4);
        assert_eq!(lines[0], "cores=2 all class=a size=1x3");
        assert_eq!(lines[5], "cores=2 all halo=b weak size=1x4");
        assert_eq!(lines[14], "cores=4 all halo=b weak size=2x3");
        assert_eq!(Sweep("x", &[]).runs()[0].words, [""; 0]);
    }
}
