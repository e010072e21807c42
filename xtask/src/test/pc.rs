//! The in-kernel tests on PCs: booted from a disk, without anything that only QEMU has.

use super::{
    Arguments, guests,
    summary::{Suite, Summary},
};
use crate::{
    console::Event,
    cores,
    flash::pc::disk::Disk,
    guest::{self, Outcome},
    memory::Plan,
    progress::Progress,
    qemu::FromDisk,
    setup::{DiskTools, Tools},
    words::Words,
    workspace,
};
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};

/// Memory that the firmware and GRUB take.
const FIRMWARE_MIB: u64 = 32;

/// A PC that boots from the disk.
struct Pc {
    /// The boot's name for `--filter`.
    name: &'static str,
    model: &'static str,
    processors: &'static str,
    cores: u16,
    has_exit_device: bool,
    /// The tests that run on it; an empty filter lets all of them.
    filter: &'static str,
    /// How the kernel has to find its cores, in its own words.
    found: &'static str,
}

/// All of them: two chipsets, of which one has the device that ends QEMU and one has not; and processors that are
/// numbered or listed otherwise.
const PCS: [Pc; 8] = [
    pc("pc-i440fx-1", "pc", "1", 1),
    pc("pc-i440fx-4", "pc", "4", 4),
    pc("pc-i440fx-16", "pc", "16", 16),
    Pc { has_exit_device: true, ..pc("pc-q35-1", "q35", "1", 1) },
    Pc { has_exit_device: true, ..pc("pc-q35-4", "q35", "4", 4) },
    Pc { has_exit_device: true, ..pc("pc-q35-16", "q35", "16", 16) },
    // The numbers of their local APICs are 0, 1, 2, 4, 5 and 6.
    Pc { filter: FEW, ..pc("pc-numbers-with-gaps", "q35", "6,sockets=2,cores=3", 6) },
    Pc { filter: FEW, found: "by the MP table", ..pc("pc-mp-table", "pc,acpi=off", "4,sockets=4,cores=1", 4) },
];

/// Tests that need all cores, and messages between them.
const FEW: &str = "interrupts::";

/// The boot of a program that fails.
const FAILURE: &str = "pc-tells-failure";

const fn pc(name: &'static str, model: &'static str, processors: &'static str, cores: u16) -> Pc {
    Pc { name, model, processors, cores, has_exit_device: false, filter: "", found: "by ACPI" }
}

/// Whether any of them is asked for. Whoever chooses sizes or schedules means those of QEMU's own machine.
pub(super) fn is_wanted(arguments: &Arguments) -> bool {
    let is_plain = arguments.cores.is_none() && arguments.preempt.is_none() && !arguments.thread_multi;
    is_plain && PCS.iter().map(|pc| pc.name).chain([FAILURE]).any(|name| arguments.wants(name))
}

/// Makes disks with the image of the tests, and boots PCs from them.
///
/// # Errors
///
/// When the user wants to stop.
pub(super) fn run(
    summary: &mut Summary,
    arguments: &Arguments,
    tools: &Tools,
    disk_tools: &DiskTools,
    image: &Path,
) -> Result<()> {
    let disks = Disks { directory: workspace::scratch()?, tools, disk_tools, image };
    for pc in PCS.iter().filter(|pc| arguments.wants(pc.name)) {
        summary.suite(&format!("pc image, {}", pc.name.trim_start_matches("pc-")), |suite| {
            let words = Words::default().value("filter", Some(pc.filter).filter(|filter| !filter.is_empty()));
            let (outcome, screen) = disks.boot(pc, &words, arguments)?;
            if guests::count(suite, &outcome, false) {
                outcome.show_tail();
            }
            let found = format!("Atoll on {}, found {};", cores::cores(pc.cores.into()), pc.found);
            suite.check(&format!("{}-finds-its-cores", pc.name), says(&outcome, &found));
            if !pc.has_exit_device {
                suite.check(&format!("{}-screen", pc.name), screen.and_then(|screen| shows(&screen, "P A S S")));
            }
            Ok(())
        })?;
    }
    if arguments.wants(FAILURE) {
        summary.suite("pc image, failure", |suite| failure(suite, arguments, &disks))?;
    }
    Ok(())
}

/// A program that fails while other cores run on: all of them stop, and the reason is seen.
fn failure(suite: &mut Suite, arguments: &Arguments, disks: &Disks<'_>) -> Result<()> {
    let pc = Pc { filter: "", ..pc(FAILURE, "pc", "4", 4) };
    let words = Words::default().value("program", Some("fatal")).value("case", Some("panics"));
    let (outcome, screen) = disks.boot(&pc, &words, arguments)?;
    let verdict = match outcome.verdict() {
        Ok(()) => Err(anyhow::anyhow!("it has ended well")),
        Err(error) if error.to_string().contains("panicked") => screen.and_then(|screen| {
            shows(&screen, "F A I L")?;
            shows(&screen, "@done failed")
        }),
        Err(error) => Err(error),
    };
    suite.check(FAILURE, verdict);
    Ok(())
}

fn says(outcome: &Outcome, found: &str) -> Result<()> {
    ensure!(outcome.transcript.text.iter().any(|line| line.contains(found)), "no line says `{found}`");
    Ok(())
}

fn shows(screen: &str, word: &str) -> Result<()> {
    ensure!(screen.contains(word), "the screen does not show `{word}` but ends in `{}`", last_line(screen));
    Ok(())
}

fn last_line(text: &str) -> &str {
    text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default()
}

/// Disks with one kernel and several command lines.
struct Disks<'a> {
    directory: tempfile::TempDir,
    tools: &'a Tools,
    disk_tools: &'a DiskTools,
    image: &'a Path,
}

impl Disks<'_> {
    /// The disk for a command line; it is made once.
    fn disk(&self, words: &Words) -> Result<PathBuf> {
        let name = format!("{:08x}.img", crc32fast::hash(words.to_string().as_bytes()));
        let path = self.directory.path().join(name);
        if !path.exists() {
            let disk = Disk { image: self.image, inputs: &[], words };
            disk.make(self.disk_tools, &self.tools.objdump, &path)?;
        }
        Ok(path)
    }

    /// Boots a PC, and returns what it said and what its screen shows at the end.
    fn boot(&self, pc: &Pc, words: &Words, arguments: &Arguments) -> Result<(Outcome, Result<String>)> {
        let plan = Plan::new(pc.cores, 0, None, None)?;
        let words = words.clone().value("heap_kib", Some(plan.heap_kib)).value("heap0_kib", Some(plan.heap0_kib));
        let disk = self.disk(&words)?;
        let machine = FromDisk {
            qemu: &self.tools.qemu,
            disk: &disk,
            image: self.image,
            model: pc.model,
            processors: pc.processors,
            memory_mib: plan.memory_mib + FIRMWARE_MIB,
            has_exit_device: pc.has_exit_device,
        };
        let mut staged = machine.stage()?;
        let progress = Progress::new(pc.name);
        let mut done = 0;
        let mut screen = None;
        let look = || screen = Some(staged.inquiry.screen());
        let outcome =
            guest::run_halting(pc.name, &mut staged.command, &staged.inquiry, arguments.limit(), look, |event| {
                if matches!(event, Event::Test) {
                    done += 1;
                    progress.say(format!("{}: {done} tests", pc.name));
                }
            })?;
        Ok((outcome, screen.context("it was gone before anybody could look at its screen").flatten()))
    }
}
