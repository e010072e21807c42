//! The words of a kernel's command line: `key=value` or `key`, separated by spaces.

use anyhow::{Result, bail, ensure};

/// Keys that have an option of their own, and which.
const OWN_OPTION: [(&str, &str); 18] = [
    ("filter", "--filter"),
    ("cores", "--cores"),
    ("domains", "--domains"),
    ("machine", "--machine"),
    ("seed", "--seed"),
    // The simulator has no such option.
    ("preempt", "--preempt of `run`"),
    ("coherent", "--coherent"),
    ("write_back", "--write-back of `run`"),
    ("explore", "--explore of `check`"),
    ("deviations", "--replay of `sim`"),
    ("heatmap", "--heatmap of `sim`"),
    ("hold", "--gdb-on-failure of `run`"),
    ("accesses_only", "--accesses-only of `sim`"),
    ("trace_kib", "--trace-kib"),
    ("node", "--nodes of `cluster`"),
    ("nodes", "--nodes of `cluster`"),
    ("shared_mib", "--nodes of `cluster`"),
    ("deadline", "--deadline of `cluster`"),
];

/// The key of the stack of a core, and the largest, for which there are addresses everywhere.
const STACK: &str = "stack_kib";
const MOST_STACK_KIB: u64 = 32 << 10;

/// A command line in the making.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KernelLine(Vec<String>);

impl KernelLine {
    /// Adds `key=value` when there is a value, and the user has not given one himself.
    #[must_use]
    pub(crate) fn value(mut self, key: &str, value: Option<impl ToString>) -> Self {
        if let (Some(value), false) = (value, self.has(key)) {
            self.0.push(format!("{key}={}", value.to_string()));
        }
        self
    }

    fn has(&self, key: &str) -> bool {
        self.0.iter().any(|word| word.split('=').next() == Some(key))
    }

    /// Adds `key` when it is switched on.
    #[must_use]
    pub(crate) fn switch(mut self, key: &str, on: bool) -> Self {
        if on {
            self.0.push(key.into());
        }
        self
    }

    /// Adds the user's own words.
    ///
    /// # Errors
    /// When one could not reach the kernel as it is, or has an option of its own.
    pub(crate) fn free(mut self, words: &[String]) -> Result<Self> {
        for word in words {
            ensure!(
                !word.is_empty() && word.chars().all(|letter| letter.is_ascii_graphic() && letter != '"'),
                "`{word}` cannot be a word of the kernel's command line: no spaces, quotes or special letters"
            );
            let key = word.split('=').next().unwrap_or_default();
            ensure!(!key.is_empty(), "`{word}` has no key; program options are key=value or key");
            if let Some((_, option)) = OWN_OPTION.iter().find(|(own, _)| *own == key) {
                bail!("`{word}`: use {option} instead");
            }
            stack_kib(std::slice::from_ref(word))?;
            // The image of a user's own crate may hold several programs, and only then nothing has been chosen yet.
            ensure!(key != "program" || !self.has(key), "`{word}`: use the PROGRAM argument instead");
            self.0.push(word.clone());
        }
        Ok(self)
    }
}

impl std::fmt::Display for KernelLine {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.0.join(" "))
    }
}

/// The value of `key=` among the user's words, as a number.
pub(crate) fn number(words: &[String], key: &str) -> Result<Option<u64>> {
    let value = words.iter().rev().find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
    value.map(|value| value.parse().map_err(|_| anyhow::anyhow!("`{key}={value}` is not a number"))).transpose()
}

/// The stack of a core, as the user's words have it, in KiB.
pub(crate) fn stack_kib(words: &[String]) -> Result<Option<u64>> {
    let kib = number(words, STACK)?;
    ensure!(
        kib.is_none_or(|kib| (1..=MOST_STACK_KIB).contains(&kib)),
        "option `{STACK}` is a number of KiB from 1 to {MOST_STACK_KIB}"
    );
    Ok(kib)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(words: &[&str]) -> Vec<String> {
        words.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn composed_in_order() {
        let words = KernelLine::default()
            .value("program", Some("terrain"))
            .value("seed", Some(7))
            .value("preempt", None::<u64>)
            .switch("coherent", true)
            .free(&strings(&["steps=100", "verbose"]))
            .unwrap();
        assert_eq!(words.to_string(), "program=terrain seed=7 coherent steps=100 verbose");
    }

    #[test]
    fn the_users_own_value_stays() {
        let words = KernelLine::default().free(&strings(&["heap_kib=9"])).unwrap();
        assert_eq!(words.value("heap_kib", Some(4)).value("heap0_kib", Some(5)).to_string(), "heap_kib=9 heap0_kib=5");
    }

    #[test]
    fn a_program_is_chosen_once() {
        let chosen = strings(&["program=other"]);
        assert_eq!(KernelLine::default().free(&chosen).unwrap().to_string(), "program=other");
        assert!(KernelLine::default().value("program", Some("terrain")).free(&chosen).is_err());
    }

    #[test]
    fn words_that_cannot_pass() {
        for word in ["", "a b", "=3", "a\nb", "cores=3", "coherent", "seed=1", "k=\"x\"", "k=ä"] {
            assert!(KernelLine::default().free(&strings(&[word])).is_err(), "{word}");
        }
    }

    #[test]
    fn stacks_that_no_machine_has_are_refused() {
        for word in ["stack_kib=0", "stack_kib=32769", "stack_kib=18446744073709551615", "stack_kib=x", "stack_kib=-1"]
        {
            let message = KernelLine::default().free(&strings(&[word])).unwrap_err().to_string();
            assert!(message.contains("stack_kib"), "{message}");
            assert_eq!(stack_kib(&strings(&[word])).unwrap_err().to_string(), message);
        }
        assert_eq!(stack_kib(&strings(&["x", "stack_kib=32768"])).unwrap(), Some(32768));
        assert_eq!(stack_kib(&strings(&["x"])).unwrap(), None);
    }

    #[test]
    fn numbers() {
        let words = strings(&["heap_kib=1", "heap_kib=2", "heap0_kib=x"]);
        assert_eq!(number(&words, "heap_kib").unwrap(), Some(2));
        assert_eq!(number(&words, "heap").unwrap(), None);
        assert!(number(&words, "heap0_kib").is_err());
    }
}
