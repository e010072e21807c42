//! Whether two runs of a program agree: in counters, results and files, bit for bit.

use crate::console::{Counters, Transcript};
use anyhow::{Result, bail, ensure};
use std::collections::BTreeMap;

/// What two runs have said, and where they ran.
#[derive(Clone, Copy)]
pub(crate) struct Runs<'a> {
    places: [&'a str; 2],
    transcripts: [&'a Transcript; 2],
}

impl<'a> Runs<'a> {
    pub(crate) fn new(places: [&'a str; 2], transcripts: [&'a Transcript; 2]) -> Self {
        Self { places, transcripts }
    }

    /// Compares results bit for bit. The picture alone would not do: its heights are rounded, and the checksum's are not.
    pub(crate) fn agree_in_results(self) -> Result<()> {
        ensure!(!self.transcripts[0].results.is_empty(), "no result value {}", self.places[0]);
        self.agree_in_values()?;
        self.agree_in_files()
    }

    /// Compares results that are no files.
    pub(crate) fn agree_in_values(self) -> Result<()> {
        let ([here, there], [left, right]) = (self.places, self.transcripts.map(|transcript| &transcript.results));
        for name in left.keys().chain(right.keys()) {
            let [one, other] = [left, right].map(|results| results.get(name).map_or("missing", String::as_str));
            ensure!(one == other, "result {name} is {one} {here}, {other} {there}");
        }
        Ok(())
    }

    /// Compares all counters but those that are left out.
    pub(crate) fn agree_in_counters_but(self, left_out: &[&str]) -> Result<()> {
        let [here, there] = self.places;
        let [left, right] = self.transcripts.map(|transcript| {
            let mut counters = counters(transcript);
            counters.retain(|(_, _, name), _| !left_out.contains(name));
            counters
        });
        ensure!(!left.is_empty(), "no counters {here}");
        ensure!(!right.is_empty(), "no counters {there}");
        let mut differences = Vec::new();
        for key in left.keys().chain(right.keys().filter(|key| !left.contains_key(*key))) {
            let [one, other] = [&left, &right].map(|counters| counters.get(key).unwrap_or(&"missing"));
            if one != other {
                differences.push(format!("rank {} {}: {one} {here}, {other} {there}", key.0, key.2));
            }
        }
        if let Some(first) = differences.first() {
            bail!("{} counters differ, the first: {first}", differences.len());
        }
        Ok(())
    }

    /// Compares result files bit for bit.
    pub(crate) fn agree_in_files(self) -> Result<()> {
        let ([here, there], [left, right]) = (self.places, self.transcripts.map(|transcript| &transcript.files));
        ensure!(!left.is_empty(), "no result file {here}");
        ensure!(left.len() == right.len(), "{} result files {here}, {} {there}", left.len(), right.len());
        for (one, other) in left.iter().zip(right) {
            ensure!(one.name == other.name, "result file {} {here}, {} {there}", one.name, other.name);
            let difference = one.bytes.iter().zip(&other.bytes).position(|(one, other)| one != other);
            if let Some(place) = difference {
                bail!("{} differs from byte {place} on between the results {here} and {there}", one.name);
            }
            ensure!(one.bytes.len() == other.bytes.len(), "{} has another length {here} than {there}", one.name);
        }
        Ok(())
    }
}

/// Counters by rank, line and name. A rank may send several lines.
pub(crate) fn counters(transcript: &Transcript) -> BTreeMap<(u32, usize, &str), &str> {
    let mut lines: BTreeMap<u32, usize> = BTreeMap::new();
    let mut all = BTreeMap::new();
    for Counters { rank, values } in &transcript.counters {
        let line = lines.entry(*rank).or_default();
        *line += 1;
        for (key, value) in values {
            all.insert((*rank, *line, key.as_str()), value.as_str());
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use transcript::sent_file::File;

    fn transcript(lines: &str) -> Transcript {
        Transcript::of(lines.lines())
    }

    fn runs<'a>(left: &'a Transcript, right: &'a Transcript) -> Runs<'a> {
        Runs::new(["a", "b"], [left, right])
    }

    #[test]
    fn counters_are_compared() {
        let left = transcript("@counters 1 drains=2\n@counters 0 drains=1");
        let right = transcript("@counters 0 drains=1\n@counters 1 drains=2");
        assert!(runs(&left, &right).agree_in_counters_but(&[]).is_ok());
        let right = transcript("@counters 0 drains=1\n@counters 1 drains=3");
        let message = runs(&left, &right).agree_in_counters_but(&[]).unwrap_err().to_string();
        assert!(message.ends_with("rank 1 drains: 2 a, 3 b"), "{message}");
        assert!(runs(&left, &transcript("@counters 0 drains=1")).agree_in_counters_but(&[]).is_err());
        assert!(runs(&left, &transcript("")).agree_in_counters_but(&[]).is_err());
        assert!(runs(&transcript("@counters 0 drains=1"), &left).agree_in_counters_but(&[]).is_err());
    }

    #[test]
    fn files_are_compared_bit_for_bit() {
        let with = |bytes: &[u8]| Transcript {
            files: vec![File { name: "terrain.pgm".into(), bytes: bytes.to_vec() }],
            ..Transcript::default()
        };
        assert!(runs(&with(b"123"), &with(b"123")).agree_in_files().is_ok());
        assert!(runs(&with(b"123"), &with(b"129")).agree_in_files().unwrap_err().to_string().contains("byte 2"));
        assert!(runs(&with(b"123"), &with(b"12")).agree_in_files().is_err());
        assert!(runs(&with(b"123"), &Transcript::default()).agree_in_files().is_err());
        assert!(runs(&Transcript::default(), &Transcript::default()).agree_in_files().is_err());
    }

    #[test]
    fn values_are_compared_and_must_be_there() {
        let with = |value: &str| {
            let mut found = transcript(&format!("@result checksum {value}"));
            found.files = vec![File { name: "terrain.pgm".into(), bytes: b"123".to_vec() }];
            found
        };
        assert!(runs(&with("12e1b553"), &with("12e1b553")).agree_in_results().is_ok());
        let message = runs(&with("12e1b553"), &with("0")).agree_in_results().unwrap_err().to_string();
        assert_eq!(message, "result checksum is 12e1b553 a, 0 b");
        let none = Transcript { files: with("0").files, ..Transcript::default() };
        assert!(runs(&none, &none).agree_in_results().is_err());
        assert!(runs(&none, &with("0")).agree_in_values().unwrap_err().to_string().contains("missing a"));
        assert!(runs(&none, &none).agree_in_values().is_ok());
    }
}
