//! Programs that have to end the machine, each with a report that says why. Each has a boot of its own.

use alloc::{format, vec::Vec};

use collectives::{Class, Group, Window};
use hal::{Core, CoreId, LINE_BYTES, MpbLine, kind};

use crate::{Context, check::Outcome, exposed, hazards, memory::shared};

/// What can be run, and a part of the report that has to come, the same on every backend. What follows ` in ` is where,
/// and comes where `cargo xtask` looks at the report.
pub const FATAL: &[(&str, &str)] = &[
    ("never_posts", "the post of window 0 from core 0"),
    ("never_completes", "origins to complete on window 0"),
    ("register_is_never_freed", "the own match vector"),
    ("calls_something_else", "calls broadcast of 1 u8 with root 0, rank 0 barrier"),
    ("only_sends", "a message being received from core 0"),
    ("undrained_flag", "has not drained its write-combine buffer"),
    ("ends_without_draining", "core 0 has not drained its write-combine buffer"),
    ("cached_match_vector", "a post that an eviction has wiped out from core 2"),
    ("reads_unmapped", " of core 0 is not mapped on core"),
    ("puts_too_late", " of core 0 is not exposed"),
    ("reads_beyond_an_mpb", "MPB line 60000 of core 0 does not exist"),
    ("keeps_hold", "core 1 has not let go of exposed memory "),
    ("keeps_a_view", "a local view is left of exposed memory "),
    ("panics", "a rank that panics"),
    ("fails", "rank 0 failed: a rank that fails"),
    ("waits_in_a_circle", "core 0 waits for core 1 waits for core 0; core "),
    ("reads_null", "core 0: read of 0x20, where it has no memory, in reads_null (tests/src/fatal.rs:"),
    ("writes_wild", "core 0: write to 0x70000000, where it has no memory, in writes (tests/src/fatal.rs:"),
    ("writes_below_zero", "core 0: write to 0xfffff000, where it has no memory, in writes (tests/src/fatal.rs:"),
    ("jumps_into_nothing", "core 0: jump to 0x20, where no code is, in jumps_into_nothing (tests/src/fatal.rs:"),
    (
        "overflows_its_stack",
        "core 0: stack overflow: its stack has 256 KiB; raise stack_kib=, in bottomless (tests/src/fatal.rs:",
    ),
    (
        "exhausts_its_heap",
        "core 0: its heap of 4096 KiB has no room for 65536 bytes; raise heap0_kib=, in exhausts_its_heap (tests/src/fatal.rs:",
    ),
];

/// More programs. The first three end when somebody loses patience: no time passes in `loops`, and in `computes_for_ages`
/// nobody runs for a long time. Of the last one backends do not say the same: a core cannot read what another one has made in its private memory.
pub const MORE: [&str; 4] = ["loops", "passes_time", "computes_for_ages", "waits_by_a_name_of_its_own"];

/// An address near 0, as that of a field of nothing.
const NEAR_NULL: usize = 0x20;

/// An address where no core has anything, on any backend.
const WILD: usize = 0x7000_0000;

/// Runs the program with this name. Collective.
///
/// # Errors
/// What the program failed with; if it is none, it should have.
///
/// # Panics
/// As some of them have to, and if there is no such program.
pub fn run<C: Core>(name: &str, context: &mut Context<'_, '_, C>) -> Outcome {
    match name {
        "never_posts" => never_posts(context),
        "never_completes" => never_completes(context),
        "register_is_never_freed" => register_is_never_freed(context),
        "calls_something_else" => calls_something_else(context),
        "only_sends" => only_sends(context),
        "undrained_flag" => undrained_flag(context),
        "ends_without_draining" => ends_without_draining(context),
        "cached_match_vector" => hazards::cached_match_vector(context),
        "reads_unmapped" => exposed::reads_unmapped(context),
        "puts_too_late" => exposed::puts_too_late(context),
        "reads_beyond_an_mpb" => {
            let beyond = MpbLine { line: 60_000, ..MpbLine::new(CoreId::new(0), 1) };
            context.hal().load_line(beyond);
            Ok(())
        }
        "keeps_hold" => exposed::keeps_hold(context),
        "keeps_a_view" => exposed::keeps_a_view(context),
        "panics" if context.rank() == 0 => panic!("a rank that panics"),
        "fails" if context.rank() == 0 => Err(crate::Failed("a rank that fails".into())),
        "overflows_its_stack" if context.rank() == 0 => {
            core::hint::black_box(bottomless(0));
            Ok(())
        }
        "reads_null" if context.rank() == 0 => {
            reads_null();
            Ok(())
        }
        "writes_wild" if context.rank() == 0 => {
            writes(WILD);
            Ok(())
        }
        "writes_below_zero" if context.rank() == 0 => {
            writes(0xFFFF_F000);
            Ok(())
        }
        "jumps_into_nothing" if context.rank() == 0 => {
            jumps_into_nothing();
            Ok(())
        }
        "exhausts_its_heap" if context.rank() == 0 => {
            exhausts_its_heap();
            Ok(())
        }
        "loops" if context.rank() == 0 => loops(),
        "passes_time" if context.rank() == 0 => passes_time(context),
        "computes_for_ages" => computes_for_ages(context),
        "waits_in_a_circle" => waits_in_a_circle(context),
        "waits_by_a_name_of_its_own" => waits_by_a_name_of_its_own(context),
        "panics"
        | "fails"
        | "overflows_its_stack"
        | "reads_null"
        | "writes_wild"
        | "writes_below_zero"
        | "jumps_into_nothing"
        | "exhausts_its_heap"
        | "loops"
        | "passes_time" => {
            context.comm.barrier();
            context.comm.barrier();
            Ok(())
        }
        _ => panic!("there is no fatal test {name}"),
    }
}

/// Calls itself for ever, with something on the stack.
#[expect(unconditional_recursion, reason = "that is the point")]
fn bottomless(depth: usize) -> usize {
    let filled = core::hint::black_box([depth; 64]);
    bottomless(depth + 1) + filled[depth % 64]
}

#[inline(never)]
fn reads_null() {
    // SAFETY: none. This is the mistake.
    core::hint::black_box(unsafe { core::ptr::with_exposed_provenance::<u32>(NEAR_NULL).read_volatile() });
}

#[inline(never)]
fn writes(address: usize) {
    // SAFETY: none. This is the mistake.
    unsafe { core::ptr::with_exposed_provenance_mut::<u32>(address).write_volatile(1) }
}

#[inline(never)]
fn jumps_into_nothing() {
    // SAFETY: none. This is the mistake.
    let nothing: fn() -> u32 = unsafe { core::mem::transmute(core::hint::black_box(NEAR_NULL)) };
    core::hint::black_box(nothing() + 1);
}

#[inline(never)]
fn exhausts_its_heap() {
    const BLOCKS: usize = 1 << 12;
    let mut kept = Vec::with_capacity(BLOCKS);
    for _ in 0..BLOCKS {
        kept.push(alloc::vec![0u8; 1 << 16]);
    }
    core::hint::black_box(kept);
}

/// Neither waits nor ends.
#[inline(never)]
fn loops() -> ! {
    loop {
        core::hint::black_box(());
    }
}

/// Looks at a line for ever, in no wait.
#[inline(never)]
fn passes_time<C: Core>(context: &mut Context<'_, '_, C>) -> ! {
    loop {
        context.hal().invalidate_mpb();
        core::hint::black_box(context.hal().load_line(MpbLine::new(CoreId::new(0), 1)));
    }
}

/// Rank 0 computes for a long time, while the others look at a line of its.
fn computes_for_ages<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (hal, line) = (context.hal(), crate::memory::spare_line(context, 0, 0));
    if context.rank() == 0 {
        hal.compute(1 << 44);
        hal.store(line, 0, &[1]);
        hal.drain();
    } else {
        hal.wait(&[hal::Place::Line(line)], hal::Reason::new("ages to pass"), |poll| {
            (poll.line(0).0[0] == 1).then_some(())
        });
    }
    Ok(())
}

/// The first two ranks wait for each other.
fn waits_in_a_circle<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    if context.rank() < 2 {
        if context.rank() == 0 {
            // Comes long after the other one.
            context.hal().compute(100_000);
        }
        context.comm.receive(&mut [0], 1 - context.rank())?;
    }
    Ok(())
}

/// All wait for ever: rank 1 for something whose name it has made, and rank 0 last, which therefore tells what they wait for.
fn waits_by_a_name_of_its_own<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let words = shared::<_, kind::Uncached>(context, LINE_BYTES)?;
    let what = if context.rank() == 1 { &*format!("the word of rank {}", context.rank()).leak() } else { "a word" };
    if context.rank() == 0 {
        context.hal().compute(100_000);
    }
    let word = [hal::Place::Word(words, 0)];
    context.hal().wait(&word, hal::Reason::new(what), |poll| (poll.word(0) == 1).then_some(()));
    Ok(())
}

/// Rank 0 never posts; all others want to put to it.
fn never_posts<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (window, _view) = Window::<_, u32>::create(context.comm, context.caches, 1)?;
    if context.rank() != 0 {
        let access = window.start(&Group::of([0])?)?;
        access.put(0, 0, &[1])?;
        access.complete();
    }
    Ok(())
}

/// Rank 0 waits for an origin that never starts.
fn never_completes<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (window, view) = Window::<_, u32>::create(context.comm, context.caches, 1)?;
    if context.rank() == 0 {
        let last = Group::of([context.size() - 1])?;
        let exposure = window.post(view, context.caches, &last)?;
        drop(exposure.wait(context.caches));
    }
    Ok(())
}

/// Somebody keeps the register of rank 0.
fn register_is_never_freed<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (window, view) = Window::<_, u32>::with_class(context.comm, context.caches, 1, Class::TriggerOnly)?;
    let all = context.comm.group();
    let exposure = window.post(view, context.caches, &all)?;
    context.comm.barrier();
    if context.rank() == context.size() - 1 {
        core::mem::forget(context.hal().lock(CoreId::new(0), "a register that is kept"));
    }
    context.comm.barrier();
    let access = window.start(&all)?;
    access.complete();
    drop(exposure.wait(context.caches));
    Ok(())
}

/// The last rank broadcasts where all others are in a barrier, with arguments checked.
fn calls_something_else<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    context.comm.check_arguments(true);
    if context.rank() + 1 < context.size() {
        context.comm.barrier();
        return Ok(());
    }
    Ok(context.comm.broadcast(&mut [0_u8], 0)?)
}

/// Ranks 0 and 1 send to each other, and neither receives.
fn only_sends<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let rank = context.rank();
    if rank < 2 { Ok(context.comm.send(&[rank as u8], 1 - rank)?) } else { Ok(()) }
}

/// A flag whose drain was forgotten: the one who waits for it waits for ever, and the report names the culprit's
/// buffer.
fn undrained_flag<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let hal = context.hal();
    let words = shared::<_, kind::Uncached>(context, LINE_BYTES)?;
    let flag = crate::memory::spare_line(context, 0, 0);
    if context.rank() == context.size() - 1 {
        hal.store(flag, 0, &[1]);
        let answer = [hal::Place::Word(words, 0)];
        hal.wait(&answer, hal::Reason::new("an answer"), |poll| (poll.word(0) == 1).then_some(()));
    } else if context.rank() == 0 {
        hal.wait(&[hal::Place::Line(flag)], hal::Reason::new("a flag"), |poll| (poll.line(0).0[0] == 1).then_some(()));
        hal.store_word(words, 0, 1);
    }
    Ok(())
}

/// The same by a core that has finished: rank 0 stores a flag and is gone.
fn ends_without_draining<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let hal = context.hal();
    let flag = crate::memory::spare_line(context, context.size() - 1, 0);
    if context.rank() == 0 {
        hal.store(flag, 0, &[1]);
    } else if context.rank() == context.size() - 1 {
        hal.wait(&[hal::Place::Line(flag)], hal::Reason::new("a flag"), |poll| (poll.line(0).0[0] == 1).then_some(()));
    }
    Ok(())
}
