//! Windows: epochs of every class, fences, passive targets, notified puts, private memory.

use alloc::{format, vec, vec::Vec};
use core::mem;

use collectives::{Assertions, Class, Comm, Group, Lock, Operator, Window};
use hal::{Caches, Core, Deadline, Exposure, Lines, LocalView};

use super::{
    neighbours,
    recorder::{Recorder, Timing},
};
use kernel::{Failure, Rank};

/// Epochs in a row.
const EPOCHS: u32 = 3;

/// Elements that are put, before as many that are got.
const LEN: usize = 100;

/// Of packets, how many one look finds depends on when it comes, and with it how often their sections are looked at and
/// room in them is given back, and which elements of a part are written one after the other.
const PACKETS: Timing =
    Timing::HowOften(&["mpb_lines_read", "mpb_lines_written", "mpb_invalidations", "drains", "combined_lines_written"]);

/// Where several want a lock at once, those that come too early try again.
const CONTENDED: Timing = Timing::HowOften(&[
    "mpb_lines_read",
    "mpb_lines_written",
    "mpb_invalidations",
    "drains",
    "tsr_acquired",
    "words_read",
    "words_written",
]);

/// A rank's own part.
type View<'c> = LocalView<'c, u32>;

/// What the steps with a window have in common.
struct Course<'s, 'c, C: Core> {
    comm: &'c Comm<'c, C>,
    window: &'s Window<'c, C, u32>,
    timing: Timing,
    recorder: &'s mut Recorder<'c, C>,
}

pub(super) fn run<'c, C: Core>(rank: &mut Rank<'c, C>, recorder: &mut Recorder<'c, C>) -> Result<(), Failure> {
    let (comm, caches) = (rank.comm, &mut rank.caches);
    for class in Class::ALL {
        let timing = if class == Class::Message { PACKETS } else { Timing::Nothing };
        let len = 2 * LEN + comm.size();
        let (window, view) = recorder.timed_step(format!("{class}/create"), timing, || {
            Ok(Window::<C, u32>::with_class(comm, caches, len, class)?)
        })?;
        let mut course = Course { comm, window: &window, timing, recorder };
        let view = course.ring(caches, view)?;
        let view = course.one_origin(caches, view)?;
        let view = course.one_target(caches, view)?;
        let view = course.all_pairs(caches, view)?;
        let view = course.fence(caches, view)?;
        let view = course.lock(caches, view)?;
        let view = course.lock_all_in_turn(caches, view)?;
        let view = course.lock_all(caches, view)?;
        recorder.timed_step(format!("{class}/free"), timing, || {
            window.free(view, caches).map_err(|refused| Failure::new(refused.error))
        })?;
    }
    let own = Lines::copy_of(&vec![0_u32; 2 * LEN]);
    let exposure = comm.hal().expose(caches, own).map_err(|refused| Failure::new(refused.error))?;
    private(comm, caches, &exposure, recorder)?;
    exposure.end(caches);
    Ok(())
}

impl<'c, C: Core> Course<'_, 'c, C> {
    /// Does one step, which hands the view back.
    fn step(
        &mut self,
        name: &str,
        work: impl FnOnce(&Window<'c, C, u32>) -> Result<View<'c>, Failure>,
    ) -> Result<View<'c>, Failure> {
        let name = format!("{}/{name}", self.window.class());
        self.recorder.timed_step(name, self.timing, || work(self.window))
    }

    /// Each rank puts to the next, gets from it, accumulates there and notifies it.
    fn ring(&mut self, caches: &mut Caches, view: View<'c>) -> Result<View<'c>, Failure> {
        let (right, left) = neighbours(self.comm);
        self.step("pscw-ring", |window| {
            let mut view = view;
            for epoch in 1..=EPOCHS {
                let (values, mut got) = (vec![epoch; LEN], vec![0; LEN]);
                view.store(LEN, epoch);
                let exposure = window.post(view, caches, &Group::of([left])?)?;
                let access = window.start(&Group::of([right])?)?;
                access.put(right, 1, &values[1..])?;
                access.get(right, LEN, &mut got)?;
                access.accumulate(right, 2 * LEN, &[1], Operator::SUM)?;
                access.put_notify(right, 0, &values[..1], 0)?;
                access.complete();
                window.await_notifications(0, epoch, Deadline::Never)?;
                view = exposure.wait(caches);
                expect(&[got[0], view.load(LEN - 1), view.load(2 * LEN)], &[epoch; 3])?;
            }
            Ok(view)
        })
    }

    /// Rank 0 puts to all others.
    fn one_origin(&mut self, caches: &mut Caches, view: View<'c>) -> Result<View<'c>, Failure> {
        let (me, size) = (self.comm.rank(), self.comm.size());
        self.step("pscw-one-origin", |window| {
            let (targets, origin) = (Group::of(1..size)?, Group::of([0])?);
            let mut view = view;
            for epoch in 1..=EPOCHS {
                if me == 0 {
                    let values = vec![epoch; 9];
                    let access = window.start(&targets)?;
                    for target in 1..size {
                        access.put(target, 3, &values)?;
                    }
                    access.complete();
                } else {
                    view = window.post(view, caches, &origin)?.wait(caches);
                    expect(&[view.load(3), view.load(11)], &[epoch; 2])?;
                }
            }
            Ok(view)
        })
    }

    /// All others put to rank 0, each to a place of its own.
    fn one_target(&mut self, caches: &mut Caches, view: View<'c>) -> Result<View<'c>, Failure> {
        let (me, size) = (self.comm.rank(), self.comm.size());
        self.step("pscw-one-target", |window| {
            let (target, origins) = (Group::of([0])?, Group::of(1..size)?);
            let mut view = view;
            for epoch in 1..=EPOCHS {
                if me == 0 {
                    view = window.post(view, caches, &origins)?.wait(caches);
                    let all: Vec<u32> = (1..size).map(|origin| view.load(origin)).collect();
                    expect(&all, &vec![epoch; size - 1])?;
                } else {
                    let access = window.start(&target)?;
                    access.put_value(0, me, epoch)?;
                    access.complete();
                }
            }
            Ok(view)
        })
    }

    /// Everybody puts to everybody.
    fn all_pairs(&mut self, caches: &mut Caches, view: View<'c>) -> Result<View<'c>, Failure> {
        let (me, size) = (self.comm.rank(), self.comm.size());
        let all = self.comm.group();
        self.step("pscw-all-pairs", |window| {
            let exposure = window.post(view, caches, &all)?;
            let access = window.start(&all)?;
            for turn in 0..size {
                access.put_value((me + turn) % size, me, 7)?;
            }
            access.complete();
            let view = exposure.wait(caches);
            let found: Vec<u32> = (0..size).map(|origin| view.load(origin)).collect();
            expect(&found, &vec![7; size])?;
            Ok(view)
        })
    }

    /// Epochs between fences.
    fn fence(&mut self, caches: &mut Caches, view: View<'c>) -> Result<View<'c>, Failure> {
        let (right, _) = neighbours(self.comm);
        self.step("fence", |window| {
            let mut view = view;
            for epoch in 1..=EPOCHS {
                let (values, mut got) = (vec![epoch; LEN], [0]);
                view.store(LEN, epoch);
                let access = window.fence(view, caches, Assertions::empty())?;
                access.put(right, 0, &values)?;
                access.get(right, LEN, &mut got)?;
                view = access.close(caches, Assertions::empty());
                expect(&[got[0], view.load(LEN - 1)], &[epoch; 2])?;
            }
            Ok(view)
        })
    }

    /// Each rank locks the next one's part, which nobody else wants.
    fn lock(&mut self, caches: &mut Caches, view: View<'c>) -> Result<View<'c>, Failure> {
        let comm = self.comm;
        let (right, _) = neighbours(comm);
        self.step("lock", |window| {
            let lent = window.lend(view, caches)?;
            for kind in [Lock::Exclusive, Lock::Shared] {
                let mut got = [0];
                let epoch = window.lock(right, kind)?;
                epoch.put_value(right, 0, 5)?;
                let epoch = epoch.flush();
                epoch.get(right, 0, &mut got)?;
                epoch.unlock();
                expect(&got, &[5])?;
                comm.barrier();
            }
            Ok(lent.take_back(caches))
        })
    }

    /// All parts are locked together, by one rank after the other.
    fn lock_all_in_turn(&mut self, caches: &mut Caches, view: View<'c>) -> Result<View<'c>, Failure> {
        let comm = self.comm;
        self.step("lock-all-in-turn", |window| {
            let lent = window.lend(view, caches)?;
            for turn in 0..comm.size() {
                if turn == comm.rank() {
                    let epoch = window.lock_all()?;
                    (0..comm.size()).try_for_each(|target| epoch.accumulate(target, 1, &[1], Operator::SUM))?;
                    epoch.unlock_all();
                }
                comm.barrier();
            }
            Ok(lent.take_back(caches))
        })
    }

    /// All parts are locked together, by all ranks at once.
    fn lock_all(&mut self, caches: &mut Caches, view: View<'c>) -> Result<View<'c>, Failure> {
        let (comm, timing) = (self.comm, mem::replace(&mut self.timing, CONTENDED));
        let view = self.step("lock-all", |window| {
            let lent = window.lend(view, caches)?;
            let epoch = window.lock_all()?;
            (0..comm.size()).try_for_each(|target| epoch.accumulate(target, 1, &[1], Operator::SUM))?;
            epoch.unlock_all();
            comm.barrier();
            Ok(lent.take_back(caches))
        });
        self.timing = timing;
        view
    }
}

/// A window over private memory, which others have to map.
fn private<'e, C: Core>(
    comm: &'e Comm<'e, C>,
    caches: &mut Caches,
    exposure: &'e Exposure<'e, Lines<u32>>,
    recorder: &mut Recorder<'_, C>,
) -> Result<(), Failure> {
    let (right, left) = neighbours(comm);
    let (window, mut view) = recorder
        .step("private/create", || Ok(Window::<C, u32>::over(comm, caches, exposure, 2 * LEN, Class::Default)?))?;
    view = recorder.step("private/pscw-ring", || {
        for epoch in 1..=EPOCHS {
            let values = vec![epoch; LEN];
            let exposure = window.post(view, caches, &Group::of([left])?)?;
            let access = window.start(&Group::of([right])?)?;
            access.put(right, 0, &values)?;
            access.complete();
            view = exposure.wait(caches);
            expect(&[view.load(LEN - 1)], &[epoch])?;
        }
        Ok(view)
    })?;
    recorder.step("private/free", || window.free(view, caches).map_err(|refused| Failure::new(refused.error)))
}

fn expect(found: &[u32], wanted: &[u32]) -> Result<(), Failure> {
    if found == wanted { Ok(()) } else { Err(Failure::new(format_args!("{found:?} instead of {wanted:?}"))) }
}
