//! A guide for those who write programs, page by page.
//!
//! 1. [`first_program`]: what a program is, and how to run it;
//! 2. [`one_sided`]: windows, and epochs of post, start, complete and wait;
//! 3. [`messages`]: messages with tags, and communicators of some ranks;
//! 4. [`choosing_an_algorithm`]: the default, one by its name, one by an option;
//! 5. [`measuring`]: time, counters, and numbers for tables;
//! 6. [`reading_a_failure`]: deadlocks, undrained buffers, stale reads, exit statuses;
//! 7. [`a_machine_of_your_own`]: porting to another board, step by step.
//!
//! [`glossary`] says what the words mean. `cargo xtask new NAME` makes a crate to begin with.
//!
//! The programs of the guide are tests: each is run in the simulator, and has to print what its page shows.

macro_rules! pages {
    ($($page:ident),* $(,)?) => {
        $(
            #[doc = include_str!(concat!(stringify!($page), ".md"))]
            pub mod $page {
                /// The page.
                #[doc(hidden)]
                pub const TEXT: &str = include_str!(concat!(stringify!($page), ".md"));
            }
        )*
    };
}

pages!(
    first_program,
    one_sided,
    messages,
    choosing_an_algorithm,
    measuring,
    reading_a_failure,
    a_machine_of_your_own,
    glossary
);

/// The README of the project, whose program has to compile. What it prints, the page [`one_sided`] shows.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// Insists that a page shows what a run has printed as one block of text; for the guide's own tests.
///
/// # Panics
/// If it does not.
#[doc(hidden)]
pub fn assert_shown(page: &str, run: &crate::launch::Simulation) {
    let printed = printed(&run.console);
    assert!(page.contains(&std::format!("```text\n{printed}```")), "the page has to show\n{printed}");
}

/// What is for the user: all lines but those for the host's tools.
fn printed(console: &str) -> std::string::String {
    console.lines().filter(|line| !line.starts_with('@')).flat_map(|line| [line, "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use std::{string::String, vec::Vec};

    use super::{assert_shown, glossary};
    use crate::launch::Simulation;

    #[test]
    fn a_page_has_to_show_all_that_was_printed_and_no_more() {
        let is_shown = |console: &str| {
            let run = Simulation { success: true, console: console.into() };
            std::panic::catch_unwind(|| assert_shown("so:\n```text\na\nb\n```\n", &run)).is_ok()
        };
        assert!(is_shown("a\n@ticks 7\nb\n@done ok\n"));
        assert!(!["a\n", "a\nb\nc\n", "b\n", ""].iter().any(|console| is_shown(console)));
    }

    /// Words are in the order of the alphabet, each once, and none takes more than two lines.
    #[test]
    fn the_glossary_can_be_looked_up() {
        let rest = glossary::TEXT.lines().skip_while(|line| !line.starts_with("* **"));
        let mut entries: Vec<(String, usize)> = Vec::new();
        for line in rest {
            match line.strip_prefix("* **").and_then(|line| line.split_once("**")) {
                Some((word, _)) => entries.push((word.to_lowercase(), 1)),
                None if line.starts_with("  ") => entries.last_mut().unwrap().1 += 1,
                None => panic!("`{line}` is no part of an entry"),
            }
        }
        assert!(entries.len() > 40, "only {} words", entries.len());
        assert!(entries.iter().all(|(_, lines)| *lines <= 2), "{entries:?}");
        assert!(entries.is_sorted_by(|(before, _), (word, _)| before < word), "{entries:?}");
    }
}
