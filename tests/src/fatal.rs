//! Programs that have to end the machine, each with a report that says why. Each has a boot of its own.

use collectives::{Class, Group, Window};
use hal::{Core, CoreId, LINE_BYTES, kind};

use crate::{Context, check::Outcome, exposed, hazards, memory::shared};

/// What can be run, and a part of the report that has to come.
pub const FATAL: &[(&str, &str)] = &[
    ("never_posts", "the post of window 0 from core 0"),
    ("never_completes", "origins to complete on window 0"),
    ("register_is_never_freed", "the own match vector"),
    ("calls_something_else", "calls broadcast of 1 u8 with root 0, rank 0 barrier"),
    ("only_sends", "a message being received from core 0"),
    ("undrained_flag", "has not drained its write-combine buffer"),
    ("ends_without_draining", "core 0 has not drained its write-combine buffer"),
    ("cached_match_vector", "a post that an eviction has wiped out from core 2"),
    ("reads_unmapped", "exposed memory 0x0 of core 0 is not mapped on core"),
    ("puts_too_late", "exposed memory 0x0 of core 0 is not exposed"),
    ("keeps_a_view", "a local view is left of exposed memory 0x0 of core 0"),
    ("panics", "a rank that panics"),
    ("fails", "rank 0 failed: a rank that fails"),
    // The host has no report of its own for this.
    #[cfg(target_os = "none")]
    ("overflows_its_stack", "stack overflow on core 0"),
];

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
        "keeps_a_view" => exposed::keeps_a_view(context),
        "panics" if context.rank() == 0 => panic!("a rank that panics"),
        "fails" if context.rank() == 0 => Err(crate::Failed("a rank that fails".into())),
        "overflows_its_stack" if context.rank() == 0 => {
            core::hint::black_box(bottomless(0));
            Ok(())
        }
        "panics" | "fails" | "overflows_its_stack" => {
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
