//! Words of a command line.

/// The value of the word `key=value`; the last one counts.
pub(crate) fn value_of<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.split_ascii_whitespace().filter_map(|word| word.strip_prefix(key)?.strip_prefix('=')).next_back()
}

/// Whether the line has this word.
pub(crate) fn has(line: &str, word: &str) -> bool {
    line.split_ascii_whitespace().any(|other| other == word)
}
