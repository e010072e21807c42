//! Result files of a guest, written where the user finds them.

pub(crate) use crate::workspace::put;

use crate::{console::Transcript, laboratory, picture, workspace};
use anyhow::{Context, Result};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Writes all files of a transcript into a directory, pictures also as PNG and power spectra also as a plot (SVG) and a table
/// (CSV), and returns what was written. Maps of heights are drawn beside what they were in the first of the `inputs`.
pub(crate) fn write(transcript: &Transcript, directory: &Path, inputs: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut written = Vec::new();
    for file in &transcript.files {
        let path = directory.join(&file.name);
        put(&path, &file.bytes)?;
        let kind = path.extension().unwrap_or_default();
        if kind == "power" {
            let (plot, table) = (path.with_extension("svg"), path.with_extension("csv"));
            laboratory::draw("spectrum", &[&path, &plot, &table])
                .with_context(|| format!("result file {}", file.name))?;
            written.extend([path, plot, table]);
        } else if kind == "pgm" {
            let picture = path.with_extension("png");
            let before = inputs.first().and_then(|input| fs::read(input).ok());
            let png = picture::png_from_pgm(&file.bytes, before.as_deref());
            put(&picture, &png.with_context(|| format!("result file {}", file.name))?)?;
            written.extend([path, picture]);
        } else {
            written.push(path);
        }
    }
    Ok(written)
}

/// Tells the user what was written.
pub(crate) fn announce(written: &[PathBuf]) {
    for path in written {
        println!("wrote {}", workspace::display(path));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use transcript::sent_file::File;

    #[test]
    fn pictures_are_written_in_two_ways() {
        let directory = tempfile::tempdir().unwrap();
        let files = vec![
            File { name: "a.pgm".into(), bytes: b"P5 1 1 255\n\x07".to_vec() },
            File { name: "b.txt".into(), bytes: b"text".to_vec() },
        ];
        let transcript = Transcript { files, ..Transcript::default() };
        let written = write(&transcript, &directory.path().join("deep"), &[]).unwrap();
        let names: Vec<_> = written.iter().filter_map(|path| path.file_name()?.to_str()).collect();
        assert_eq!(names, ["a.pgm", "a.png", "b.txt"]);
        assert_eq!(fs::read(&written[2]).unwrap(), b"text");
    }
}
