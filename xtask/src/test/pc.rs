//! The in-kernel tests on PCs: booted from a disk, without anything that only QEMU has.

use super::{
    guests::{self, Counting},
    jobs::Job,
    kit::Kit,
    summary::Suite,
};
use crate::{
    cores,
    flash::pc::disk::Disk,
    guest::{self, Outcome},
    kernel_line::KernelLine,
    memory::Plan,
    program::Program,
    qemu::FromDisk,
    workspace,
};
use anyhow::{Context, Result, ensure};

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
    /// The tests that run on it by name, and by what they depend on; all of them if nothing is said.
    filter: Option<&'static str>,
    only: Option<&'static str>,
    /// How the kernel has to find its cores, in its own words.
    found: &'static str,
}

/// All of them: two chipsets, of which one has the device that ends QEMU and one has not; and processors that are
/// numbered or listed otherwise. One of them has all tests, the others those that depend on the machine.
const PCS: [Pc; 7] = [
    Pc { only: MACHINE, ..pc("pc-i440fx-1", "pc", "1", 1) },
    Pc { only: MACHINE, ..pc("pc-i440fx-4", "pc", "4", 4) },
    Pc { only: MACHINE, has_exit_device: true, ..pc("pc-q35-1", "q35", "1", 1) },
    Pc { has_exit_device: true, ..pc("pc-q35-4", "q35", "4", 4) },
    Pc { only: MACHINE, has_exit_device: true, ..pc("pc-q35-16", "q35", "16", 16) },
    // The numbers of their local APICs are 0, 1, 2, 4, 5 and 6.
    Pc { filter: FEW, ..pc("pc-numbers-with-gaps", "q35", "6,sockets=2,cores=3", 6) },
    Pc { filter: FEW, found: "by the MP table", ..pc("pc-mp-table", "pc,acpi=off", "4,sockets=4,cores=1", 4) },
];

/// What tests depend on that run on all PCs.
const MACHINE: Option<&str> = Some("machine");

/// Tests that need all cores, and messages between them.
const FEW: Option<&str> = Some("interrupts::");

/// The boot of a program that fails.
const FAILURE: &str = "pc-tells-failure";

const fn pc(name: &'static str, model: &'static str, processors: &'static str, cores: u16) -> Pc {
    Pc { name, model, processors, cores, has_exit_device: false, filter: None, only: None, found: "by ACPI" }
}

/// Jobs that boot PCs from disks with the image of the tests.
pub(super) fn jobs<'t>(kit: &'t Kit<'t>) -> Vec<Job<'t>> {
    let pcs = PCS.iter().filter(|pc| kit.arguments.wants(pc.name));
    let mut jobs: Vec<_> = pcs
        .map(|pc| {
            let name = format!("pc image, {}", pc.name.trim_start_matches("pc-"));
            Job::new(name, 5 + 2 * usize::from(pc.cores), move |suite| run(suite, kit, pc))
        })
        .collect();
    if kit.arguments.wants(FAILURE) {
        jobs.push(Job::new("pc image, failure", 5, |suite| failure(suite, kit)));
    }
    jobs
}

fn run(suite: &mut Suite, kit: &Kit<'_>, pc: &Pc) -> Result<()> {
    let words = KernelLine::default().value("filter", pc.filter).value("only", pc.only);
    let (outcome, screen) = boot(kit, pc, &words)?;
    guests::count(suite, &outcome, false);
    let found = format!("Atoll on {}, found {};", cores::cores(pc.cores.into()), pc.found);
    suite.check(&format!("{}-finds-its-cores", pc.name), says(&outcome, &found));
    if !pc.has_exit_device {
        suite.check(&format!("{}-screen", pc.name), screen.and_then(|screen| shows(&screen, "P A S S")));
    }
    Ok(())
}

/// A program that fails while other cores run on: all of them stop, and the reason is seen.
fn failure(suite: &mut Suite, kit: &Kit<'_>) -> Result<()> {
    let pc = pc(FAILURE, "pc", "4", 4);
    let words = KernelLine::default().value("program", Some("fatal")).value("case", Some("panics"));
    let (outcome, screen) = boot(kit, &pc, &words)?;
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

/// Boots a PC from a disk of its own, and returns what it said and what its screen shows at the end.
fn boot(kit: &Kit<'_>, pc: &Pc, words: &KernelLine) -> Result<(Outcome, Result<String>)> {
    let image = &kit.image(&Program::integration())?.executable;
    let plan = Plan::new(pc.cores, 0, None, None)?;
    let words = words.clone().value("heap_kib", Some(plan.heap_kib)).value("heap0_kib", Some(plan.heap0_kib));
    let directory = workspace::scratch()?;
    let disk = directory.path().join("disk.img");
    Disk { image, inputs: &[], words: &words }.make(kit.disk_tools()?, &kit.tools()?.linker, &disk)?;
    let machine = FromDisk {
        qemu: &kit.tools()?.qemu,
        disk: &disk,
        image,
        model: pc.model,
        processors: pc.processors,
        memory_mib: plan.memory_mib + FIRMWARE_MIB,
        has_exit_device: pc.has_exit_device,
    };
    let mut staged = machine.stage()?;
    let counting = Counting::new(pc.name);
    let mut screen = None;
    let look = || screen = Some(staged.monitor.screen());
    let outcome = guest::run_halting(pc.name, &mut staged.command, &staged.monitor, kit.limit(), look, |event| {
        counting.watch(event)
    })?;
    Ok((outcome, screen.context("it was gone before anybody could look at its screen").flatten()))
}
