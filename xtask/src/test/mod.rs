//! All tests: on the host, in guests of several sizes, on emulated boards, and of the main job on all backends.

mod arguments;
mod backends;
mod board;
mod c_checked;
mod c_families;
mod c_programs;
mod cargo;
mod clusters;
mod debugger;
#[cfg(test)]
mod failures;
mod guests;
mod host;
mod image_checks;
mod jobs;
mod kit;
mod main_job;
mod miri;
mod page;
mod pc;
mod perfetto;
mod rounds;
mod summary;
mod trace_files;
mod traces;

pub(crate) use arguments::Arguments;

use crate::{command_line, debugger::Stub, machine};
use anyhow::{Result, bail};
use arguments::Stage;
use guests::Guest;
use jobs::Job;
use kit::Kit;
use std::num::NonZero;

/// Sizes at which the in-kernel tests boot, and what tests there have to depend on, if not all run: a full chip says nothing
/// about what does not depend on size, and the largest machine nothing about what is the same code on each.
const CORES: [(u16, Option<&str>); 5] =
    [(1, None), (2, None), (5, None), (48, Some("size")), (crate::cores::MOST, Some(guests::LARGEST))];

/// Carries out `cargo xtask test`.
pub(crate) fn main(arguments: &Arguments) -> Result<()> {
    if let Some(filter) = &arguments.filter {
        // It becomes a word of the kernel's command line.
        crate::kernel_line::KernelLine::default().free(&[format!("x={filter}")])?;
    }
    for guest in guests(arguments) {
        machine::check_domains(guest.domains, guest.cores.into())?;
    }
    let stages = arguments.stages();
    let kit = Kit::new(arguments);
    if arguments.filter.is_none() {
        // Everything is needed, and what is missing is asked for before anything takes time.
        kit.prepare_all(&stages)?;
    }
    let on_host = stages.iter().any(|stage| [Stage::Host, Stage::Sim].contains(stage));
    let binaries = if on_host { host::build(&stages, arguments.filter.as_deref())? } else { Vec::new() };
    let summary = jobs::run(jobs(&kit, &stages, binaries)?)?;
    if let (0, Some(filter)) = (summary.total(), &arguments.filter) {
        bail!("no test matches `{filter}`");
    }
    summary.print();
    if summary.failed() > 0 { Err(command_line::Said.into()) } else { Ok(()) }
}

/// The guests that in-kernel tests run in.
fn guests(arguments: &Arguments) -> Vec<Guest> {
    let chosen = |cores| Guest {
        cores,
        preempt: arguments.preempt,
        thread_multi: arguments.thread_multi,
        domains: arguments.domains,
        only: None,
    };
    match &arguments.cores {
        Some(list) => list.0.iter().copied().map(chosen).collect(),
        None => {
            let schedules = [
                Guest { preempt: Some(1), ..Guest::of(5) },
                Guest { thread_multi: true, ..Guest::of(2) },
                Guest { domains: NonZero::new(2), ..Guest::of(8) },
            ];
            let sizes = CORES.into_iter().map(|(cores, only)| Guest { only, ..chosen(cores) });
            sizes.chain(schedules).collect()
        }
    }
}

/// All jobs, in the order of the table. What a filter does not match is not built.
fn jobs<'t>(kit: &'t Kit<'t>, stages: &[Stage], binaries: Vec<host::Binary>) -> Result<Vec<Job<'t>>> {
    let arguments = kit.arguments;
    let has = |stage| stages.contains(&stage);
    // Whoever chooses sizes or schedules means those of one machine in QEMU.
    let is_plain = arguments.cores.is_none() && arguments.preempt.is_none() && !arguments.thread_multi;
    // The binaries for the host know the names of all in-kernel tests.
    let knows_names = has(Stage::Sim) && arguments.filter.is_some();
    let in_kernel = !knows_names || binaries.iter().any(host::Binary::is_in_kernel);

    let mut host: Vec<_> = host::jobs(kit, binaries).collect();
    let (mut qemu, mut board, mut pc) = (Vec::new(), Vec::new(), Vec::new());
    if has(Stage::Sim) {
        host.extend(c_programs::simulated(kit));
        host.extend(c_checked::jobs(kit));
        host.extend(c_checked::jobs_of_explorer(kit));
        host.extend(c_families::simulated(kit)?);
    }
    if has(Stage::Qemu) {
        qemu.extend(image_checks::jobs(kit));
        if in_kernel {
            qemu.extend(guests::jobs(kit, guests(arguments)));
        }
        if is_plain {
            qemu.extend(clusters::jobs(kit, in_kernel));
        }
        qemu.extend(main_job::jobs(kit).into_iter().chain(rounds::jobs(kit)).chain(traces::job(kit)));
        qemu.extend(debugger::job(kit, Stub::Qemu));
        qemu.extend(page::job(kit));
        qemu.extend(c_programs::in_qemu(kit));
        qemu.extend(c_families::in_qemu(kit)?);
    }
    if has(Stage::Board) {
        board.extend(image_checks::of_emulator(kit));
        if in_kernel && is_plain && arguments.domains.is_none() {
            board.extend(board::in_kernel(kit));
        }
        board.extend(board::jobs(kit));
        board.extend(c_programs::on_board(kit));
        board.extend(debugger::job(kit, Stub::Board));
    }
    if has(Stage::Pc) && is_plain {
        pc.extend(pc::jobs(kit));
    }

    // The names of fatal programs, and of the tests of the emulator's processors, are known when these are built; so they
    // are looked through where nothing else matches.
    let is_found = !(host.is_empty() && qemu.is_empty() && board.is_empty() && pc.is_empty());
    let searches = !knows_names || !is_found;
    if has(Stage::Qemu) && (searches || arguments.wants("fatal") || arguments.wants(guests::COHERENT)) {
        qemu.push(Job::new("fatal programs", 20, |suite| guests::fatal(suite, kit)));
    }
    if has(Stage::Board) && searches {
        kit.prepare(&[Stage::Board])?;
        board.extend(host::jobs(kit, host::of_emulator(kit)?));
    }
    if has(Stage::Host) {
        host.push(host::doc_tests(kit));
        host.extend(image_checks::under_miri(kit));
    }
    for (stage, jobs) in [(Stage::Qemu, &qemu), (Stage::Board, &board), (Stage::Pc, &pc)] {
        if !jobs.is_empty() {
            kit.prepare(&[stage])?;
        }
    }
    Ok(host.into_iter().chain(qemu).chain(board).chain(pc).collect())
}
