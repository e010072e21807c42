//! A bench's rows as a file.

use super::series::{Row, Rows};
use anyhow::{Context, Result, anyhow, ensure};
use host::{machine::Machine, workspace};
use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
};

/// The columns.
const HEADER: [&str; 14] = [
    "bench",
    "machine",
    "algorithm",
    "ranks",
    "param",
    "bytes",
    "metric",
    "unit",
    "samples",
    "min",
    "q1",
    "median",
    "q3",
    "max",
];

/// Where the rows of a bench go. The default machine's file has the plain name.
pub(crate) fn path(bench: &str, machine: &str, is_default: bool) -> PathBuf {
    // A machine of a file is called by its path. A colon in a file's name is a nuisance to other tools.
    let machine = machine.rsplit('/').next().unwrap_or_default().replace(descriptions::EXTENSION, "").replace(':', "-");
    let name = if is_default { format!("{bench}.csv") } else { format!("{bench}-{machine}.csv") };
    workspace::target().join("bench").join(name)
}

/// Writes all rows.
pub(crate) fn write(path: &Path, bench: &str, machine: &str, rows: &Rows) -> Result<()> {
    workspace::put(path, &encode(bench, machine, rows).context("cannot make the CSV file")?)
}

fn encode(bench: &str, machine: &str, rows: &Rows) -> Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(HEADER)?;
    for Row { key, samples, quartiles } in rows.iter() {
        let [ranks, param, bytes] = [key.ranks, key.param, key.bytes].map(|number| number.to_string());
        let machine = machine_of(machine, &key.variant);
        let words = [bench, &machine, &key.algorithm, &ranks, &param, &bytes, &key.metric, key.unit.name()];
        let numbers = [samples.to_string()].into_iter().chain(quartiles.all().map(number));
        writer.write_record(words.into_iter().map(str::to_owned).chain(numbers))?;
    }
    Ok(writer.into_inner()?)
}

/// Where a row was measured: on a machine of the run's own, or on a variant of the bench's.
fn machine_of(machine: &str, variant: &str) -> String {
    if let Some(own) = variant.strip_prefix('@') {
        return own.to_owned();
    }
    let varied = || {
        let (machine, variant) = (machine.parse::<Machine>().ok()?, variant.parse().ok()?);
        machine.with_variant(machine.variant.with(variant))
    };
    varied().map_or_else(|| machine.to_owned(), |machine| machine.to_string())
}

/// The medians of a file's rows, by what identifies a row: the columns before the number of samples, with commas
/// between.
#[derive(Debug, Default)]
pub(crate) struct Medians {
    rows: Vec<(String, f64)>,
    places: HashMap<String, usize>,
}

/// The columns that identify a row, and the one of the median.
const IDENTIFYING: usize = 8;
const MEDIAN: usize = 11;

impl Medians {
    /// Reads a file that was written before.
    ///
    /// # Errors
    /// When it cannot be read or is none of these, with the number of the line.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let name = workspace::display(path).to_string();
        Self::parse(&name, &fs::read(path).with_context(|| format!("cannot read {name}"))?)
    }

    /// Those of rows that were just measured.
    pub(crate) fn of(bench: &str, machine: &str, rows: &Rows) -> Result<Self> {
        Self::parse(bench, &encode(bench, machine, rows)?)
    }

    /// Reads the text of a file called `name`.
    ///
    /// # Errors
    /// When it is none of these, with the number of the line.
    pub(crate) fn parse(name: &str, text: &[u8]) -> Result<Self> {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text);
        let mut medians = Self::default();
        for (index, record) in reader.records().enumerate() {
            let line = index + 1;
            let wrong = |why: &str| anyhow!("{name}, line {line}: {why}");
            let record = record.map_err(|_| wrong("no text in UTF-8"))?;
            if index == 0 {
                ensure!(record.iter().eq(HEADER), wrong("not the header of a bench's file"));
                continue;
            }
            ensure!(
                record.len() == HEADER.len(),
                wrong(&format!("{} columns instead of {}", record.len(), HEADER.len()))
            );
            let median: f64 = record[MEDIAN].parse().map_err(|_| wrong("the median is no number"))?;
            ensure!(median.is_finite(), wrong("the median is no number"));
            let row = record.iter().take(IDENTIFYING).collect::<Vec<_>>().join(",");
            let place = medians.rows.len();
            ensure!(medians.places.insert(row.clone(), place).is_none(), wrong("the same row as one before"));
            medians.rows.push((row, median));
        }
        ensure!(!text.is_empty(), "{name}, line 1: not the header of a bench's file");
        Ok(medians)
    }

    /// Rows and medians, in the order of the file.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.rows.iter().map(|(row, median)| (row.as_str(), *median))
    }

    /// The median of a row.
    pub(crate) fn get(&self, row: &str) -> Option<f64> {
        self.places.get(row).map(|place| self.rows[*place].1)
    }
}

/// A number to six places, which is more than was measured, without zeros at its end.
fn number(value: f64) -> String {
    let text = format!("{value:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    // What is a little below zero has no sign when it is rounded to it.
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::testing::rows;

    /// One row of three numbers.
    fn ring() -> Rows {
        rows(&[1000, 1001, 1003].map(|value| ("ring", [48, 3, 64], "latency ns", value)))
    }

    #[test]
    fn a_file_has_a_header_and_a_line_for_each_row() {
        let rows = ring();
        let text = String::from_utf8(encode("ring", "mesh:2x2x1", &rows).unwrap()).unwrap();
        assert_eq!(
            text,
            "bench,machine,algorithm,ranks,param,bytes,metric,unit,samples,min,q1,median,q3,max\n\
             ring,mesh:2x2x1,ring,48,3,64,latency,us,3,1,1.0005,1.001,1.002,1.003\n"
        );
    }

    #[test]
    fn rows_of_a_variant_and_of_another_machine_name_it() {
        let numbers = ["get+contention", "flat@cluster-fpga"].map(|name| (name, [8, 2, 0], "latency ns", 7));
        let text = String::from_utf8(encode("x", "scc", &rows(&numbers)).unwrap()).unwrap();
        assert!(text.contains("\nx,scc+contention,get,8,2,0,"), "{text}");
        let of_papers = ["+flat", "+contention", "@scc-board", ""].map(|variant| machine_of("scc+ideal", variant));
        assert_eq!(of_papers, ["scc+ideal+flat", "scc+contention", "scc-board", "scc+ideal"]);
        assert!(text.contains("\nx,cluster-fpga,flat,8,2,0,"), "{text}");
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([0.0, 10.0, 0.1 + 0.2, 1.0005, -1e-9].map(number), ["0", "10", "0.3", "1.0005", "0"]);
    }

    #[test]
    fn what_is_written_is_read() {
        let medians = Medians::of("ring", "scc", &ring()).unwrap();
        assert_eq!(medians.iter().collect::<Vec<_>>(), [("ring,scc,ring,48,3,64,latency,us", 1.001)]);
        assert_eq!((medians.get("ring,scc,ring,48,3,64,latency,us"), medians.get("ring")), (Some(1.001), None));
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said_with_its_line() {
        let message = |text: &str| Medians::parse("old.csv", text.as_bytes()).unwrap_err().to_string();
        let header = HEADER.join(",") + "\n";
        let row = "b,scc,a,48,0,32,latency,us,1,0,0,5,0,0\n";
        for text in ["", "a,b\n", row] {
            assert_eq!(message(text), "old.csv, line 1: not the header of a bench's file");
        }
        assert_eq!(message(&format!("{header}{row}a,b\n")), "old.csv, line 3: 2 columns instead of 14");
        assert_eq!(message(&format!("{header}{row}{row}")), "old.csv, line 3: the same row as one before");
        assert_eq!(
            message(&format!("{header}{}", row.replace(",5,", ",x,"))),
            "old.csv, line 2: the median is no number"
        );
    }

    #[test]
    fn other_machines_have_files_of_their_own() {
        let name = |machine, is_default| path("pscw", machine, is_default).file_name().unwrap().to_owned();
        assert_eq!(name("scc", true), "pscw.csv");
        assert_eq!(name("qemu", false), "pscw-qemu.csv");
        assert_eq!(name("mesh:8x8x2", false), "pscw-mesh-8x8x2.csv");
    }
}
