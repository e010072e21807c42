//! Uses of windows that once hung or gave wrong data, each as small as it can be.

use crate::common::run;
use collectives::{Assertions, Class, Comm, CopyEngines, Error, Group, Lock, SharedBuffer, Window};
use hal::{
    Clock, Deadline, Expose, Lines,
    sim::{Machine, SimCore},
};
use tests::{Context, Failed, check_eq};

type Ctx<'t, 'c> = Context<'t, 'c, SimCore>;

/// Shared puts and gets without engines: the buffer is read past the own write-combine buffer.
#[test]
fn a_shared_put_sees_what_was_written_before() {
    for class in Class::ALL {
        let outcome = run(&Machine::scc(2), |context: &mut Ctx<'_, '_>| {
            let (window, mut view) = Window::<_, u32>::with_class(context.comm, context.caches, 8, class)?;
            let view = if context.rank() == 1 {
                view.store(5, 55);
                let e = window.post(view, context.caches, &Group::of([0])?)?;
                context.comm.barrier();
                let v = e.wait(context.caches);
                check_eq!(v.load(0), 7, "what was put");
                v
            } else {
                let mut buffer = SharedBuffer::new(context.comm, 3)?;
                let mut got = SharedBuffer::new(context.comm, 3)?;
                context.comm.barrier();
                let a = window.start(&Group::of([1])?)?;
                buffer.write(0, &[7, 8, 9])?;
                a.put_shared(1, 0, &buffer, 0..3)?;
                a.get_shared(1, 5, &mut got, 1..2)?;
                a.complete();
                let mut word = [0];
                got.read(1, &mut word)?;
                check_eq!(word, [55], "what was got");
                view
            };
            window.free(view, context.caches)?;
            Ok(())
        });
        assert_eq!(outcome, Ok(()), "class {class}");
    }
}

/// A notified put to a target that posts late is never notified while the origin waits for something else.
#[test]
fn notified_puts_to_a_late_target_go_out() {
    // In the other classes there can be no answer before COMPLETE.
    for class in [Class::Default, Class::TrulyOneSided, Class::TriggerOnly, Class::Immediate] {
        let outcome = run(&Machine::scc(2), |context: &mut Ctx<'_, '_>| {
            let (window, view) = Window::<_, u32>::with_class(context.comm, context.caches, 8, class)?;
            let peer = Group::of([1 - context.rank()])?;
            if context.rank() == 1 {
                context.hal().compute(1_000_000);
            }
            let e = window.post(view, context.caches, &peer)?;
            let value = [5];
            let a = window.start(&peer)?;
            if context.rank() == 1 {
                window.await_notifications(0, 1, Deadline::Never)?;
            }
            a.put_notify(1 - context.rank(), 0, &value, 0)?;
            if context.rank() == 0 {
                a.await_notifications(0, 1, Deadline::Never)?;
            }
            a.complete();
            let view = e.wait(context.caches);
            window.free(view, context.caches)?;
            Ok(())
        });
        assert_eq!(outcome, Ok(()), "class {class}");
    }
}

/// Lock_all epochs that reach parts in different orders, and single writers.
#[test]
fn epochs_that_lock_all_do_not_wait_in_a_circle() {
    let outcome = run(&Machine::scc(6), |context: &mut Ctx<'_, '_>| {
        let (window, view) = Window::<_, u32>::create(context.comm, context.caches, 8)?;
        let lent = window.lend(view, context.caches)?;
        context.comm.barrier();
        match context.rank() {
            r @ (0 | 1) => {
                let e = window.lock_all()?;
                e.put_value(4 + r, r, 1)?;
                context.hal().compute(1_000_000);
                e.put_value(5 - r, r, 1)?;
                e.unlock_all();
            }
            r @ (2 | 3) => {
                context.hal().compute(100_000);
                window.lock(r + 2, Lock::Exclusive)?.unlock();
            }
            _ => {}
        }
        context.comm.barrier();
        let view = lent.take_back(context.caches);
        context.comm.barrier();
        window.free(view, context.caches)?;
        Ok(())
    });
    assert_eq!(outcome, Ok(()));
}

/// Taking back what one has locked oneself.
#[test]
fn an_owner_does_not_wait_for_itself() {
    let outcome = run(&Machine::scc(2), |context: &mut Ctx<'_, '_>| {
        let (window, view) = Window::<_, u32>::create(context.comm, context.caches, 8)?;
        let lent = window.lend(view, context.caches)?;
        let e = window.lock(context.rank(), Lock::Shared)?;
        let view = lent.take_back(context.caches);
        drop(e);
        window.free(view, context.caches)?;
        Ok(())
    });
    let failure = outcome.expect_err("a lock of the own part was overlooked");
    assert!(failure.contains("takes its part of window 0 back and holds a lock of it"), "{failure}");
    let outcome = run(&Machine::scc(2), |context: &mut Ctx<'_, '_>| {
        let (window, view) = Window::<_, u32>::create(context.comm, context.caches, 8)?;
        let lent = window.lend(view, context.caches)?;
        let e = window.lock_all()?;
        let view = lent.take_back(context.caches);
        check_eq!(
            e.put_value(context.rank(), 0, 1),
            Err(Error::NotLent { window: 0 }),
            "a put to what is not lent any more"
        );
        drop(e);
        window.free(view, context.caches)?;
        Ok(())
    });
    assert_eq!(outcome, Ok(()));
}

/// 5: PSCW and fences within a lock.
#[test]
fn other_epochs_within_locks_are_refused() {
    let outcome = run(&Machine::scc(2), |context: &mut Ctx<'_, '_>| {
        let (window, view) = Window::<_, u32>::create(context.comm, context.caches, 8)?;
        if context.rank() == 1 {
            let lent = window.lend(view, context.caches)?;
            context.comm.barrier();
            let view = lent.take_back(context.caches);
            let f = window.fence(view, context.caches, Assertions::empty())?;
            let view = f.close(context.caches, Assertions::empty());
            window.free(view, context.caches)?;
        } else {
            let e = window.lock(1, Lock::Exclusive)?;
            let locked = Error::Locked { rank: 1, window: 0 };
            check_eq!(window.start(&Group::empty()).err(), Some(locked), "a start within a lock");
            context.comm.barrier();
            let Err(refused) = window.fence(view, context.caches, Assertions::empty()) else {
                return Err(Failed("a fence was opened within a lock".into()));
            };
            check_eq!(refused.error, locked, "a fence within a lock");
            e.unlock();
            let view = window
                .fence(refused.taken, context.caches, Assertions::empty())?
                .close(context.caches, Assertions::empty());
            window.free(view, context.caches)?;
        }
        Ok(())
    });
    assert_eq!(outcome, Ok(()));
}

/// A read of an own part after an epoch without origins.
#[test]
fn what_is_read_of_an_own_part_is_fresh() {
    let outcome = run(&Machine::scc(2), |context: &mut Ctx<'_, '_>| {
        let (window, mut view) = Window::<_, u32>::create(context.comm, context.caches, 8)?;
        for round in 1..4 {
            view.store(0, round);
            let e = window.post(view, context.caches, &Group::empty())?;
            e.await_origins();
            let mut got = [0];
            e.read(0, &mut got)?;
            check_eq!(got[0], round, "what was read");
            view = e.wait(context.caches);
        }
        window.free(view, context.caches)?;
        Ok(())
    });
    assert_eq!(outcome, Ok(()));
}

/// An epoch that is forgotten, and the buffer that its engine still fills.
#[test]
fn an_engine_does_not_write_to_a_buffer_that_was_freed() {
    let outcome = run(&Machine::scc(3), |context: &mut Ctx<'_, '_>| {
        let comm: &Comm<'_, SimCore> = context.comm;
        let engines = CopyEngines::assign(comm, &Group::of([1])?)?;
        {
            let (window, mut view) =
                Window::<_, u32>::with_engines(comm, context.caches, 4000, Class::Default, &engines)?;
            for i in 0..4000 {
                view.store(i, 9);
            }
            if context.rank() == 1 {
                engines.serve();
            } else if context.rank() == 2 {
                // The origin is never complete.
                let e = window.post(view, context.caches, &Group::of([0])?)?;
                engines.dismiss();
                core::mem::forget(e);
            } else {
                context.hal().compute(1_000_000);
                let mut buffer = SharedBuffer::new(comm, 4000)?;
                let a = window.start(&Group::of([2])?)?;
                a.get_shared(2, 0, &mut buffer, 0..4000)?;
                core::mem::forget(a);
                drop(buffer);
                // The memory of the buffer is somebody else's now.
                let mut other = SharedBuffer::<_, u32>::new(comm, 4000)?;
                other.write(3000, &vec![1; 1000])?;
                let mut got = vec![0; 4000];
                engines.dismiss();
                other.read(0, &mut got)?;
                let wrong = got[3000..].iter().filter(|g| **g != 1).count();
                check_eq!(wrong, 0, "words of another buffer that the engine has overwritten");
            }
            core::mem::forget(window);
        }
        Ok(())
    });
    assert_eq!(outcome, Ok(()));
}

/// An engine dismisses.
#[test]
fn engines_dismiss_nobody() {
    let outcome = run(&Machine::scc(2), |context: &mut Ctx<'_, '_>| {
        let engines = CopyEngines::assign(context.comm, &Group::of([1])?)?;
        if context.rank() == 1 {
            engines.dismiss();
        }
        Ok(())
    });
    assert_eq!(outcome, Ok(()));
}

/// Two windows over the same exposed memory: ends.
#[test]
fn shared_puts_reach_private_memory() {
    let outcome = run(&Machine::scc(3), |context: &mut Ctx<'_, '_>| {
        let comm: &Comm<'_, SimCore> = context.comm;
        let memory =
            context.hal().expose(context.caches, Lines::<u32>::zeroed(16)).map_err(|e| Failed(format!("{e}")))?;
        {
            let (window, view) = Window::<_, u32>::over(comm, context.caches, &memory, 16, Class::Default)?;
            let right = (context.rank() + 1) % 3;
            let left = (context.rank() + 2) % 3;
            let mut buffer = SharedBuffer::new(comm, 16)?;
            buffer.write(0, &[context.rank() as u32 + 1; 16])?;
            let e = window.post(view, context.caches, &Group::of([left])?)?;
            let a = window.start(&Group::of([right])?)?;
            a.put_shared(right, 0, &buffer, 0..16)?;
            a.complete();
            let view = e.wait(context.caches);
            check_eq!(view.load(15), left as u32 + 1, "put to private memory");
            window.free(view, context.caches)?;
        }
        let m = memory.end(context.caches);
        check_eq!(m[15], (context.rank() as u32 + 2) % 3 + 1, "the memory that came back");
        Ok(())
    });
    assert_eq!(outcome, Ok(()));
}

/// What a barrier that others do not call panics with is about the line that calls it.
#[test]
fn a_barrier_that_meets_something_else_names_the_line_of_its_call() {
    let line = line!() + 8;
    let outcome = run(&Machine::scc(3), |context: &mut Ctx<'_, '_>| {
        context.comm.check_arguments(true);
        if context.rank() == 2 {
            context.hal().compute(1_000_000);
            // The error names both sides, too; here it is about the others.
            let _ = context.comm.broadcast(&mut [0_u8; 4], 0);
        } else {
            context.comm.barrier();
        }
        Ok(())
    });
    let failure = outcome.unwrap_err();
    let place = format!("(at tests/tests/simulated/regressions.rs:{line}:");
    assert!(
        failure.contains("rank 2 calls broadcast of 4 u8 with root 0, rank 0 barrier") && failure.contains(&place),
        "{failure}"
    );
}
