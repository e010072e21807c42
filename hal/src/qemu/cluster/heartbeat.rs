//! Signs of life: how the nodes of a cluster notice that one of them is gone.
//!
//! The timer interrupts core 0 of each node every 10 ms, whatever that core is doing. Each time it counts up the node's
//! own beat, and now and then looks at those of the others. A node that was killed or stopped beats no more, and every
//! other node reports it after the deadline and ends. Time is counted in a node's own ticks: one that was itself held
//! up, together with the others or not, gives them the time that it was given.
//!
//! A node that has ended with a report of its own says so, and the others follow it shortly after. Those that have come
//! to the same conclusion (a deadlock of all, another node's disappearance) have said so by then.
//!
//! The handler runs with the x87 as the interrupted code left it, so it must not use it.

use core::{
    fmt,
    sync::atomic::{AtomicU32, Ordering},
};

use crate::{
    bare::{cpu, port, private::Private, this_core::this_core},
    qemu::{
        cluster::{
            nodes::{self, MAX_NODES},
            notices::{self, Stage},
        },
        console,
        emulator::stuck,
        exit::{ending::is_ending, machine::exit},
        handed::facts::Membership,
        pc::pit,
    },
};

/// Interrupts of the timer in a second.
const TICKS_PER_S: u32 = 100;

/// Ticks from one look at the other nodes to the next.
const LOOK_TICKS: u32 = 10;

/// Seconds in which a node has to come up: a busy host lets processes that begin wait for long, and whoever has started them
/// sees one that does not begin.
const COMING_UP_S: u32 = 120;

/// Ticks that a node waits, after another one has failed, for a reason of its own to end.
const FOLLOW_TICKS: u32 = 50;

/// Ticks since this node's core 0 has the timer; read by all cores.
#[unsafe(link_section = ".emulator")]
static TICKS: AtomicU32 = AtomicU32::new(0);

/// Ticks of the processor's counter in one of the timer's, or 0 where nobody has measured them.
#[unsafe(link_section = ".emulator")]
static CYCLES_PER_TICK: AtomicU32 = AtomicU32::new(0);

/// The processor's counter when all nodes had come, in two halves. Each node's begins when its process does.
#[unsafe(link_section = ".emulator")]
static MEETING: [AtomicU32; 2] = [const { AtomicU32::new(0) }; 2];

/// A node's beat and when it was first seen.
#[derive(Clone, Copy)]
struct Sight {
    beat: u32,
    since: u32,
}

/// What core 0 saw of each node last.
static SIGHTS: Private<[Sight; MAX_NODES]> = Private::new([Sight { beat: 0, since: 0 }; MAX_NODES]);

/// Joins the cluster: begins to beat, and returns when all nodes have come. Called on core 0 of each node, when its
/// other cores have started and wait.
pub(crate) fn join() {
    let Some(own) = notices::own() else { return };
    start_timer();
    own.set_stage(Stage::Runs);
    // SAFETY: gates are loaded, and the start holds no locks here.
    unsafe { cpu::set_interrupts(true) }
    measure_cycles();
    while notices::nodes().into_iter().flatten().any(|node| node.stage() == Stage::Absent) {
        // What becomes of those that do not come is the handler's business.
        cpu::pause();
    }
    let now = cpu::rdtsc();
    MEETING[0].store(now as u32, Ordering::Relaxed);
    MEETING[1].store((now >> 32) as u32, Ordering::Relaxed);
}

/// What the processor's counter was when all nodes of a cluster had come, which is nearly the same moment for all; else 0.
/// The cores of a node begin later.
pub(crate) fn meeting() -> u64 {
    let [low, high] = MEETING.each_ref().map(|half| u64::from(half.load(Ordering::Relaxed)));
    high << 32 | low
}

/// Ticks of the processor's counter in a second, where they were measured.
pub(crate) fn cycles_per_second() -> Option<u64> {
    match CYCLES_PER_TICK.load(Ordering::Relaxed) {
        0 => None,
        cycles => Some(u64::from(cycles) * u64::from(TICKS_PER_S)),
    }
}

/// Ends this core's part in the node: core 0 goes on beating for the others.
pub(crate) fn rest() -> ! {
    if nodes::member().is_some() && this_core() == 0 {
        loop {
            // SAFETY: gates are loaded, and whoever ends holds no locks.
            unsafe { cpu::halt_until_interrupt() }
        }
    }
    cpu::park()
}

fn start_timer() {
    const RELOAD: u32 = pit::HZ / TICKS_PER_S;
    const SETTINGS: [(u16, u8); 4] = [
        (0x43, 0x34), // channel 0, both bytes, rate generator
        (0x40, RELOAD as u8),
        (0x40, (RELOAD >> 8) as u8),
        (0x21, 0xFE), // the controller lets the timer through and nothing else
    ];
    for (register, value) in SETTINGS {
        // SAFETY: registers of the timer and of the interrupt controller, whose vector for the timer has a gate; they
        // do not access memory.
        unsafe { port::out8(register, value) }
    }
}

/// Measures the processor's counter against the timer: the median of some ticks, as the host may be busy in one.
fn measure_cycles() {
    const SAMPLES: usize = 9;
    let next_tick = || {
        let now = TICKS.load(Ordering::Relaxed);
        while TICKS.load(Ordering::Relaxed) == now {
            cpu::pause();
        }
        cpu::rdtsc()
    };
    let mut before = next_tick();
    let mut samples: [u64; SAMPLES] = core::array::from_fn(|_| {
        let now = next_tick();
        now.wrapping_sub(core::mem::replace(&mut before, now))
    });
    samples.sort_unstable();
    CYCLES_PER_TICK.store(u32::try_from(samples[SAMPLES / 2]).unwrap_or(u32::MAX), Ordering::Relaxed);
}

/// What the timer's interrupt does; core 0 only, with interrupts off.
pub(crate) extern "C" fn tick() {
    // SAFETY: tells the interrupt controller that its request was taken; it does not access memory.
    unsafe { port::out8(0x20, 0x20) }
    let (Some(member), Some(own)) = (nodes::member(), notices::own()) else { return };
    let now = TICKS.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
    own.beat.store(now, Ordering::Release);
    if now.is_multiple_of(LOOK_TICKS) && !is_ending() {
        look(member, now);
    }
}

/// Looks whether the other nodes are alive, and ends this one if one is not.
fn look(member: &Membership, now: u32) {
    let deadline = member.deadline_s as u32 * TICKS_PER_S;
    for (node, line) in notices::nodes().into_iter().flatten().enumerate().filter(|(node, _)| *node != member.node) {
        // SAFETY: only this handler uses the value, and it is not interrupted.
        let sight = unsafe { &mut (*SIGHTS.get())[node] };
        // A node that has come to its end goes on counting here, as one whose beat has the number of its end.
        let stage = line.stage();
        let beat = match stage {
            Stage::Finished => continue,
            Stage::Failed => u32::MAX,
            Stage::Absent => 0,
            // That it has come up is a sign of life, too, before its timer first interrupts it.
            Stage::Runs => line.beat.load(Ordering::Acquire).wrapping_add(1),
        };
        if beat != sight.beat {
            *sight = Sight { beat, since: now };
        }
        let silent = now.wrapping_sub(sight.since);
        match stage {
            Stage::Failed if silent >= FOLLOW_TICKS => end(format_args!("node {node} has failed")),
            Stage::Absent if silent >= COMING_UP_S * TICKS_PER_S => {
                end(format_args!("node {node} never came up within {COMING_UP_S} s"))
            }
            Stage::Runs if silent >= deadline => end(format_args!(
                "node {node} has disappeared: no sign of life for {} s{}",
                member.deadline_s,
                stuck::Waiting { on: node }
            )),
            _ => {}
        }
    }
}

fn end(why: fmt::Arguments<'_>) -> ! {
    console::write_urgent(format_args!("@done failed {why}\n"));
    exit(false)
}
