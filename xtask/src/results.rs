//! Result files of a guest, written where the user finds them.

use crate::{console::Transcript, picture, plot::Spectrum, workspace};
use anyhow::{Context, Result};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Writes all files of a transcript into a directory, pictures also as PNG and power spectra also as a plot (SVG) and a table
/// (CSV), and returns what was written.
///
/// # Errors
///
/// When a file cannot be written or a picture is none.
pub(crate) fn write(transcript: &Transcript, directory: &Path) -> Result<Vec<PathBuf>> {
    let mut written = Vec::new();
    for file in &transcript.files {
        let path = directory.join(&file.name);
        put(&path, &file.bytes)?;
        let kind = path.extension().unwrap_or_default();
        if kind == "power" {
            let spectrum = Spectrum::parse(&file.bytes).with_context(|| format!("result file {}", file.name))?;
            let (plot, table) = (path.with_extension("svg"), path.with_extension("csv"));
            put(&plot, spectrum.svg()?.as_bytes())?;
            put(&table, spectrum.csv().as_bytes())?;
            written.extend([path, plot, table]);
        } else if kind == "pgm" {
            let picture = path.with_extension("png");
            put(&picture, &picture::png_from_pgm(&file.bytes).with_context(|| format!("result file {}", file.name))?)?;
            written.push(path);
            written.push(picture);
        } else {
            written.push(path);
        }
    }
    Ok(written)
}

/// Writes a file, with the directories above it.
///
/// # Errors
///
/// When that is not possible.
pub(crate) fn put(path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = || format!("cannot write {}", workspace::display(path));
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory).with_context(failed)?;
    }
    fs::write(path, bytes).with_context(failed)
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
    use transcript::frame::File;

    #[test]
    fn pictures_and_spectra_are_written_in_several_ways() {
        let directory = tempfile::tempdir().unwrap();
        let files = vec![
            File { name: "a.pgm".into(), bytes: b"P5 1 1 255\n\x07".to_vec() },
            File { name: "b.txt".into(), bytes: b"text".to_vec() },
            File { name: "c.power".into(), bytes: vec![0; 4 * 5] },
        ];
        let written = write(&Transcript { files, ..Transcript::default() }, &directory.path().join("deep")).unwrap();
        let names: Vec<_> = written.iter().filter_map(|path| path.file_name()?.to_str()).collect();
        assert_eq!(names, ["a.pgm", "a.png", "b.txt", "c.power", "c.svg", "c.csv"]);
        assert_eq!(fs::read(&written[2]).unwrap(), b"text");
    }
}
