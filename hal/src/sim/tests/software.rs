//! What our own software takes, where it has prices.

use std::{
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use descriptions::{SoftwarePrices, SpanPrice};

use super::*;
use crate::{
    Clock, Countable, Counted, Interrupt, LINE_BYTES, Mpb, MpbCoherence, MpbCopy, Place, Reason, Span, TestAndSet,
    Topology, Trace, Uncached, Wait,
    kit::{Expense, WordCall},
    sim::software::{Prices, Software},
};

/// Cycles of 533 MHz.
fn cycles(cycles: u64) -> u64 {
    cycles * 1_000_000 / 533
}

/// An access to a line or a register of the own tile, and a store that is answered, on hardware.
const OWN_READ_PS: u64 = 45 * 1_000_000 / 533 + 2 * 5_000;
const OWN_WRITE_PS: u64 = 60 * 1_000_000 / 533 + 2 * 5_000;
/// A word behind the controller one router away takes 97 cycles.
const WORD_CYCLES: u64 = 97;

fn priced() -> Machine {
    Machine::scc(1).with_options(Options { everything_priced: true, ..Options::default() })
}

/// What core 0 needs for an operation, and what of it is software's, in cycles.
fn time_of(operation: impl Fn(&SimCore)) -> (u64, u64) {
    let outcome = priced().run(|core| {
        // Private memory is in the caches, and nothing is in the write-combine buffer.
        (0..2).for_each(|_| operation(core));
        core.compute(10_000);
        core.invalidate_mpb();
        let before = core.now_ps();
        let ((), software) = core.count(Countable::Cycles, || operation(core));
        (core.now_ps() - before, software.unwrap())
    });
    outcome.unwrap().results()[0]
}

/// What is done, cycles of its software, and what its accesses take beside.
type Operation<'o> = (&'o dyn Fn(&SimCore), u64, u64);

#[test]
fn operations_take_their_software_and_their_accesses() {
    let table = SoftwarePrices::measured();
    let price = |what, part| table.operation(what, part);
    let put = |lines: u64| price("put", "call") + lines * price("put", "line");
    let poll = price("poll", "call") + price("poll", "line");
    // What it is, its software, and what its accesses take beside it. A core goes on after its last store.
    let operations: [Operation<'_>; 9] = [
        (&|core| core.put(&[1; LINE_BYTES], line(0, 1)), put(1), 0),
        (
            &|core| core.get(line(0, 1), &mut [0; 2 * LINE_BYTES]),
            price("get", "call") + 2 * price("get", "line"),
            2 * OWN_READ_PS,
        ),
        (
            &|core| core.put_made(LINE_BYTES, line(0, 1), |_, line| line.fill(1)),
            price("put-made", "call") + price("put-made", "line"),
            0,
        ),
        (
            &|core| core.get_used(line(0, 1), LINE_BYTES, |_, _| ()),
            price("get-used", "call") + price("get-used", "line"),
            OWN_READ_PS,
        ),
        (&|core| _ = core.load_word(region(1), 0), price("word", "load"), cycles(WORD_CYCLES)),
        (&|core| core.store_word(region(1), 0, 7), price("word", "store"), 0),
        (
            &|core| {
                core.acquire_register(CoreId::new(0), "a turn");
                core.free_register(CoreId::new(0));
            },
            price("register", "acquire") + price("register", "free"),
            OWN_READ_PS,
        ),
        (
            &|core| core.wait(&[Place::Line(line(0, 9))], Reason::new("nothing"), |poll| Some(_ = poll.line(0))),
            poll,
            OWN_READ_PS,
        ),
        // What the drain before has stored goes out first, and the flag when that is answered; for this the core waits.
        (&|core| core.set_flag(line(0, 1), 3, 1), price("flag", "set"), OWN_WRITE_PS),
    ];
    for (place, (operation, software, accesses_ps)) in operations.into_iter().enumerate() {
        let (time_ps, charged) = time_of(operation);
        // Each charge is rounded down by itself, to tenths of cycles and to picoseconds.
        let expected_ps = cycles(software) + accesses_ps;
        assert!(charged.abs_diff(software) <= 1, "operation {place}: {charged} cycles, not {software}");
        assert!(time_ps.abs_diff(expected_ps) < 20, "operation {place}: {time_ps} ps, not {expected_ps}");
    }
}

/// A core goes on after a store, and what goes out next waits for the answer.
#[test]
fn stores_are_posted() {
    let table = SoftwarePrices::measured();
    let outcome = priced().run(|core| {
        core.store_word(region(1), 0, 7);
        let stored_ps = core.now_ps();
        core.store_word(region(1), 0, 8);
        (stored_ps, core.now_ps())
    });
    let (first_ps, second_ps) = outcome.unwrap().results()[0];
    let software_ps = cycles(table.operation("word", "store"));
    assert!(first_ps.abs_diff(software_ps) < 5, "{first_ps} {software_ps}");
    assert!(second_ps.abs_diff(software_ps + cycles(WORD_CYCLES)) < 5, "{second_ps} {first_ps}");
    // What papers price waits.
    let plain = Machine::scc(1).run(|core| core.store_word(region(1), 0, 7)).unwrap();
    assert_eq!(plain.time_ps, cycles(WORD_CYCLES) + cycles(12));
}

/// A trace shows when others see a store, which is after the core went on.
#[test]
fn traces_tell_when_posted_stores_are_visible() {
    let outcome = priced().run(|core| {
        core.start_trace(4096);
        core.store_word(region(1), 0, 7);
        let went_on_ps = core.now_ps();
        core.raise_interrupt(CoreId::new(0));
        let mut lines = Vec::new();
        core.end_trace(&mut |line| lines.push(line.to_string()));
        (went_on_ps, lines)
    });
    let (went_on_ps, lines) = outcome.unwrap().results().remove(0);
    let times = |line: &String| {
        let mut fields = line.strip_prefix("t ")?.split(' ').skip(3).map(|field| field.parse::<u64>().unwrap());
        Some((fields.next().unwrap(), fields.next().unwrap()))
    };
    // The word, the interrupt, and the register that is free again: each goes out when the one before is answered.
    let stores: Vec<_> = lines.iter().filter_map(times).collect();
    assert_eq!(stores.len(), 3, "{lines:?}");
    assert_eq!(stores[0].0, went_on_ps);
    assert!(stores.iter().all(|(begin, visible)| begin < visible), "{stores:?}");
    assert!(stores.windows(2).all(|pair| pair[0].1 < pair[1].1), "{stores:?}");
}

/// Operations of protocols are charged once, for each peer, and for each operation of the HAL that is in no other span.
#[test]
fn spans_are_charged_once_for_each_peer_and_for_each_operation_in_them() {
    const NAME: &str = "an operation with a price";
    const LOAD: u64 = 7;
    let price = SpanPrice { once: 1_000, peer: 200, each: 30, line: 400 };
    let table = SoftwarePrices::new(|_, _| Some(LOAD), [(NAME.to_owned(), price)].into()).unwrap();
    let mut software = Software::new(&Rc::new(Prices::of(&table, 533)));
    let load = Expense::WordCall(WordCall::Load);
    software.count(true);
    // What a whole program does is no operation with a price.
    software.enter(Some(&Span::new("program").of(LINE_BYTES)));
    software.spend(load);
    // One way to do something, by the name of that way.
    let begin_ps = software.enter(Some(&Span::new("something").priced_as(NAME).for_each_of(5).of(2 * LINE_BYTES + 1)));
    // The hardware's own span is one of what it is in.
    software.enter(None);
    (0..2).for_each(|_| _ = software.spend(load));
    software.leave();
    software.enter(Some(&Span::new("an operation without a price")));
    software.spend(load);
    software.leave();
    software.spend(load);
    // Half of it when it begins, and half when it ends.
    assert_eq!([begin_ps, software.leave()], [cycles(160); 2]);
    software.spend(load);
    assert_eq!(software.count(false), [6 * LOAD + (1_000 + 5 * 200 + 3 * 30 + 3 * 400) / 10, 6, 3]);
}

/// Cores are charged so.
#[test]
fn cores_are_charged_for_spans() {
    let table = SoftwarePrices::measured();
    let (name, SpanPrice { once, each, peer, .. }) =
        table.spans().max_by_key(|(_, price)| price.once + price.peer + price.each).expect("there are spans");
    let name: &'static str = name.to_owned().leak();
    let words = |core: &SimCore, count: usize| (0..count).for_each(|_| _ = core.load_word(region(1), 0));
    let within = |core: &SimCore| {
        let _span = core.span(Span::new(name).for_each_of(5));
        words(core, 2);
        let _inner = core.span(Span::new("an operation without a price"));
        words(core, 1);
    };
    let operations = priced().run(|core| core.count(Countable::Operations, || within(core)).1.unwrap());
    assert_eq!(operations.unwrap().results(), [3]);
    let expected = time_of(|core| words(core, 3)).1 + (once + 5 * peer + 2 * each) / 10;
    let charged = time_of(within).1;
    assert!(charged.abs_diff(expected) <= 1, "{name}: {charged}, not {expected}");
}

/// A poll that fails takes its software, its lines and its accesses.
#[test]
fn failed_polls_have_a_price() {
    const DEADLINE_PS: u64 = 100_000_000;
    let table = SoftwarePrices::measured();
    let outcome = priced().run(|core| {
        let deadline = crate::Deadline::At(DEADLINE_PS / 1_000);
        let awaited = core.wait_until(&[Place::Line(line(0, 9))], deadline, Reason::new("nothing"), |poll| {
            (poll.line(0).0[0] > 0).then_some(())
        });
        assert!(awaited.is_err());
        (core.counters().failed_polls, core.now_ps())
    });
    let (polls, taken_ps) = outcome.unwrap().results()[0];
    let period_ps = cycles(table.operation("poll", "failed") + table.operation("poll", "line")) + OWN_READ_PS;
    assert!(polls.abs_diff(DEADLINE_PS / period_ps) <= 2, "{polls} polls of {period_ps} ps");
    // What begins and ends the wait is beside its polls, once. What is charged apart is rounded apart.
    let once = table.operation("poll", "call") + table.operation("wait", "begin") + table.operation("wait", "end");
    assert!(taken_ps.abs_diff(polls * period_ps + cycles(once)) <= 2 * polls, "{taken_ps} ps with {once} cycles once");
}

/// What a wait takes when it begins is not paid again after a handler that came in the middle of it.
#[test]
fn a_wait_that_is_interrupted_is_paid_for_once() {
    let machine = Machine::scc(2).with_options(Options { everything_priced: true, ..Options::default() });
    let outcome = machine.run(|core| {
        if core.core().index() == 1 {
            core.compute(53_300);
            core.raise_interrupt(CoreId::new(0));
            core.compute(53_300);
            core.set_flag(line(0, 9), 0, 1);
            return 0;
        }
        let handled_ps = Arc::new(AtomicU64::new(0));
        let handle = |core: &SimCore, handled_ps: &Arc<AtomicU64>| handled_ps.store(core.now_ps(), Relaxed);
        let _handler = core.handle_interrupts(handled_ps.clone(), handle);
        let mut polled_ps = Vec::new();
        core.wait(&[Place::Line(line(0, 9))], Reason::new("a flag"), |poll| {
            polled_ps.push(core.now_ps());
            (poll.line(0).0[0] > 0).then_some(())
        });
        let handled_ps = handled_ps.load(Relaxed);
        assert!(handled_ps > 0 && polled_ps[0] < handled_ps, "{polled_ps:?} {handled_ps}");
        polled_ps.iter().find(|polled_ps| **polled_ps >= handled_ps).unwrap() - handled_ps
    });
    let until_polled_ps = outcome.unwrap().results()[0];
    let again_ps = cycles(SoftwarePrices::measured().operation("poll", "call"));
    assert!(until_polled_ps < again_ps, "{until_polled_ps} ps, and a wait that begins takes {again_ps}");
}

/// The clock is the board's, three accesses to its FPGA.
#[test]
fn a_look_at_the_clock_takes_its_time() {
    let outcome = priced().run(|core| {
        let (first, second) = (core.now(), core.now());
        (second - first, core.now_ps())
    });
    // Core 0 is four routers away from where the FPGA hangs off.
    let access_ps = 1_210_000 + 2 * 4 * 5_000;
    assert_eq!(outcome.unwrap().results(), [(3 * access_ps / 1_000, 6 * access_ps)]);
    assert_eq!(Machine::scc(1).run(|core| core.now() + core.now_ps()).unwrap().results(), [0]);
}

#[test]
fn nothing_is_counted_where_software_is_free() {
    let outcome = Machine::scc(1).run(|core| core.count(Countable::Cycles, || ()).1).unwrap();
    assert_eq!(outcome.results(), [None]);
    let instructions = priced().run(|core| core.count(Countable::Instructions, || ()).1).unwrap();
    assert_eq!(instructions.results(), [None]);
}
