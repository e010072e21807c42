//! Options from the command line: words `key=value` or `key`, separated by spaces.

use core::{fmt, str::FromStr};

use crate::Failure;

/// Options of the machine, which every program accepts and no program sees.
const OF_THE_MACHINE: &[&str] = &[
    "program",
    "cores",
    "domains",
    "machine",
    "seed",
    "preempt",
    "coherent",
    "write_back",
    "work",
    "check_coherence",
    "explore",
    "deviations",
    "heatmap",
    "hold",
    "accesses_only",
    "heap_kib",
    "heap0_kib",
    "stack_kib",
    "trace_kib",
    "failure_trace_kib",
    "stop_at_ps",
    "stop_at_access",
    "show",
    "cache_frames",
    "node",
    "nodes",
    "shared_mib",
    "deadline",
    "no_fw_cfg",
    "stuck_s",
    "check",
];

/// An option that a program understands: its name, and what it is for.
pub type KnownOption = (&'static str, &'static str);

/// The words that a program was started with.
#[derive(Clone, Copy, Debug)]
pub struct Arguments<'a> {
    line: &'a str,
    known: &'static [KnownOption],
}

/// The value of the last word `key=value`, or nothing for the word `key`.
fn look_up<'a>(line: &'a str, key: &str) -> Option<Option<&'a str>> {
    let rest_of = |word: &'a str| match word.strip_prefix(key)? {
        "" => Some(None),
        rest => rest.strip_prefix('=').map(Some),
    };
    line.split_ascii_whitespace().filter_map(rest_of).next_back()
}

/// The value of the option `key` of a command line, where it has one; the last one counts.
pub fn value<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    look_up(line, key).flatten()
}

/// Whether the word `key` is in a command line.
pub fn has(line: &str, key: &str) -> bool {
    look_up(line, key) == Some(None)
}

/// Whether the word `check=arguments` is in a command line.
///
/// # Errors
/// If something else is to be checked.
pub(crate) fn checks_arguments(line: &str) -> Result<bool, Failure> {
    match look_up(line, "check") {
        None => Ok(false),
        Some(Some("arguments")) => Ok(true),
        Some(what) => {
            let what = what.unwrap_or_default();
            let text = format_args!("option `check={what}`: what can be checked is `check=arguments`");
            Err(Failure::new(text).on_all_ranks())
        }
    }
}

impl<'a> Arguments<'a> {
    /// The words of `line` for a program that understands the options `known`.
    ///
    /// # Errors
    /// If there is a word that nobody understands; the message lists those there are. If `check=` asks for something else
    /// than arguments.
    pub fn new(line: &'a str, known: &'static [KnownOption]) -> Result<Self, Failure> {
        for word in line.split_ascii_whitespace() {
            let key = word.split('=').next().unwrap_or_default();
            if !OF_THE_MACHINE.contains(&key) && !known.iter().any(|(name, _)| *name == key) {
                let failure = Failure::new(format_args!("unknown option `{word}`; {}", List(known)));
                return Err(failure.on_all_ranks());
            }
        }
        checks_arguments(line)?;
        Ok(Self { line, known })
    }

    /// The value of the option `name`, or `default` if it was not given.
    ///
    /// # Errors
    /// If the value is none of this type, or the program does not list the option as known.
    pub fn get<T>(&self, name: &str, default: T) -> Result<T, Failure>
    where
        T: FromStr<Err: fmt::Display> + fmt::Display,
    {
        self.check(name)?;
        let wrong = |text: fmt::Arguments<'_>| Err(Failure::new(text).on_all_ranks());
        match look_up(self.line, name) {
            None => Ok(default),
            Some(None) => wrong(format_args!("option `{name}` needs a value, as in `{name}={default}`")),
            Some(Some(text)) => match text.parse() {
                Ok(value) => Ok(value),
                Err(why) => {
                    wrong(format_args!("option `{name}={text}`: {why}; expected is a value as in `{name}={default}`"))
                }
            },
        }
    }

    /// Whether the word `name` was given, without a value.
    ///
    /// # Errors
    /// If it has a value, or the program does not list the option as known.
    pub fn flag(&self, name: &str) -> Result<bool, Failure> {
        self.check(name)?;
        match look_up(self.line, name) {
            None => Ok(false),
            Some(None) => Ok(true),
            Some(Some(text)) => {
                Err(Failure::new(format_args!("option `{name}={text}`: it takes no value")).on_all_ranks())
            }
        }
    }

    /// All values of the option `name`, in their order, where the last one does not count alone.
    ///
    /// # Errors
    /// If the program does not list the option as known.
    pub fn all(&self, name: &'static str) -> Result<impl Iterator<Item = &'a str>, Failure> {
        self.check(name)?;
        Ok(self.line.split_ascii_whitespace().filter_map(move |word| word.strip_prefix(name)?.strip_prefix('=')))
    }

    fn check(&self, name: &str) -> Result<(), Failure> {
        match self.known.iter().any(|(known, _)| *known == name) {
            true => Ok(()),
            false => {
                let text = format_args!("the program asks for option `{name}`, which is not in its OPTIONS");
                Err(Failure::new(text).on_all_ranks())
            }
        }
    }
}

/// The options of a program, in words.
pub(crate) struct List(pub(crate) &'static [KnownOption]);

impl fmt::Display for List {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => out.write_str("this program has no options"),
            known => {
                out.write_str("options are ")?;
                for (index, (name, about)) in known.iter().enumerate() {
                    let separator = if index == 0 { "" } else { ", " };
                    write!(out, "{separator}`{name}` ({about})")?;
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[KnownOption] = &[("steps", "steps of the stencil"), ("quiet", "say less")];

    fn message<T: fmt::Debug>(result: Result<T, Failure>) -> std::string::String {
        let failure = result.unwrap_err();
        assert!(failure.is_on_all_ranks());
        std::string::ToString::to_string(&failure)
    }

    #[test]
    fn the_last_value_counts_and_the_default_steps_in() {
        let args = Arguments::new(" program=x steps=3  steps=4 cores=5 coherent", KNOWN).unwrap();
        assert_eq!(args.get("steps", 50), Ok(4u32));
        assert_eq!(args.flag("quiet"), Ok(false));
        assert!(args.all("steps").unwrap().eq(["3", "4"]) && args.all("quiet").unwrap().next().is_none());
        assert_eq!(Arguments::new("", KNOWN).unwrap().get("steps", 50), Ok(50u32));
        assert_eq!(Arguments::new("quiet", KNOWN).unwrap().flag("quiet"), Ok(true));
    }

    #[test]
    fn mistakes_are_named() {
        let of = |line| Arguments::new(line, KNOWN);
        assert_eq!(
            message(of("stops=3")),
            "unknown option `stops=3`; options are `steps` (steps of the stencil), `quiet` (say less)"
        );
        assert_eq!(message(Arguments::new("x", &[])), "unknown option `x`; this program has no options");
        let steps = |line| message(of(line).unwrap().get("steps", 50u32));
        assert_eq!(
            steps("steps=many"),
            "option `steps=many`: invalid digit found in string; expected is a value as in `steps=50`"
        );
        assert_eq!(
            steps("steps="),
            "option `steps=`: cannot parse integer from empty string; expected is a value as in `steps=50`"
        );
        assert_eq!(steps("steps"), "option `steps` needs a value, as in `steps=50`");
        assert_eq!(message(of("quiet=1").unwrap().flag("quiet")), "option `quiet=1`: it takes no value");
        assert!(message(of("").unwrap().get("stops", 1u8)).contains("not in its OPTIONS"));
    }

    #[test]
    fn arguments_are_checked_on_demand() {
        assert_eq!(checks_arguments("steps=3"), Ok(false));
        assert_eq!(checks_arguments("steps=3 check=arguments"), Ok(true));
        for line in ["check", "check=", "check=all"] {
            assert!(message(checks_arguments(line)).contains("what can be checked is `check=arguments`"));
        }
    }
}
