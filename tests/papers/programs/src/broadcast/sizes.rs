//! Lengths of messages, as options name them.

use alloc::vec::Vec;
use core::{fmt, str::FromStr};

use super::List;
use hal::LINE_BYTES;

/// Bytes around what fits one line with its tag, and one line without.
const SHORT: &[usize] = &[1, 8, 16, 28, 29, 32];

/// Lines: the range of the paper's latencies, with its chunk of 96 lines, two of them, and the 251 lines of RCCE's
/// payload buffer, each with one more and one less.
const LINES: &[usize] =
    &[1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 80, 95, 96, 97, 112, 128, 144, 160, 176, 191, 192, 193, 250, 251, 252];

/// Lines: the rest of the range of the paper's throughputs. 4608 are 48 chunks of 96, which its analysis takes for 48
/// ranks.
const LONG: &[usize] = &[256, 512, 1024, 2048, 4096, 4608, 8192, 16384, 32768];

/// Lengths in bytes, ascending, each once.
///
/// As an option: names of grids and numbers of bytes, with commas between.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Sizes(Vec<usize>);

impl Sizes {
    /// What there is to choose from.
    pub(crate) const ABOUT: &'static str =
        "lengths: short, lines, long and numbers of bytes with commas between, short,lines if not given";

    /// Those of the paper's figure 8a, and shorter ones.
    pub(crate) fn of_latencies() -> Self {
        Self::of(SHORT.iter().copied().chain(bytes_of(LINES)).collect())
    }

    fn of(mut sizes: Vec<usize>) -> Self {
        sizes.sort_unstable();
        sizes.dedup();
        Self(sizes)
    }

    /// One after the other.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().copied()
    }

    /// The largest.
    pub(crate) fn most(&self) -> usize {
        self.0.last().copied().unwrap_or_default()
    }
}

fn bytes_of(lines: &[usize]) -> impl Iterator<Item = usize> + '_ {
    lines.iter().map(|lines| lines * LINE_BYTES)
}

impl FromStr for Sizes {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let none = "no such length; there are short, lines, long and numbers of bytes, with commas between";
        let mut sizes = Vec::new();
        for item in text.split(',') {
            match item {
                "short" => sizes.extend(SHORT),
                "lines" => sizes.extend(bytes_of(LINES)),
                "long" => sizes.extend(bytes_of(LONG)),
                number => sizes.push(number.parse().map_err(|_| none)?),
            }
        }
        Ok(Self::of(sizes))
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        List(self.0.clone()).fmt(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn grids_and_numbers_are_one_ascending_list() {
        assert_eq!("40,short,8".parse::<Sizes>().unwrap().to_string(), "1,8,16,28,29,32,40");
        let both: Sizes = "short,lines".parse().unwrap();
        assert_eq!(both, Sizes::of_latencies());
        assert_eq!((both.iter().next(), both.most()), (Some(1), 252 * 32));
        assert_eq!("long".parse::<Sizes>().unwrap().most(), 1 << 20);
        for text in ["", "1,", "x", "-1", "short lines"] {
            assert!(text.parse::<Sizes>().is_err(), "{text}");
        }
    }
}
