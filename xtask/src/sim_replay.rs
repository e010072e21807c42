//! Going to a moment of a simulated run, and going there again.
//!
//! A simulation repeats itself, so what repeats a run is what it was started with. Each run that fails leaves that in a file.

use crate::{console::Transcript, kernel_line::KernelLine, program::Program, result_files, workspace};
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use serde_json::{Value, json};
use std::{
    env,
    fmt::Debug,
    fs::File,
    io::{Read, Seek},
    path::{Path, PathBuf},
};

/// The file of a run that has failed, among its results.
const FILE: &str = "replay.json";

/// Where a run stops, and what is shown of it there.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct StopOptions {
    /// Stop at this virtual time, such as 12.5us (s, ms, us, ns or ps), and show every rank: where it is, what it waits for,
    /// what is under way, and what its write-combine buffer holds
    #[arg(long, value_name = "TIME", value_parser = picoseconds, conflicts_with_all = ["stop_at_event", "file", "report", "heatmap"])]
    stop_at: Option<u64>,

    /// Stop likewise before the access to what cores share that has this number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), conflicts_with_all = ["file", "report", "heatmap"])]
    stop_at_event: Option<u64>,

    /// Show this there, too, in memory and as each rank has it: mpb:CORE:LINE, memory:CONTROLLER:OFFSET of DRAM, in bytes, or
    /// window:NUMBER or window:NUMBER@RANK, a part of a window of a program in Rust; again for more than one
    #[arg(long, value_name = "WHAT")]
    show: Vec<String>,
}

impl StopOptions {
    /// Whether the run is to stop: then it shows itself, and there are no results.
    pub(crate) fn is_wanted(&self) -> bool {
        self.stop_at.is_some() || self.stop_at_event.is_some()
    }

    /// Adds the words for it.
    ///
    /// # Errors
    /// When there is something to show and no moment for it, or the program has nothing of the kind.
    pub(crate) fn add(&self, words: KernelLine, program: &Program) -> Result<KernelLine> {
        let is_of_window = |what: &String| what.starts_with("window:");
        ensure!(
            program.c.is_none() || !self.show.iter().any(is_of_window),
            "--show window: is for programs in Rust: a window of one in C is memory of its rank alone, of which no other holds anything"
        );
        ensure!(
            self.show.is_empty() || self.is_wanted(),
            "--show needs --stop-at or --stop-at-event: when is it to be shown?"
        );
        let words = words.value("stop_at_ps", self.stop_at).value("stop_at_access", self.stop_at_event);
        Ok(words.value("show", Some(self.show.join(",")).filter(|lines| !lines.is_empty())))
    }
}

/// A time in picoseconds.
fn picoseconds(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is no time: expected is one as in 12.5us, or in s, ms, ns or ps");
    let digits = text.find(|letter: char| letter.is_ascii_alphabetic()).ok_or_else(wrong)?;
    let (number, unit) = text.split_at(digits);
    let exponent = match unit {
        "s" => 12,
        "ms" => 9,
        "us" => 6,
        "ns" => 3,
        "ps" => 0,
        _ => return Err(wrong()),
    };
    // Not by a floating point number: each picosecond counts.
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let is_number = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_digit());
    if whole.is_empty() || part.len() > exponent || !is_number(whole) || !is_number(part) {
        return Err(wrong());
    }
    format!("{whole}{part:0<exponent$}").parse().map_err(|_| wrong())
}

/// What a run is made of: its machine, its program and its inputs. If that changes, the run may be another one.
pub(crate) struct MadeOf {
    machine: String,
    /// Open from before the run on, so that a program that is built anew meanwhile is not taken for the one that ran.
    files: Vec<File>,
}

impl MadeOf {
    /// Of a machine, by all that it says of itself, and files.
    pub(crate) fn new<'f>(machine: &impl Debug, files: impl IntoIterator<Item = &'f Path>) -> Result<Self> {
        let open = |file| File::open(file).with_context(|| format!("cannot read {}", workspace::display(file)));
        Ok(Self { machine: format!("{machine:?}"), files: files.into_iter().map(open).collect::<Result<_>>()? })
    }

    /// A number that is another one if anything of it is.
    pub(crate) fn fingerprint(&self) -> Result<u32> {
        let mut all = crc32fast::Hasher::new();
        let mut take = |part: &[u8]| {
            all.update(&(part.len() as u64).to_le_bytes());
            all.update(part);
        };
        take(self.machine.as_bytes());
        for mut file in &self.files {
            let mut bytes = Vec::new();
            file.rewind().and_then(|()| file.read_to_end(&mut bytes)).context("cannot read what the run has read")?;
            take(&bytes);
        }
        Ok(all.finalize())
    }
}

/// Whether a run that has failed has moments to go to: each core that has begun tells what it did. What is wrong with the words
/// ends it before.
pub(crate) fn has_begun(transcript: &Transcript) -> bool {
    !transcript.trace.ranks.is_empty()
}

/// Writes what repeats this run, which was started by this process, and says so.
pub(crate) fn write(directory: &Path, of: &MadeOf) -> Result<()> {
    let words = env::args_os().map(|word| word.to_string_lossy().into_owned());
    let words: Vec<String> = words.skip_while(|word| word != "sim").skip(1).collect();
    let file = put(directory, of, &words, None)?;
    println!("`cargo xtask sim --replay {} --stop-at TIME` goes to any moment before", workspace::display(&file));
    Ok(())
}

/// Writes what repeats a run of these words of `sim`, which may deviate from the plain one. Returns the file.
pub(crate) fn put(directory: &Path, of: &MadeOf, words: &[String], deviations: Option<&str>) -> Result<PathBuf> {
    let fingerprint = of.fingerprint()?;
    let here = env::current_dir().context("there is no directory to come back to")?;
    let file = directory.join(FILE);
    let all = json!({"directory": here, "sim": words, "fingerprint": fingerprint, "deviations": deviations});
    result_files::put(&file, format!("{all:#}\n").as_bytes())?;
    Ok(file)
}

/// Adds the words of a run that deviates from the plain one, if it does.
pub(crate) fn deviating(words: KernelLine, deviations: Option<&str>) -> KernelLine {
    words.value("deviations", deviations)
}

/// What repeats a run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Replay {
    /// Where it was started.
    pub(crate) directory: PathBuf,
    /// With which words.
    pub(crate) words: Vec<String>,
    /// The fingerprint of what it was.
    pub(crate) fingerprint: u32,
    /// What it does differently from the plain run, if it was found by exploring.
    pub(crate) deviations: Option<String>,
}

/// What a file says that a run has left.
pub(crate) fn read(file: &Path) -> Result<Replay> {
    let shown = workspace::display(file);
    let bytes = std::fs::read(file).with_context(|| format!("cannot read {shown}"))?;
    let replay: Value = serde_json::from_slice(&bytes).with_context(|| format!("{shown} is no replay file"))?;
    let words = replay["sim"].as_array().and_then(|words| words.iter().map(Value::as_str).collect::<Option<Vec<_>>>());
    let fingerprint = replay["fingerprint"].as_u64().and_then(|number| u32::try_from(number).ok());
    let (Some(directory), Some(words), Some(fingerprint)) = (replay["directory"].as_str(), words, fingerprint) else {
        bail!("{shown} is no replay file: it needs `directory`, `sim` and `fingerprint`");
    };
    let deviations = replay["deviations"].as_str().map(str::to_owned);
    let words = words.into_iter().map(str::to_owned).collect();
    Ok(Replay { directory: directory.into(), words, fingerprint, deviations })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact() {
        for (text, time) in [
            ("12.5us", 12_500_000),
            ("0.000001us", 1),
            ("7ps", 7),
            ("3ns", 3_000),
            ("1.002ms", 1_002_000_000),
            ("2s", 2_000_000_000_000),
        ] {
            assert_eq!(picoseconds(text), Ok(time), "{text}");
        }
        for text in ["", "12", "us", "1.5ps", "0.0000001us", "-1us", "1e3us", "1.us.", "5 us", "99999999999s"] {
            assert!(picoseconds(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_refused_has_not_begun() {
        let begun = |text: &str| has_begun(&Transcript::of(text.lines()));
        assert!(!begun("rank 0 failed: unknown option\n@done failed on 1 of 4 ranks\n"));
        assert!(begun("@trace 0 c 533000000 0\n@done failed on 1 of 4 ranks\n"));
    }

    #[test]
    fn what_is_no_replay_file_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join(FILE);
        for text in
            ["", "{}", r#"{"directory": "/", "sim": [1]}"#, r#"{"sim": []}"#, r#"{"directory": "/", "sim": []}"#]
        {
            std::fs::write(&file, text).unwrap();
            assert!(read(&file).unwrap_err().to_string().contains("is no replay file"), "{text}");
        }
        std::fs::write(&file, r#"{"directory": "/x", "sim": ["hello", "--cores", "3"], "fingerprint": 7}"#).unwrap();
        let words = ["hello", "--cores", "3"].map(String::from).to_vec();
        assert_eq!(read(&file).unwrap(), Replay { directory: "/x".into(), words, fingerprint: 7, deviations: None });
    }

    #[test]
    fn what_is_put_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let of = MadeOf::new(&"scc", []).unwrap();
        let words = ["hello", "--", "x=1"].map(String::from).to_vec();
        let file = put(directory.path(), &of, &words, Some("drain:1:2")).unwrap();
        let replay = read(&file).unwrap();
        assert_eq!((replay.words, replay.deviations.as_deref()), (words, Some("drain:1:2")));
        assert_eq!((replay.directory, replay.fingerprint), (env::current_dir().unwrap(), of.fingerprint().unwrap()));
    }

    #[test]
    fn a_fingerprint_changes_with_each_file() {
        let directory = tempfile::tempdir().unwrap();
        let [program, input] = ["program", "input"].map(|name| directory.path().join(name));
        let of = |texts: [&str; 2]| {
            [&program, &input].into_iter().zip(texts).for_each(|(file, text)| std::fs::write(file, text).unwrap());
            MadeOf::new(&"scc", [program.as_path(), &input]).unwrap().fingerprint().unwrap()
        };
        assert_eq!(of(["a", "b"]), of(["a", "b"]));
        assert_ne!(of(["a", "b"]), of(["c", "b"]));
        assert_ne!(of(["a", "b"]), of(["a", "c"]));
        assert_ne!(of(["ab", "c"]), of(["a", "bc"]));
        let here = of(["a", "b"]);
        let elsewhere = MadeOf::new(&"mesh", [program.as_path(), &input]).unwrap();
        assert_ne!(here, elsewhere.fingerprint().unwrap());
        std::fs::remove_file(&program).unwrap();
        assert!(elsewhere.fingerprint().is_ok(), "it was open");
        assert!(MadeOf::new(&"scc", [program.as_path()]).is_err());
    }
}
