//! Numbers of cores on the command line.

use anyhow::{Result, anyhow, bail, ensure};

/// A PC's local APIC ids end here.
pub const MOST: u16 = 255;

/// A list such as `1,2,5-7`; no number twice, in the order given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List(pub Vec<u16>);

impl std::str::FromStr for List {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut numbers = Vec::new();
        for part in text.split(',') {
            let (first, last) = match part.split_once('-') {
                Some((first, last)) => (number(first)?, number(last)?),
                None => (number(part)?, number(part)?),
            };
            ensure!(first <= last, "the range `{part}` ends before it starts");
            for cores in first..=last {
                if !numbers.contains(&cores) {
                    numbers.push(cores);
                }
            }
        }
        Ok(Self(numbers))
    }
}

/// A number of cores of a machine in QEMU.
///
/// # Errors
/// When it is none.
pub fn number(text: &str) -> Result<u16> {
    match text.trim().parse() {
        Ok(cores) if (1..=MOST).contains(&cores) => Ok(cores),
        _ => bail!("`{text}` is not a number of cores from 1 to {MOST}"),
    }
}

/// A number of nodes of a cluster in QEMU.
///
/// # Errors
/// When it is none.
pub fn nodes(text: &str) -> Result<u16> {
    number(text).map_err(|_| anyhow!("`{text}` is not a number of nodes from 1 to {MOST}"))
}

/// `1 core`, `48 cores`.
pub fn cores(count: u32) -> String {
    if count == 1 { "1 core".into() } else { format!("{count} cores") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists() {
        for (text, expected) in
            [("1", vec![1]), ("1,2,48", vec![1, 2, 48]), ("2-4,3, 7", vec![2, 3, 4, 7]), ("255", vec![255])]
        {
            assert_eq!(text.parse::<List>().unwrap().0, expected, "{text}");
        }
    }

    #[test]
    fn numbers_of_nodes() {
        assert_eq!(nodes("3").unwrap(), 3);
        assert_eq!(nodes("0").unwrap_err().to_string(), "`0` is not a number of nodes from 1 to 255");
    }

    #[test]
    fn wrong_lists() {
        for text in ["", "0", "256", "1,", "x", "4-2", "1-", "-3", "1 2", "99999999999"] {
            assert!(text.parse::<List>().is_err(), "{text}");
        }
    }
}
