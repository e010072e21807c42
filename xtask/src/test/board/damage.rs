//! Damage of every kind to what is flashed. Each has to be noticed, and for the right reason.

use super::{Job, Kit, SCC, Suite, corrupt, emulated, ends_with_failure, some, suite_of};
use crate::{guest::Outcome, kernel_line::KernelLine, program::Program};
use anyhow::{Result, bail, ensure};
use std::path::Path;

/// Cores in these tests: two on one tile, and one elsewhere.
const CORES: u16 = 3;

/// Seconds of a board's time after which a wait is given up.
const STUCK_S: u64 = 2;

/// The file with the memory of the cores' controller.
const MEMORY: &str = "mch_0_0.32.obj";

/// Where the lookup tables of a tile's first and second core begin among its registers.
const FIRST: u32 = 0x800;
const SECOND: u32 = 0x1000;

/// What is damaged.
enum What {
    /// Files in the directory.
    Files(fn(&Path) -> Result<()>),
    /// A function of the image, which returns at once.
    Function(&'static str),
    /// Instructions of the image, which do nothing; a section says where they are.
    Instructions(&'static str),
}

/// A kind of damage.
pub(in super::super) struct Damage {
    pub(in super::super) name: &'static str,
    what: What,
    /// The in-kernel tests that have to notice it.
    tests: &'static str,
    /// What has to be said of it.
    reason: &'static str,
    /// How many cores have come to do something that is traced.
    traced: usize,
}

pub(in super::super) static DAMAGES: [Damage; 10] = [
    Damage {
        // Core 1 looks for the MPB of tile (1, 0) on a tile that there is not.
        name: "board-notices-lut-nowhere",
        what: What::Files(|directory| corrupt::lut_line(directory, 0, SECOND + 8 * 0xC1, |entry| entry | 0xF << 13)),
        tests: "barrier::",
        reason: "names a tile that does not exist",
        traced: 3,
    },
    Damage {
        // It finds that of tile (2, 0) there.
        name: "board-notices-lut-mpb",
        what: What::Files(|directory| corrupt::lut_line(directory, 0, SECOND + 8 * 0xC1, |entry| entry ^ 3 << 13)),
        tests: "barrier::",
        // How far cores come before it matters is the optimiser's choice.
        reason: "was the first to wait, for ",
        traced: 3,
    },
    Damage {
        // Core 2 has shared memory of its own.
        name: "board-notices-lut-shared",
        what: What::Files(|directory| corrupt::lut_line(directory, 1, FIRST + 8 * 0x80, |entry| entry + 1)),
        tests: "barrier::",
        reason: "rank 2 had not come to barrier",
        traced: 3,
    },
    Damage {
        // The memory that core 2 finds is not what was loaded for it.
        name: "board-notices-lut-private",
        what: What::Files(|directory| corrupt::lut_line(directory, 1, FIRST, |entry| entry + 1)),
        tests: "barrier::",
        reason: "does not allow: core 2 at ",
        traced: 3,
    },
    Damage {
        // The reset page of core 2 begins elsewhere.
        name: "board-notices-origin-reset",
        what: What::Files(|directory| corrupt::origin(&directory.join(MEMORY), 0)),
        tests: "barrier::",
        reason: "does not allow: core 2 at ",
        traced: 2,
    },
    Damage {
        // What core 2 is told is elsewhere.
        name: "board-notices-origin-handed",
        what: What::Files(|directory| corrupt::origin(&directory.join(MEMORY), 3)),
        tests: "barrier::",
        reason: "there is no description of the board",
        traced: 3,
    },
    Damage {
        name: "board-notices-reset-page",
        what: What::Files(|directory| corrupt::reset_page(&directory.join(MEMORY))),
        tests: "barrier::",
        reason: "core 0 at 0xfffffff0: there is no instruction",
        traced: 0,
    },
    Damage {
        name: "board-notices-missing-drain",
        what: What::Instructions(".atoll.drain"),
        tests: "barrier::",
        reason: "was the first to wait, for a barrier",
        traced: 3,
    },
    Damage {
        name: "board-notices-missing-invalidation",
        what: What::Instructions(".atoll.invalidate_mpb"),
        tests: "barrier::",
        reason: "was the first to wait, for a barrier",
        traced: 3,
    },
    Damage {
        name: "board-notices-missing-purge",
        what: What::Function("atoll_scc_purge"),
        tests: "coherence::",
        reason: "stored in round",
        traced: 3,
    },
];

/// Jobs that damage an image, or what is flashed of it, each in one way, and run it.
pub(super) fn jobs<'t>(kit: &'t Kit<'t>) -> impl Iterator<Item = Job<'t>> {
    let wanted = DAMAGES.iter().filter(|damage| kit.arguments.wants(damage.name));
    wanted.map(move |damage| Job::new("boards", 5, move |suite| run(suite, kit, damage)))
}

fn run(suite: &mut Suite, kit: &Kit<'_>, damage: &Damage) -> Result<()> {
    let words = KernelLine::default().value("filter", Some(damage.tests)).value("stuck_s", Some(STUCK_S));
    let flash = suite_of(SCC, &some(CORES), &words)?;
    let image = kit.board_image(&Program::integration())?;
    kit.emulator()?;
    suite.begin();
    let outcome = match damage.what {
        What::Files(change) => emulated(kit, damage.name, image, &flash, change)?,
        What::Function(name) => emulated(kit, damage.name, &corrupt::without(image, name)?, &flash, |_| Ok(()))?,
        What::Instructions(section) => {
            emulated(kit, damage.name, &corrupt::without_each(image, section)?, &flash, |_| Ok(()))?
        }
    };
    suite
        .check(damage.name, noticed(&outcome, damage.reason).and_then(|()| ends_with_failure(&outcome, damage.traced)));
    Ok(())
}

/// Demands that a board has failed for a reason.
fn noticed(outcome: &Outcome, reason: &str) -> Result<()> {
    let Err(verdict) = outcome.verdict() else { bail!("it was not noticed") };
    let failed = outcome.transcript.tests.iter().filter_map(|test| test.failure.clone());
    let reasons: Vec<_> = failed.chain([verdict.to_string()]).collect();
    let found = reasons.iter().any(|found| found.contains(reason));
    ensure!(found, "it was noticed as `{}` instead of `{reason}`", reasons.join("`, `"));
    Ok(())
}
