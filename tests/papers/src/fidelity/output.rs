//! The table of entries, for the eye and as files.

use super::Checked;
use crate::{bench::table, verdict::Verdict};
use anyhow::{Context, Result};
use host::workspace;
use std::path::{Path, PathBuf};

/// What holds of the whole table.
pub(crate) const NOTES: [&str; 2] = [
    "Fitted: a parameter of the machine is this number, or was chosen so that it comes out. Predicted: no parameter knows \
     of it. Unexplained and reported ones have no verdict.",
    "Out of scope are the absolute numbers of other machines than the SCC and the clusters of the barriers paper: Xeon, \
     Opteron and pthread machines have caches that are coherent, and nothing here models those.",
];

/// The reasons of those that have no verdict, each once, in the order of the table; and for each entry the number of
/// its reason, counted from 1, if it has one.
pub(crate) fn notes(checked: &[Checked]) -> (Vec<&'static str>, Vec<Option<usize>>) {
    let mut reasons: Vec<&'static str> = Vec::new();
    let numbers = checked.iter().map(|checked| {
        let why = checked.entry.status.why()?;
        Some(
            1 + reasons.iter().position(|reason| *reason == why).unwrap_or_else(|| {
                reasons.push(why);
                reasons.len() - 1
            }),
        )
    });
    let numbers = numbers.collect();
    (reasons, numbers)
}

/// Lines of cells, with the number of a note behind the status.
fn lines(checked: &[Checked]) -> (Vec<[String; 7]>, Vec<&'static str>) {
    let (reasons, numbers) = notes(checked);
    let line = |(checked, number): (&Checked, &Option<usize>)| {
        let mut cells = checked.cells();
        if let Some(number) = number {
            cells[6] += &format!(" [{number}]");
        }
        cells
    };
    (checked.iter().zip(&numbers).map(line).collect(), reasons)
}

/// The table, and what there is to say about it.
pub(super) fn for_the_eye(checked: &[Checked]) -> String {
    let (lines, reasons) = lines(checked);
    let table = table::aligned(&Checked::HEADER, lines, |column| (2..5).contains(&column));
    let reasons = reasons.iter().enumerate().map(|(index, reason)| format!("[{}] {reason}\n", index + 1));
    let notes = NOTES.map(|note| format!("{note}\n"));
    format!("{table}\n\n{}{}", reasons.collect::<String>(), notes.concat())
}

/// Writes both files into a directory; returns their names.
pub(super) fn write(directory: &Path, checked: &[Checked]) -> Result<[PathBuf; 2]> {
    let [csv, markdown] = ["fidelity.csv", "fidelity.md"].map(|name| directory.join(name));
    workspace::put(&csv, &comma_separated(checked).context("cannot make the CSV file")?)?;
    workspace::put(&markdown, as_markdown(checked).as_bytes())?;
    Ok([csv, markdown])
}

fn comma_separated(checked: &[Checked]) -> Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let header = ["source", "what", "unit", "ours", "published", "error", "band", "status", "verdict", "why"];
    writer.write_record(header)?;
    for checked in checked {
        let [source, what, _, _, error, band, _] = checked.cells();
        let entry = checked.entry;
        let published = if entry.published.is_nan() { String::new() } else { entry.published.to_string() };
        let verdict = match checked.verdict() {
            Verdict::Holds => "holds",
            Verdict::Fails => "fails",
            Verdict::Reported | Verdict::NotChecked => "",
        };
        let ours = format!("{:.6}", checked.ours);
        let why = entry.status.why().unwrap_or_default();
        let status = entry.status.name();
        writer.write_record([&source, &what, entry.unit, &ours, &published, &error, &band, status, verdict, why])?;
    }
    Ok(writer.into_inner()?)
}

fn as_markdown(checked: &[Checked]) -> String {
    let (lines, reasons) = lines(checked);
    let line = |cells: &[String]| {
        let cells: Vec<_> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let header = line(&Checked::HEADER.map(str::to_owned));
    let rows: String = lines.iter().map(|cells| line(cells)).collect();
    let reasons = reasons.iter().enumerate().map(|(index, reason)| format!("* [{}] {reason}\n", index + 1));
    let notes = NOTES.map(|note| format!("* {note}\n")).concat();
    format!("# Fidelity\n\n{header}|---|---|--:|--:|--:|---|---|\n{rows}\n{}{notes}", reasons.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Band, Entry, NOT_PUBLISHED, entry},
        *,
    };

    const ENTRIES: [Entry; 3] = [
        entry("A, 1", "us", "none").what("w").predicted(10.0, Band::Percent(10.0), |_| Ok(0.0)),
        entry("A, 2", "us", "none").what("w").unexplained(20.0, Band::Percent(10.0), "nobody knows", |_| Ok(0.0)),
        entry("A, 3 | 4", "us", "none").what("w").reported(NOT_PUBLISHED, "nobody knows", |_| Ok(0.0)),
    ];

    fn checked() -> Vec<Checked> {
        ENTRIES.iter().map(|entry| Checked { entry, ours: 10.5 }).collect()
    }

    #[test]
    fn equal_reasons_are_one_note() {
        assert_eq!(notes(&checked()), (vec!["nobody knows"], vec![None, Some(1), Some(1)]));
        let text = for_the_eye(&checked());
        assert_eq!(text.matches("nobody knows").count(), 1, "{text}");
        assert!(text.contains("unexplained [1]") && text.contains("reported [1]"), "{text}");
        assert!(NOTES.iter().all(|note| text.contains(note)));
    }

    #[test]
    fn files_have_all_of_it() {
        let directory = tempfile::tempdir().unwrap();
        let [csv, markdown] = write(directory.path(), &checked()).unwrap();
        let csv = std::fs::read_to_string(csv).unwrap();
        assert!(csv.contains("\n\"A, 1\",w,us,10.500000,10,+5.0 %,± 10 %,predicted,holds,\n"), "{csv}");
        assert!(csv.contains("\n\"A, 3 | 4\",w,us,10.500000,,-,none,reported,,nobody knows\n"), "{csv}");
        let markdown = std::fs::read_to_string(markdown).unwrap();
        assert!(markdown.contains("\n| A, 1 | w | 10.5 us | 10 us | +5.0 % | ± 10 % | predicted |\n"), "{markdown}");
        assert!(markdown.contains("| A, 3 \\| 4 |") && markdown.contains("* [1] nobody knows\n"), "{markdown}");
    }
}
