//! Protocols with one of their flushes, invalidations or drains taken away: each has to fail, or it was there for
//! nothing.

use crate::common::run;
use collectives::{Assertions, Class, Group, Lock, Operator, Window};
use hal::{
    Clock, Deadline, LINE_BYTES, Place, Reason, Uncached, Wait,
    emulated::{FetchUnit, Omit},
    kind,
    sim::{Machine, Options, SimCore},
};
use tests::{Context, Failed, check_eq, memory::shared, suite};

const CORES: usize = 5;

/// Runs a test of the suite in which the operations are omitted from the beginning.
fn without(omitted: Omit, name: &str) -> Result<(), String> {
    run(&Machine::scc(CORES), |context| {
        context.hal().omit(omitted);
        suite::run_simulated(name, context)
    })
}

#[test]
fn everything_passes_when_nothing_is_omitted() {
    for name in ["barrier::separates_phases", "messages::ring_of_all_sizes", "broadcast::all_sizes"] {
        assert_eq!(without(Omit::empty(), name), Ok(()));
    }
    for class in SCOSCO.into_iter().chain([Class::Default, Class::Message]) {
        for case in [put_and_look as Case, get_and_look, page_neighbour, get_twice] {
            assert_eq!(with_omission(case, class, Omit::empty()), Ok(()), "class {class}");
        }
    }
    for case in [fence_and_look as Case, lock_and_look, lock_and_get, accumulate_in_turn, notify_and_read] {
        assert_eq!(with_omission(case, Class::Default, Omit::empty()), Ok(()));
    }
}

#[test]
fn signals_need_their_drain() {
    for name in ["barrier::separates_phases", "messages::ring_of_all_sizes", "broadcast::all_sizes"] {
        let failure = without(Omit::DRAIN, name).expect_err(name);
        assert!(failure.contains("has not drained"), "{name} failed for another reason: {failure}");
    }
}

#[test]
fn polls_need_their_invalidation() {
    for name in ["barrier::separates_phases", "messages::ring_of_all_sizes", "broadcast::all_sizes"] {
        assert!(without(Omit::INVALIDATE_MPB, name).is_err(), "{name} passes on stale lines");
    }
}

#[test]
fn owners_of_exposed_memory_need_their_flushes() {
    let name = "exposed::views_of_exposed_memory";
    assert_eq!(without(Omit::empty(), name), Ok(()));
    let failure = without(Omit::FLUSH, name).expect_err(name);
    assert!(failure.contains("first wrong word"), "{name} failed for another reason: {failure}");
}

/// A use of a window of 8 words by ranks 0 (origin) and 1 (target), in which `omitted` is left out where the case says.
type Case = fn(&mut Context<'_, '_, SimCore>, Class, Omit) -> Result<(), Failed>;

/// Classes on match vectors and completion counters.
const SCOSCO: [Class; 4] = [Class::TrulyOneSided, Class::TriggerOnly, Class::Immediate, Class::Deferred];

fn with_omission(case: Case, class: Class, omitted: Omit) -> Result<(), String> {
    // Pages as the unit: what a neighbour's access brings along is the reason of the invalidation after a wait.
    let options = Options { fetch_unit: FetchUnit::Page, ..Options::default() };
    run(&Machine::scc(2).with_options(options), |context| case(context, class, omitted))
}

/// The origin puts a word, and then does nothing until the target has looked; the omission is in COMPLETE.
fn put_and_look(context: &mut Context<'_, '_, SimCore>, class: Class, omitted: Omit) -> Result<(), Failed> {
    let hal = context.hal();
    let looked = shared::<_, kind::Uncached>(context, LINE_BYTES)?;
    let (window, view) = Window::<_, u32>::with_class(context.comm, context.caches, 8, class)?;
    let view = if context.rank() == 0 {
        let access = window.start(&Group::of([1])?)?;
        access.put(1, 3, &[77])?;
        hal.omit(omitted);
        access.complete();
        hal.omit(Omit::empty());
        // Whatever it stored next would push the put out.
        hal.wait(&[Place::Word(looked, 0)], Reason::new("a look"), |poll| (poll.word(0) == 1).then_some(()));
        view
    } else {
        let exposure = window.post(view, context.caches, &Group::of([0])?)?;
        let view = exposure.wait(context.caches);
        check_eq!(view.load(3), 77, "the word that was put");
        hal.store_word(looked, 0, 1);
        view
    };
    window.free(view, context.caches)?;
    Ok(())
}

/// The origin gets what the target stored; the omission is in POST.
fn get_and_look(context: &mut Context<'_, '_, SimCore>, class: Class, omitted: Omit) -> Result<(), Failed> {
    let hal = context.hal();
    let (window, mut view) = Window::<_, u32>::with_class(context.comm, context.caches, 8, class)?;
    let view = if context.rank() == 0 {
        let mut got = [0];
        let access = window.start(&Group::of([1])?)?;
        access.get(1, 3, &mut got)?;
        access.complete();
        check_eq!(got, [55], "the word that was got");
        view
    } else {
        view.store(3, 55);
        hal.omit(omitted);
        let exposure = window.post(view, context.caches, &Group::of([0])?)?;
        hal.omit(Omit::empty());
        exposure.wait(context.caches)
    };
    window.free(view, context.caches)?;
    Ok(())
}

/// During its exposure the target touches other memory on the same page; the omission is in WAIT.
fn page_neighbour(context: &mut Context<'_, '_, SimCore>, class: Class, omitted: Omit) -> Result<(), Failed> {
    let hal = context.hal();
    let (window, view) = Window::<_, u32>::with_class(context.comm, context.caches, 8, class)?;
    let (neighbour, neighbour_view) = Window::<_, u32>::with_class(context.comm, context.caches, 8, class)?;
    let view = if context.rank() == 0 {
        context.comm.barrier();
        let access = window.start(&Group::of([1])?)?;
        access.put(1, 3, &[77])?;
        access.complete();
        view
    } else {
        let exposure = window.post(view, context.caches, &Group::of([0])?)?;
        check_eq!(neighbour_view.load(0), 0, "the neighbouring memory");
        context.comm.barrier();
        hal.omit(omitted);
        let view = exposure.wait(context.caches);
        hal.omit(Omit::empty());
        check_eq!(view.load(3), 77, "the word that was put");
        view
    };
    neighbour.free(neighbour_view, context.caches)?;
    window.free(view, context.caches)?;
    Ok(())
}

/// The origin gets the same word in two epochs, between which the target changed it; the omission is in the poll for
/// the post.
fn get_twice(context: &mut Context<'_, '_, SimCore>, class: Class, omitted: Omit) -> Result<(), Failed> {
    let hal = context.hal();
    let (window, mut view) = Window::<_, u32>::with_class(context.comm, context.caches, 8, class)?;
    for round in 1..=2u32 {
        if context.rank() == 0 {
            let mut got = [0];
            hal.omit(omitted);
            let access = window.start(&Group::of([1])?)?;
            access.get(1, 0, &mut got)?;
            access.complete();
            hal.omit(Omit::empty());
            check_eq!(got, [round], "the word that was got in round {round}");
        } else {
            view.store(0, round);
            let exposure = window.post(view, context.caches, &Group::of([0])?)?;
            view = exposure.wait(context.caches);
        }
    }
    window.free(view, context.caches)?;
    Ok(())
}

/// The cases that fail, and how, in each of these classes.
fn all_fail(case: Case, classes: &[Class], omitted: Omit, reason: &str) {
    for class in classes {
        let failure = with_omission(case, *class, omitted).expect_err(class.name());
        assert!(failure.contains(reason), "class {class}: {failure}");
    }
}

#[test]
fn complete_needs_its_drain() {
    all_fail(put_and_look, &SCOSCO, Omit::DRAIN, "the word that was put");
    // The data are pushed out by the mark behind them, and the mark by nothing.
    all_fail(put_and_look, &[Class::Default], Omit::DRAIN, "has not drained");
}

#[test]
fn post_needs_its_write_back() {
    all_fail(get_and_look, &SCOSCO, Omit::FLUSH, "the word that was got");
    all_fail(get_and_look, &[Class::Default], Omit::FLUSH, "the word that was got");
}

#[test]
fn post_of_marks_needs_its_drain() {
    all_fail(get_and_look, &[Class::Default], Omit::DRAIN, "has not drained");
}

#[test]
fn wait_needs_its_invalidation() {
    all_fail(page_neighbour, &SCOSCO, Omit::FLUSH, "the word that was put");
    all_fail(page_neighbour, &[Class::Default], Omit::FLUSH, "the word that was put");
}

#[test]
fn the_poll_for_a_post_needs_its_invalidation() {
    all_fail(get_twice, &SCOSCO, Omit::INVALIDATE_MPB, "the word that was got in round 2");
    // Marks are in lines themselves: the poll sees none.
    all_fail(get_twice, &[Class::Default], Omit::INVALIDATE_MPB, "the post of window");
}

/// The origin puts a word between two fences, or gets the one that the target stored; the omission is in the fences.
fn fence_and_look(context: &mut Context<'_, '_, SimCore>, class: Class, omitted: Omit) -> Result<(), Failed> {
    let hal = context.hal();
    let (window, mut view) = Window::<_, u32>::with_class(context.comm, context.caches, 8, class)?;
    for round in 1..=2 {
        let mut got = [0];
        if context.rank() == 1 {
            view.store(5, 50 + round);
        }
        // Signals of barriers need drains and polls of their own, which is shown elsewhere.
        let in_fences = |omit: Omit| hal.omit(omit & Omit::FLUSH);
        in_fences(omitted);
        let epoch = window.fence(view, context.caches, Assertions::empty())?;
        hal.omit(Omit::empty());
        if context.rank() == 0 {
            epoch.get(1, 5, &mut got)?;
            epoch.put_value(1, 3, 70 + round)?;
        }
        in_fences(omitted);
        view = epoch.close(context.caches, Assertions::empty());
        hal.omit(Omit::empty());
        check_eq!(context.rank() == 1 || got == [50 + round], true, "the word that was got");
        check_eq!(context.rank() == 0 || view.load(3) == 70 + round, true, "the word that was put");
    }
    window.free(view, context.caches)?;
    Ok(())
}

#[test]
fn fences_need_their_flushes() {
    all_fail(fence_and_look, &[Class::Default], Omit::FLUSH, "the word that was");
}

/// The origin puts a word under a lock, and the target reads it after that under its own; the omission is in UNLOCK.
fn lock_and_look(context: &mut Context<'_, '_, SimCore>, class: Class, omitted: Omit) -> Result<(), Failed> {
    let hal = context.hal();
    let (window, view) = Window::<_, u32>::with_class(context.comm, context.caches, 8, class)?;
    let lent = window.lend(view, context.caches)?;
    let mut got = [0];
    if context.rank() == 0 {
        let epoch = window.lock(1, Lock::Exclusive)?;
        epoch.put_value(1, 3, 77)?;
        hal.omit(omitted);
        epoch.unlock();
        hal.omit(Omit::empty());
        hal.compute(1_000_000);
    } else {
        hal.compute(500_000);
        let epoch = window.lock(1, Lock::Exclusive)?;
        epoch.get(1, 3, &mut got)?;
        epoch.unlock();
        check_eq!(got, [77], "the word that was put");
    }
    context.comm.barrier();
    let view = lent.take_back(context.caches);
    window.free(view, context.caches)?;
    Ok(())
}

#[test]
fn unlock_needs_its_drain() {
    all_fail(lock_and_look, &[Class::Default], Omit::DRAIN, "the word that was put");
}

/// Completes a put to rank 1 in one of the ways that locks have; what is called before and after is where the omission
/// begins and ends.
type Completing = fn(&Window<'_, SimCore, u32>, &dyn Fn(), &dyn Fn()) -> Result<(), Failed>;

fn by_flush(window: &Window<'_, SimCore, u32>, before: &dyn Fn(), after: &dyn Fn()) -> Result<(), Failed> {
    let epoch = window.lock(1, Lock::Shared)?;
    epoch.put_value(1, 3, 77)?;
    before();
    let epoch = epoch.flush();
    after();
    epoch.unlock();
    Ok(())
}

fn by_flush_all(window: &Window<'_, SimCore, u32>, before: &dyn Fn(), after: &dyn Fn()) -> Result<(), Failed> {
    let epoch = window.lock_all()?;
    epoch.put_value(1, 3, 77)?;
    before();
    let epoch = epoch.flush_all();
    after();
    epoch.unlock_all();
    Ok(())
}

fn by_unlock_all(window: &Window<'_, SimCore, u32>, before: &dyn Fn(), after: &dyn Fn()) -> Result<(), Failed> {
    let epoch = window.lock_all()?;
    epoch.put_value(1, 3, 77)?;
    before();
    epoch.unlock_all();
    after();
    Ok(())
}

/// Two ranks share a lock of the second one's part: the first puts a word and completes it, and the second looks
/// after that.
fn shared_put_and_look(
    context: &mut Context<'_, '_, SimCore>,
    omitted: Omit,
    complete: Completing,
) -> Result<(), Failed> {
    let hal = context.hal();
    let (window, view) = Window::<_, u32>::create(context.comm, context.caches, 8)?;
    let lent = window.lend(view, context.caches)?;
    let mut got = [0];
    if context.rank() == 0 {
        let after = || {
            hal.omit(Omit::empty());
            hal.compute(1_000_000);
        };
        complete(&window, &|| hal.omit(omitted), &after)?;
    } else {
        hal.compute(500_000);
        let epoch = window.lock(1, Lock::Shared)?;
        epoch.get(1, 3, &mut got)?;
        epoch.unlock();
        check_eq!(got, [77], "the word that was put");
    }
    context.comm.barrier();
    let view = lent.take_back(context.caches);
    window.free(view, context.caches)?;
    Ok(())
}

#[test]
fn flushes_and_unlock_all_need_their_drains() {
    for complete in [by_flush as Completing, by_flush_all, by_unlock_all] {
        let outcome = |omitted| run(&Machine::scc(2), |context| shared_put_and_look(context, omitted, complete));
        assert_eq!(outcome(Omit::empty()), Ok(()));
        let failure = outcome(Omit::DRAIN).expect_err("nothing was missed");
        assert!(failure.contains("the word that was put"), "{failure}");
    }
}

/// The first rank gets a word of the second twice under one lock, in between which the second has put to it; the
/// omission is in the flush
/// before the second get.
fn get_flush_get(context: &mut Context<'_, '_, SimCore>, omitted: Omit, all: bool) -> Result<(), Failed> {
    let hal = context.hal();
    let (window, view) = Window::<_, u32>::create(context.comm, context.caches, 8)?;
    let lent = window.lend(view, context.caches)?;
    let (mut first, mut second) = ([0], [0]);
    context.comm.barrier();
    if context.rank() == 1 {
        hal.compute(500_000);
        let epoch = window.lock(1, Lock::Shared)?;
        epoch.put_value(1, 3, 77)?;
        epoch.unlock();
    } else {
        if all {
            let epoch = window.lock_all()?;
            epoch.get(1, 3, &mut first)?;
            hal.compute(1_000_000);
            hal.omit(omitted);
            let epoch = epoch.flush_local_all();
            hal.omit(Omit::empty());
            epoch.get(1, 3, &mut second)?;
        } else {
            let epoch = window.lock(1, Lock::Shared)?;
            epoch.get(1, 3, &mut first)?;
            hal.compute(1_000_000);
            hal.omit(omitted);
            let epoch = epoch.flush_local();
            hal.omit(Omit::empty());
            epoch.get(1, 3, &mut second)?;
        }
        check_eq!((first, second), ([0], [77]), "the words that were got");
    }
    context.comm.barrier();
    let view = lent.take_back(context.caches);
    window.free(view, context.caches)?;
    Ok(())
}

#[test]
fn flushes_need_their_invalidations() {
    for all in [false, true] {
        assert_eq!(run(&Machine::scc(2), |context| get_flush_get(context, Omit::empty(), all)), Ok(()));
        let outcome = run(&Machine::scc(2), |context| get_flush_get(context, Omit::INVALIDATE_MPB, all));
        let failure = outcome.expect_err("nothing was missed");
        assert!(failure.contains("the words that were got"), "{failure}");
    }
}

/// The origin gets the same word under two locks, between which the target changed it through its view; the omission
/// is in LOCK of the origin, or in lending of the target.
fn lock_and_get(context: &mut Context<'_, '_, SimCore>, class: Class, omitted: Omit) -> Result<(), Failed> {
    let hal = context.hal();
    let (window, mut view) = Window::<_, u32>::with_class(context.comm, context.caches, 8, class)?;
    if context.rank() == 1 {
        for round in 1..=2 {
            view.store(0, round);
            hal.omit(omitted & Omit::FLUSH);
            let lent = window.lend(view, context.caches)?;
            hal.omit(Omit::empty());
            hal.compute(1_000_000);
            view = lent.take_back(context.caches);
        }
    } else {
        for round in 1..=2 {
            let mut got = [0];
            hal.omit(omitted & Omit::INVALIDATE_MPB);
            let epoch = window.lock(1, Lock::Shared)?;
            epoch.get(1, 0, &mut got)?;
            epoch.unlock();
            hal.omit(Omit::empty());
            check_eq!(got, [round], "the word that was got in round {round}");
            hal.compute(1_000_000);
        }
    }
    window.free(view, context.caches)?;
    Ok(())
}

#[test]
fn lock_needs_its_invalidation_and_lending_its_write_back() {
    all_fail(lock_and_get, &[Class::Default], Omit::INVALIDATE_MPB, "the word that was got in round 2");
    all_fail(lock_and_get, &[Class::Default], Omit::FLUSH, "the word that was got in round 1");
}

/// Both ranks add to an element of rank 1 in turn; the omission is in the operations.
fn accumulate_in_turn(context: &mut Context<'_, '_, SimCore>, class: Class, omitted: Omit) -> Result<(), Failed> {
    let hal = context.hal();
    let (window, view) = Window::<_, u32>::with_class(context.comm, context.caches, 8, class)?;
    let lent = window.lend(view, context.caches)?;
    let epoch = window.lock(1, Lock::Shared)?;
    // One after the other, and no lock or barrier in between that would invalidate or drain.
    hal.compute(context.rank() as u64 * 200_000);
    for _ in 0..3 {
        hal.omit(omitted);
        epoch.accumulate(1, 3, &[1], Operator::SUM)?;
        hal.omit(Omit::empty());
        hal.compute(400_000);
    }
    epoch.unlock();
    context.comm.barrier();
    let view = lent.take_back(context.caches);
    check_eq!(context.rank() == 0 || view.load(3) == 6, true, "the sum of all contributions");
    window.free(view, context.caches)?;
    Ok(())
}

#[test]
fn accumulates_need_their_drain_and_their_invalidation() {
    for omitted in [Omit::DRAIN, Omit::INVALIDATE_MPB] {
        all_fail(accumulate_in_turn, &[Class::Default], omitted, "the sum of all contributions");
    }
}

/// The origin puts a word with a notification; the omission is in that, or in the target's wait for it.
fn notify_and_read(context: &mut Context<'_, '_, SimCore>, class: Class, omitted: Omit) -> Result<(), Failed> {
    let hal = context.hal();
    let (window, mut view) = Window::<_, u32>::with_class(context.comm, context.caches, 8, class)?;
    if context.rank() == 0 {
        let access = window.start(&Group::of([1])?)?;
        context.comm.barrier();
        hal.omit(omitted & Omit::DRAIN);
        access.put_notify(1, 3, &[77], 0)?;
        hal.omit(Omit::empty());
        hal.compute(1_000_000);
        access.complete();
    } else {
        let exposure = window.post(view, context.caches, &Group::of([0])?)?;
        context.comm.barrier();
        let mut got = [0];
        exposure.read(3, &mut got)?;
        hal.omit(omitted & Omit::INVALIDATE_MPB);
        window.await_notifications(0, 1, Deadline::Never)?;
        exposure.read(3, &mut got)?;
        hal.omit(Omit::empty());
        check_eq!(got, [77], "the word that was notified");
        view = exposure.wait(context.caches);
    }
    window.free(view, context.caches)?;
    Ok(())
}

#[test]
fn notifications_need_their_drain_and_their_invalidation() {
    for omitted in [Omit::DRAIN, Omit::INVALIDATE_MPB] {
        all_fail(notify_and_read, &[Class::Default], omitted, "the word that was notified");
    }
}
