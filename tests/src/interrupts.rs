//! Interrupts between cores.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicU32, Ordering::SeqCst};

use collectives::Comm;
use hal::{Core, CoreId, Reason, Shielded};

use crate::{Context, Failed, check, check::Outcome, check_eq};

/// How often a handler came.
type Times = Arc<AtomicU32>;

fn count<C: Core>(_core: &C, times: &Times) {
    times.fetch_add(1, SeqCst);
}

fn listen<'c, C: Core>(context: &Context<'_, 'c, C>) -> (Times, Option<Shielded<'c, C, Times>>) {
    let times = Times::default();
    let handler = context.hal().handle_interrupts(times.clone(), count);
    (times, handler)
}

/// Waits until a handler has come so often: interrupts are under way for some time.
fn wait_for<C: Core>(hal: &C, times: &Times, wanted: u32) {
    hal.wait(&[], Reason::new("interrupts"), |_| (times.load(SeqCst) >= wanted).then_some(()));
}

/// Computes for a while without an operation of the core, and lets others run where cores share a processor. In
/// virtual time this takes none, so there it accounts for some.
pub fn work<C: Core>(hal: &C, rounds: u32) {
    // A core of a board has its processor to itself, and is not to look as if it waited.
    let share = if cfg!(target_vendor = "scc") { || () } else { core::hint::spin_loop };
    (0..rounds).for_each(|round| {
        core::hint::black_box(round);
        share();
    });
    hal.compute(u64::from(rounds) * 200);
}

/// Tries something that has to happen while ranks do so many rounds of [`work`], until it has on all of them. On a
/// host that lets another core's thread wait for long, more rounds may be needed.
pub fn while_working<C: Core>(comm: &Comm<'_, C>, mut attempt: impl FnMut(u32) -> Result<bool, Failed>) -> Outcome {
    let mut rounds = rounds(comm.size());
    for _ in 0..5 {
        let mut happened = [u8::from(attempt(rounds)?)];
        if comm.rank() == 0 {
            for from in 1..comm.size() {
                let mut other = [0];
                comm.receive(&mut other, from)?;
                happened[0] &= other[0];
            }
        } else {
            comm.send(&happened, 0)?;
        }
        comm.broadcast(&mut happened, 0)?;
        if happened[0] == 1 {
            return Ok(());
        }
        rounds *= 8;
    }
    check!(false, "it did not happen within {} rounds of work", rounds / 8);
    Ok(())
}

/// How long [`work`] has to last for others to do something meanwhile; many emulated cores take long for a round.
fn rounds(cores: usize) -> u32 {
    match cores {
        0..=5 => 20_000,
        6..=48 => 3_000,
        _ => 600,
    }
}

/// When a handler came last, by the lower half of the clock.
fn note_time<C: Core>(core: &C, time: &Times) {
    time.store(core.now() as u32 | 1, SeqCst);
}

/// A program that does nothing but compute is interrupted.
pub fn come_while_programs_compute<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (rank, size, hal) = (context.rank(), context.size(), context.hal());
    let time = Times::default();
    let handler = hal.handle_interrupts(time.clone(), note_time);
    check!(handler.is_some(), "there is a handler already");
    while_working(context.comm, |rounds| {
        time.store(0, SeqCst);
        context.comm.barrier();
        if rank == 0 {
            (1..size).for_each(|core| hal.raise_interrupt(CoreId::new(core)));
            return Ok(true);
        }
        work(hal, rounds);
        // What comes at the end of this operation comes later than that.
        let end = hal.now() as u32;
        wait_for(hal, &time, 1);
        Ok((end.wrapping_sub(time.load(SeqCst)) as i32) > 0)
    })
}

/// What is raised meanwhile comes at the end, once.
pub fn are_deferred<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let hal = context.hal();
    let (times, _handler) = listen(context);
    let me = CoreId::new(context.rank());
    let within = hal.defer_interrupts(|| {
        (0..3).for_each(|_| hal.raise_interrupt(me));
        times.load(SeqCst)
    });
    wait_for(hal, &times, 1);
    hal.compute(10_000);
    check_eq!((within, times.load(SeqCst)), (0, 1), "interrupts within a deferred action, and after");
    if context.size() > 1 && context.rank() == 0 {
        let register = hal.lock(CoreId::new(1), "a test");
        hal.raise_interrupt(me);
        hal.compute(10_000);
        check_eq!(times.load(SeqCst), 1, "interrupts while a register is held");
        drop(register);
        wait_for(hal, &times, 2);
    }
    context.comm.barrier();
    Ok(())
}

/// All cores interrupt all others at once; each is interrupted, and at most as often as somebody did it.
pub fn come_from_everybody<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (rank, size, hal) = (context.rank(), context.size(), context.hal());
    let (times, _handler) = listen(context);
    let before = hal.counters();
    context.comm.barrier();
    for step in 1..size.min(20) {
        hal.raise_interrupt(CoreId::new((rank + step) % size));
    }
    context.comm.barrier();
    wait_for(hal, &times, u32::from(size > 1));
    // More may come in between.
    let handled = u64::from(times.load(SeqCst));
    let did = hal.counters() - before;
    let handled = handled..=u64::from(times.load(SeqCst));
    let raised = size.min(20) as u64 - 1;
    check_eq!(did.interrupts_raised, raised, "interrupts raised");
    check!(handled.contains(&did.interrupts_taken), "{} interrupts taken, {handled:?} handled", did.interrupts_taken);
    check!((raised.min(1)..=raised).contains(&did.interrupts_taken), "{} interrupts taken", did.interrupts_taken);
    context.comm.barrier();
    Ok(())
}
