//! What cannot be flashed: the command itself, as a user would run it, has to say why in one line.

use super::{Kit, SCC, Suite, corrupt, some, suite_of};
use crate::{kernel_line::KernelLine, process, program::Program, workspace};
use anyhow::{Context, Result, bail, ensure};
use std::{env, fs, path::Path};

/// Names of the tests in here.
pub(super) const NAMES: [&str; 5] = [
    "board-refuses-large-input",
    "board-refuses-large-heap",
    "board-refuses-unknown",
    "board-refuses-unwritable",
    LARGE_IMAGE,
];

/// Name of the test with an image that is too large.
const LARGE_IMAGE: &str = "board-refuses-large-image";

/// What begins the refusal of too much for a core's memory.
const TOO_LARGE: &str = "too large for the board: ";

/// More than a core of the SCC has.
const LARGE_BYTES: u64 = 1 << 30;

/// Runs all of them.
pub(super) fn run(suite: &mut Suite, kit: &Kit<'_>) -> Result<()> {
    let directory = workspace::scratch()?;
    let path = |name: &str| directory.path().join(name).to_string_lossy().into_owned();
    let (out, large, file) = (path("out"), path("large"), path("file"));
    // It has no contents and takes no room.
    fs::File::create(&large).and_then(|file| file.set_len(LARGE_BYTES)).context("cannot make a large file")?;
    fs::write(&file, "in the way").context("cannot write a file")?;
    let below = format!("{file}/out");
    let cases: [(&[&str], &str); 4] = [
        (&["hello", "--board", "scc", "--out", &out, "--input", &large], TOO_LARGE),
        (&["hello", "--board", "scc", "--out", &out, "--", "heap_kib=1000000"], "a heap of 1000000 KiB does not fit"),
        (&["hello", "--board", "abacus", "--out", &out], "there is no board `abacus`"),
        (&["hello", "--board", "scc", "--out", &below], "it is a file"),
    ];
    for (name, (words, expected)) in NAMES.into_iter().zip(cases) {
        if kit.arguments.wants(name) {
            suite.check(name, refused(words, expected).and_then(|()| untouched(Path::new(&out))));
        }
    }
    if kit.arguments.wants(LARGE_IMAGE) {
        suite.check(LARGE_IMAGE, large_image(kit.board_image(&Program::integration())?, Path::new(&out)));
    }
    Ok(())
}

/// No program of the tree is too large, so this one is made to say that it is.
fn large_image(image: &[u8], out: &Path) -> Result<()> {
    let flash = suite_of(SCC, &some(1), &KernelLine::default())?;
    let Err(error) = flash.write(&corrupt::enlarged(image, LARGE_BYTES as u32)?, out) else {
        bail!("it was written");
    };
    let said = format!("{error:#}");
    ensure!(said.starts_with(TOO_LARGE) && said.lines().count() == 1, "it was refused with `{said}`");
    untouched(out)
}

/// Demands that flashing fails with one line that contains this.
fn refused(words: &[&str], expected: &str) -> Result<()> {
    let tool = env::current_exe().context("this tool does not know where it is")?;
    let mut command = workspace::command(tool);
    command.arg("flash").args(words);
    command.env("CARGO", workspace::host_cargo()).env("CARGO_TARGET_DIR", workspace::target());
    let finished = process::finish(&mut command, |_| {})?;
    let said = finished.messages.trim_end();
    ensure!(finished.status.code() == Some(1), "it ended with {} and `{said}`", finished.status);
    // Before it there may be lines about what is being built.
    let errors: Vec<_> = said.lines().filter(|line| line.starts_with("error")).collect();
    let [error] = errors[..] else { bail!("`{said}` has not one line with an error") };
    ensure!(said.ends_with(error), "`{said}` goes on after the error");
    ensure!(error.contains(expected), "`{error}` does not say `{expected}`");
    ensure!(finished.output.is_empty(), "it has said `{}`", finished.output.trim_end());
    Ok(())
}

/// Demands that nothing was written.
fn untouched(out: &Path) -> Result<()> {
    ensure!(!out.exists(), "something was written all the same");
    Ok(())
}
