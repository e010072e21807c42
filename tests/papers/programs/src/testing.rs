//! Runs of programs in the simulator, and what they send.

use std::{collections::BTreeMap, format, string::String, vec::Vec};

use kernel::{
    Program,
    launch::{Only, simulate},
};

/// What a program has printed.
pub(super) struct Printed(pub(super) String);

/// Runs a program, which has to succeed, by papers' prices, and on the machine that papers are compared with, unless the words
/// name another one.
pub(super) fn run<P: Program>(words: &str) -> Printed {
    let named = words.split(' ').any(|word| word.starts_with("machine="));
    let machine = if named { "" } else { "machine=scc+ideal " };
    run_priced::<P>(&format!("{words} {machine}accesses_only"))
}

/// Runs a program, which has to succeed, with everything priced.
pub(super) fn run_priced<P: Program>(words: &str) -> Printed {
    let simulation = simulate::<Only<P>>(words, &[]);
    assert!(simulation.success, "{words}: {}", simulation.console);
    Printed(simulation.console)
}

/// Demands that a program refuses these words, and that one rank says why.
pub(super) fn refused<P: Program>(cases: &[(&str, &str)]) {
    for (words, why) in cases {
        let simulation = simulate::<Only<P>>(words, &[]);
        assert!(!simulation.success && simulation.console.contains(why), "{words}: {}", simulation.console);
        assert_eq!(simulation.console.matches(" failed: ").count(), 1, "{words}: {}", simulation.console);
    }
}

impl Printed {
    /// The numbers of a metric of an algorithm by what was varied and bytes; each rank's are a list.
    pub(super) fn lists(&self, algorithm: &str, metric: &str) -> BTreeMap<(u64, u64), Vec<Vec<u64>>> {
        let mut found: BTreeMap<_, Vec<Vec<u64>>> = BTreeMap::new();
        for line in self.0.lines().filter_map(|line| line.strip_prefix("@samples ")) {
            let words: Vec<_> = line.split(' ').collect();
            let field = |place: usize| words[place].split_once('=').unwrap().1;
            if field(0) == algorithm && field(4) == metric {
                let number = |place| field(place).parse().unwrap();
                let values = words[6..].iter().map(|value| value.parse().unwrap());
                found.entry((number(2), number(3))).or_default().push(values.collect());
            }
        }
        found
    }

    /// The same of all ranks together.
    pub(super) fn samples(&self, algorithm: &str, metric: &str) -> BTreeMap<(u64, u64), Vec<u64>> {
        self.lists(algorithm, metric).into_iter().map(|(key, lists)| (key, lists.concat())).collect()
    }

    /// Those with this parameter and these bytes; nothing if there are none.
    pub(super) fn at(&self, algorithm: &str, metric: &str, key: (u64, u64)) -> Vec<u64> {
        self.samples(algorithm, metric).remove(&key).unwrap_or_default()
    }

    /// The one number that all of these are near.
    pub(super) fn value(&self, algorithm: &str, metric: &str, key: (u64, u64)) -> u64 {
        let values = self.at(algorithm, metric, key);
        let (least, most) = (*values.iter().min().unwrap(), *values.iter().max().unwrap());
        assert!(most - least <= least / 5, "{algorithm} {metric} {key:?}: {values:?}");
        most
    }
}

/// A median of some numbers.
pub(super) fn median(mut numbers: Vec<u64>) -> u64 {
    numbers.sort_unstable();
    numbers[numbers.len() / 2]
}
