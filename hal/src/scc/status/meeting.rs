//! How a core meets all others, by what each says in the [page of status words](status_page): at the start, at the end, or never.

use crate::{
    CoreId,
    bare::{cpu, this_core::this_core},
    scc::{
        console,
        exit::{
            failure::{fail, stuck_cycles},
            machine::stop_if_ending,
        },
        handed::core_count,
        status::{
            backoff::Backoff,
            status_page::{self, State},
        },
    },
};

/// Says that this core is ready, and waits for all others.
pub(crate) fn gather() {
    status_page::set(State::Arrived);
    let begin = cpu::rdtsc();
    let limit = stuck_cycles().filter(|_| this_core() == 0);
    let cores = (0..core_count()).map(CoreId::new);
    let mut backoff = Backoff::new(this_core() as u32);
    for core in cores.clone() {
        while status_page::of(core) == State::Absent {
            stop_if_ending();
            if limit.is_some_and(|limit| cpu::rdtsc() - begin > limit) {
                let missing = cores.clone().filter(|&core| status_page::of(core) == State::Absent).count();
                fail(format_args!(
                    "{missing} of {} cores did not start, the first of them core {}",
                    core_count(),
                    core.index()
                ));
            }
            backoff.wait();
        }
    }
}

/// Waits until all cores are as they should be; stops this core if the machine ends before.
pub(crate) fn await_all(is_right: impl Fn(State) -> bool) {
    let mut backoff = Backoff::new(this_core() as u32);
    for core in 0..core_count() {
        while !is_right(status_page::of(CoreId::new(core))) {
            stop_if_ending();
            backoff.wait();
        }
    }
}

/// Prints what the other cores have said they wait for.
pub(crate) fn tell_who_waits() {
    if !status_page::is_reached() {
        return;
    }
    for core in (0..core_count()).filter(|core| *core != this_core()) {
        if let Some(reason) = status_page::wait_of(core) {
            console::write_urgent(format_args!("  core {core} waits for {reason}\n"));
        }
    }
    for (core, line) in status_page::undrained() {
        console::write_urgent(format_args!(
            "  {core} has not drained its write-combine buffer: nobody has seen what it stored to {line}\n"
        ));
    }
}
