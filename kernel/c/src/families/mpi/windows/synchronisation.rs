//! Fences, posts and starts, locks and flushes.

use alloc::{rc::Rc, vec::Vec};
use core::mem;

use kernel::hal::{
    Core, CoreId,
    act::{Asserted, Synchronisation},
};

use super::{
    Window,
    access::{on_window, wait},
    declared::Told,
    epochs::{By, Members},
    wire::{LockWanted, Word},
};
use crate::families::mpi::{
    class::{Class, Fault},
    handles::Handle,
    place::Place,
    state::Here,
};

/// The ABI's assertions.
const NO_CHECK: i32 = 1024;
const NO_PRECEDE: i32 = 2048;
const NO_PUT: i32 = 4096;
const NO_STORE: i32 = 8192;
const NO_SUCCEED: i32 = 16384;

/// The ABI's kinds of locks.
const EXCLUSIVE: i32 = 301;
const SHARED: i32 = 302;

fn check_assertions(assertions: i32, known: i32) -> Result<(), Fault> {
    if assertions & !known == 0 { Ok(()) } else { Err(Fault::new(Class::ASSERT, "it is none for this function")) }
}

/// What a machine that checks programs is told of that.
fn asserted(assertions: i32) -> Asserted {
    let all = [
        (NO_CHECK, Asserted::NO_CHECK),
        (NO_PRECEDE, Asserted::NO_PRECEDE),
        (NO_PUT, Asserted::NO_PUT),
        (NO_STORE, Asserted::NO_STORE),
        (NO_SUCCEED, Asserted::NO_SUCCEED),
    ];
    all.into_iter().filter(|(flag, _)| assertions & flag != 0).map(|(_, asserted)| asserted).collect()
}

/// The cores of these ranks, if anybody is told of them.
fn cores<C: Core>(here: &Here<'_, '_, '_, C>, ranks: &[usize]) -> Vec<CoreId> {
    let told = if here.is_checked() { ranks } else { &[] };
    told.iter().map(|rank| here.core_of(*rank)).collect()
}

impl Window {
    /// Opens the way to a target: an epoch has to allow it.
    pub(super) fn enter<C: Core>(&self, here: &Here<'_, '_, '_, C>, target: usize, passive: bool) -> Result<(), Fault> {
        let by = self.epochs.borrow_mut().access(target);
        let by =
            by.map_err(|class| Fault::new(class, "no epoch allows access to this target: lock, start or fence first"))?;
        if passive && !matches!(by, By::Lock | By::LockAll) {
            return Err(Fault::new(Class::RMA_SYNC, "an operation with a request needs a lock"));
        }
        match by {
            By::Start => self.await_post(here, target)?,
            By::LockAll if self.epochs.borrow().asks_all() && !self.ends.has_lock_of(target) => {
                self.say(
                    here,
                    target,
                    &Word::Lock(LockWanted { is_exclusive: false, joins: here.windows.have_locks() }),
                )?;
                wait(here, || self.ends.has_lock_of(target))?;
                self.declare_locked(here, target, false);
            }
            _ => {}
        }
        self.open.borrow_mut().entry(target).or_default();
        Ok(())
    }

    fn await_post<C: Core>(&self, here: &Here<'_, '_, '_, C>, target: usize) -> Result<(), Fault> {
        let needs = self.epochs.borrow_mut().needs_post(target);
        if needs {
            wait(here, || self.ends.take_post(target))?;
            self.declare_received(here, Told::Post, target);
        }
        Ok(())
    }

    /// Waits for the answers of all targets when 1 MiB has been queued for them, or is wanted of them, since their last ones, lest that
    /// fill heaps: a program may access windows any number of times before it synchronises.
    pub(super) fn bound_queue<C: Core>(
        &self,
        here: &Here<'_, '_, '_, C>,
        target: usize,
        bytes: usize,
    ) -> Result<(), Fault> {
        const MOST: usize = 1 << 20;
        /// What is queued besides the program's bytes.
        const HEAD: usize = 64;
        *self.open.borrow_mut().entry(target).or_default() += HEAD + bytes;
        if self.open.borrow().values().sum::<usize>() < MOST {
            return Ok(());
        }
        let full: Vec<_> = {
            let mut open = self.open.borrow_mut();
            let full = open.iter_mut().filter(|(_, queued)| **queued > 0);
            full.map(|(target, queued)| (*target, mem::take(queued))).collect()
        };
        let targets = full.into_iter().map(|(target, _)| target);
        let tickets = self.ask_for_answers(here, targets)?;
        wait(here, || tickets.iter().all(|ticket| self.ends.is_answered(*ticket)))
    }

    /// Asks targets to answer when all that was asked of them before is done.
    fn ask_for_answers<C: Core>(
        &self,
        here: &Here<'_, '_, '_, C>,
        targets: impl IntoIterator<Item = usize>,
    ) -> Result<Vec<u32>, Fault> {
        let ask = |target| {
            let ticket = self.ends.ticket(target, None);
            self.say(here, target, &Word::Flush(ticket)).map(|()| ticket)
        };
        targets.into_iter().map(ask).collect()
    }

    /// Waits until all that was done to these targets is done there.
    fn flush<C: Core>(&self, here: &Here<'_, '_, '_, C>, targets: &[usize]) -> Result<(), Fault> {
        let was_open = |target: &usize| self.open.borrow_mut().remove(target).is_some();
        let tickets = self.ask_for_answers(here, targets.iter().copied().filter(was_open))?;
        wait(here, || tickets.iter().all(|ticket| self.ends.is_answered(*ticket)))?;
        self.check_refusals(targets)
    }

    /// Waits until all that this rank has asked of these targets is here.
    fn flush_locally<C: Core>(&self, here: &Here<'_, '_, '_, C>, targets: &[usize]) -> Result<(), Fault> {
        wait(here, || self.ends.have_answered(|rank| targets.contains(&rank)))
    }

    fn check_refusals(&self, targets: &[usize]) -> Result<(), Fault> {
        let refused: Vec<_> = targets.iter().filter(|target| self.ends.take_refusal(**target)).collect();
        match refused.first() {
            None => Ok(()),
            Some(rank) => {
                let why = alloc::format!("something was accessed that rank {rank} of all ranks has not attached");
                Err(Fault::new(Class::RMA_RANGE, why))
            }
        }
    }

    fn all(&self) -> &[usize] {
        self.comm.group.ranks()
    }

    /// The members of a group, all of which are ranks of the window.
    fn members<C: Core>(&self, here: &Here<'_, '_, '_, C>, group: Handle, assertions: i32) -> Result<Members, Fault> {
        let group = here.group(group)?;
        if group.ranks().iter().any(|rank| self.comm.group.place(*rank).is_none()) {
            return Err(Fault::new(Class::GROUP, "a rank of the group is not in the window"));
        }
        Ok(Members { ranks: group.ranks().to_vec(), no_check: assertions & NO_CHECK != 0 })
    }

    /// All that was posted is over.
    fn unexpose<C: Core>(&self, here: &Here<'_, '_, '_, C>) {
        self.epochs.borrow_mut().unexpose();
        self.declare_synchronisation(here, Synchronisation::Wait);
    }

    /// Gives the locks of these targets back, when all is done there.
    fn unlock<C: Core>(&self, here: &Here<'_, '_, '_, C>, targets: &[usize]) -> Result<(), Fault> {
        let mut tickets = Vec::new();
        for target in targets {
            self.open.borrow_mut().remove(target);
            let ticket = self.ends.ticket(*target, None);
            self.ends.forget_lock_of(*target);
            self.say(here, *target, &Word::Unlock(ticket))?;
            tickets.push(ticket);
        }
        wait(here, || tickets.iter().all(|ticket| self.ends.is_answered(*ticket)))?;
        self.check_refusals(targets)
    }
}

/// Synchronises a window: what is stored to shared memory is there before, and what others have stored is seen afterwards.
fn synchronise<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    action: impl FnOnce(&Rc<Window>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    on_window(here, handle, |window| {
        window.meet(here);
        let open = window.shown(here);
        let done = action(window);
        window.show_changes(here, &open);
        window.meet(here);
        done
    })
}

/// A target of a lock or a flush; nothing for nobody.
fn on_target<C: Core>(
    here: &Here<'_, '_, '_, C>,
    (rank, handle): (i32, Handle),
    action: impl FnOnce(&Rc<Window>, usize) -> Result<(), Fault>,
) -> Result<(), Fault> {
    synchronise(here, handle, |window| window.target(rank)?.map_or(Ok(()), |target| action(window, target)))
}

// SAFETY, of all that follow: pointers are the program's, as the standard of MPI has them.

pub(super) unsafe fn fence<C: Core>(here: &Here<'_, '_, '_, C>, assertions: i32, handle: Handle) -> Result<(), Fault> {
    synchronise(here, handle, |window| {
        check_assertions(assertions, NO_STORE | NO_PUT | NO_PRECEDE | NO_SUCCEED)?;
        window.epochs.borrow_mut().fence(assertions & NO_SUCCEED != 0)?;
        window.declare_synchronisation(here, Synchronisation::Fence(asserted(assertions)));
        let done = window.flush(here, window.all());
        window.declare_completion(here, window.all(), false);
        here.session.before_waiting();
        here.barrier(&window.comm)?;
        if window.shared.is_some() {
            // What was put is in the copy of its target until then.
            window.meet(here);
            here.barrier(&window.comm)?;
        }
        done
    })
}

pub(super) unsafe fn start<C: Core>(
    here: &Here<'_, '_, '_, C>,
    group: Handle,
    assertions: i32,
    handle: Handle,
) -> Result<(), Fault> {
    synchronise(here, handle, |window| {
        check_assertions(assertions, NO_CHECK)?;
        let members = window.members(here, group, assertions)?;
        let cores = cores(here, &members.ranks);
        window.epochs.borrow_mut().start(members)?;
        window.declare_synchronisation(here, Synchronisation::Start(&cores, asserted(assertions)));
        Ok(())
    })
}

pub(super) unsafe fn complete<C: Core>(here: &Here<'_, '_, '_, C>, handle: Handle) -> Result<(), Fault> {
    synchronise(here, handle, |window| {
        let Members { ranks, .. } = window.epochs.borrow().started()?;
        for target in &ranks {
            window.await_post(here, *target)?;
        }
        // What is asked of a target comes with the answer to the flush.
        let done = if window.parts.is_none() { window.flush(here, &ranks) } else { window.flush_locally(here, &ranks) };
        window.declare_completion(here, &ranks, false);
        for target in &ranks {
            window.open.borrow_mut().remove(target);
            window.declare_sent(here, Told::Completion, *target);
            window.say(here, *target, &Word::Complete)?;
        }
        window.epochs.borrow_mut().complete();
        window.declare_synchronisation(here, Synchronisation::Complete);
        done
    })
}

pub(super) unsafe fn post<C: Core>(
    here: &Here<'_, '_, '_, C>,
    group: Handle,
    assertions: i32,
    handle: Handle,
) -> Result<(), Fault> {
    synchronise(here, handle, |window| {
        check_assertions(assertions, NO_CHECK | NO_STORE | NO_PUT)?;
        let members = window.members(here, group, assertions)?;
        window.epochs.borrow_mut().post(members.clone())?;
        let how = Synchronisation::Post(&cores(here, &members.ranks), asserted(assertions));
        window.declare_synchronisation(here, how);
        if !members.no_check {
            for origin in &members.ranks {
                window.declare_sent(here, Told::Post, *origin);
                window.say(here, *origin, &Word::Post)?;
            }
        }
        Ok(())
    })
}

pub(super) unsafe fn wait_for_origins<C: Core>(here: &Here<'_, '_, '_, C>, handle: Handle) -> Result<(), Fault> {
    synchronise(here, handle, |window| {
        let Members { ranks, .. } = window.epochs.borrow().exposed()?;
        wait(here, || window.ends.take_completions(&ranks))?;
        ranks.iter().for_each(|origin| window.declare_received(here, Told::Completion, *origin));
        window.unexpose(here);
        Ok(())
    })
}

pub(super) fn test<C: Core>(here: &Here<'_, '_, '_, C>, handle: Handle, flag: Place<i32>) -> Result<(), Fault> {
    synchronise(here, handle, |window| {
        let Members { ranks, .. } = window.epochs.borrow().exposed()?;
        here.engine.step(false)?;
        let is_over = window.ends.take_completions(&ranks);
        if is_over {
            ranks.iter().for_each(|origin| window.declare_received(here, Told::Completion, *origin));
            window.unexpose(here);
        }
        flag.write(is_over.into());
        Ok(())
    })
}

pub(super) unsafe fn lock<C: Core>(
    here: &Here<'_, '_, '_, C>,
    kind: i32,
    rank: i32,
    assertions: i32,
    handle: Handle,
) -> Result<(), Fault> {
    on_target(here, (rank, handle), |window, target| {
        check_assertions(assertions, NO_CHECK)?;
        if ![EXCLUSIVE, SHARED].contains(&kind) {
            return Err(Class::LOCKTYPE.into());
        }
        let asks = assertions & NO_CHECK == 0;
        let joins = here.windows.have_locks();
        window.epochs.borrow_mut().lock(target, asks)?;
        window.declare_lock(here, Some(target), kind == EXCLUSIVE, asserted(assertions));
        if asks {
            window.say(here, target, &Word::Lock(LockWanted { is_exclusive: kind == EXCLUSIVE, joins }))?;
            wait(here, || window.ends.has_lock_of(target))?;
            window.declare_locked(here, target, kind == EXCLUSIVE);
        }
        if kind == EXCLUSIVE {
            window.alone.borrow_mut().insert(target);
        }
        Ok(())
    })
}

pub(super) unsafe fn unlock<C: Core>(here: &Here<'_, '_, '_, C>, rank: i32, handle: Handle) -> Result<(), Fault> {
    on_target(here, (rank, handle), |window, target| {
        let was_asked = window.epochs.borrow_mut().unlock(target)?;
        let was_alone = window.alone.borrow_mut().remove(&target);
        window.declare_unlocked(here, Some(target), was_alone);
        if was_asked { window.unlock(here, &[target]) } else { window.flush(here, &[target]) }
    })
}

pub(super) unsafe fn lock_all<C: Core>(
    here: &Here<'_, '_, '_, C>,
    assertions: i32,
    handle: Handle,
) -> Result<(), Fault> {
    synchronise(here, handle, |window| {
        check_assertions(assertions, NO_CHECK)?;
        window.epochs.borrow_mut().lock_all(assertions & NO_CHECK == 0)?;
        window.declare_lock(here, None, false, asserted(assertions));
        Ok(())
    })
}

pub(super) unsafe fn unlock_all<C: Core>(here: &Here<'_, '_, '_, C>, handle: Handle) -> Result<(), Fault> {
    synchronise(here, handle, |window| {
        window.epochs.borrow_mut().unlock_all()?;
        window.declare_unlocked(here, None, false);
        let (locked, others): (Vec<_>, Vec<_>) =
            window.all().iter().copied().partition(|target| window.ends.has_lock_of(*target));
        let done = window.unlock(here, &locked);
        window.flush(here, &others)?;
        done
    })
}

/// Flushes of one target, or all, here or there.
fn flush_targets<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    rank: Option<i32>,
    locally: bool,
) -> Result<(), Fault> {
    synchronise(here, handle, |window| {
        let one = rank.map(|rank| window.target(rank)).transpose()?;
        let (targets, is_open) = match &one {
            Some(None) => return Ok(()),
            Some(Some(target)) => (core::slice::from_ref(target), window.epochs.borrow().is_locked(*target)),
            None => (window.all(), window.epochs.borrow().is_any_locked()),
        };
        if !is_open {
            return Err(Fault::new(Class::RMA_SYNC, "nothing is locked that could be flushed"));
        }
        let done = if locally { window.flush_locally(here, targets) } else { window.flush(here, targets) };
        window.declare_completion(here, targets, locally);
        done
    })
}

pub(super) unsafe fn flush<C: Core>(here: &Here<'_, '_, '_, C>, rank: i32, handle: Handle) -> Result<(), Fault> {
    flush_targets(here, handle, Some(rank), false)
}

pub(super) unsafe fn flush_local<C: Core>(here: &Here<'_, '_, '_, C>, rank: i32, handle: Handle) -> Result<(), Fault> {
    flush_targets(here, handle, Some(rank), true)
}

pub(super) unsafe fn flush_all<C: Core>(here: &Here<'_, '_, '_, C>, handle: Handle) -> Result<(), Fault> {
    flush_targets(here, handle, None, false)
}

pub(super) unsafe fn flush_local_all<C: Core>(here: &Here<'_, '_, '_, C>, handle: Handle) -> Result<(), Fault> {
    flush_targets(here, handle, None, true)
}

/// The memory of a part and what others see of it are the same. Others are answered, so that whoever polls sees something.
pub(super) unsafe fn sync<C: Core>(here: &Here<'_, '_, '_, C>, handle: Handle) -> Result<(), Fault> {
    synchronise(here, handle, |_| Ok(here.engine.step(false)?))
}
