//! Words of a command line.

use core::fmt;

/// The value of the word `key=value`; the last one counts.
pub(crate) fn value_of<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.split_ascii_whitespace().filter_map(|word| word.strip_prefix(key)?.strip_prefix('=')).next_back()
}

/// Whether the line has this word.
pub(crate) fn has(line: &str, word: &str) -> bool {
    line.split_ascii_whitespace().any(|other| other == word)
}

/// The number that the word `key=value` gives, if it is there; `fail` is told if that is none from 1 to `max`.
pub(crate) fn number(line: &str, key: &str, max: usize, fail: fn(fmt::Arguments<'_>) -> !) -> Option<usize> {
    let text = value_of(line, key)?;
    match text.parse() {
        Ok(value) if (1..=max).contains(&value) => Some(value),
        _ => fail(format_args!("`{key}={text}`: expected a number from 1 to {max}")),
    }
}
