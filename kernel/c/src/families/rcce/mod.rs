//! RCCE and iRCCE: what their C side asks for.
//!
//! Functions of programs are in C, beside this (`kernel/c/rcce`): they have the interface of RCCE, check pointers, and call
//! through the [table]. Here is what they do with other ranks: [buffers] and [flags] in lines of the MPBs,
//! messages and [requests], operations of [groups], [shared] memory.
//!
//! A program of RCCE's *gory* interface has nearly all lines of the MPBs, as in RCCE, and its messages go through lines of its
//! own. The others have those that are spare, and messages go through ours. With the option `rcce_faithful` messages go
//! as RCCE's, 251 lines at a time, and the lines that a program allocates are taken from these.

mod blocks;
mod buffers;
mod code;
mod flags;
mod groups;
mod leaks;
mod requests;
mod shared;
mod table;

use alloc::{collections::BTreeMap, format, vec::Vec};
use core::{
    cell::{Cell, Ref, RefCell, RefMut},
    mem,
};

use kernel::{
    collectives::{Comm, Error},
    hal::{Core, LINE_BYTES},
};

use self::{
    buffers::Buffers,
    flags::Flags,
    groups::{Members, Type},
    leaks::Leaks,
    requests::{Ended, Requests, Wanted},
    shared::Shared,
};
use crate::session::Session;

pub(crate) use self::table::{FAITHFUL, Table};

/// What RCCE knows of a rank.
pub(crate) struct Rcce<'r, C: Core> {
    comm: &'r Comm<'r, C>,
    /// Until the program is over.
    buffers: RefCell<Option<Buffers<'r, C>>>,
    flags: RefCell<Flags>,
    requests: RefCell<Requests>,
    shared: RefCell<Shared<'r>>,
    /// Whether the program has flushed it: it knows that it is cached.
    has_flushed: Cell<bool>,
    /// Numbers of the last barriers of communicators, by where their flags start.
    barriers: RefCell<BTreeMap<usize, u8>>,
    /// Ranks whose register this one has.
    registers: RefCell<Vec<usize>>,
    /// Where words of atomic counters are, and how many of them are taken.
    counters: RefCell<(usize, usize)>,
    /// What the program has allocated.
    leaks: RefCell<Leaks>,
    /// Whether it was said that requests are outstanding in an operation of all.
    has_warned: Cell<bool>,
    /// Whether messages and operations of all are those of `collectives`.
    is_ours: bool,
}

/// What is to be done before an allocation that would move messages, or is an operation of all.
const COMPLETE_FIRST: &str = "nothing is allocated while requests are outstanding: complete all requests first";

impl<'r, C: Core> Rcce<'r, C> {
    /// Collective.
    fn new(session: &Session<'_, 'r, C>, is_gory: bool) -> Result<Self, i32> {
        let comm = session.comm;
        let is_ours = !is_gory && !session.has_option(FAITHFUL);
        let mut shared = Shared::default();
        if !is_ours {
            // Later on, operations of all are not to be had. Where there is no shared memory, `allocate` says why.
            let _ = shared.reserve(comm);
        }
        let lines = if is_ours {
            comm.reserve_lines(comm.mpb_layout().spare().len()).map_err(code::of)?
        } else {
            let mut lines = comm.rcce_profile().map_err(code::of)?.into_lines();
            if is_gory {
                lines.extend(lines.limit_bytes() / LINE_BYTES).map_err(code::of)?;
            }
            lines
        };
        Ok(Self {
            comm,
            buffers: RefCell::new(Some(Buffers::new(lines))),
            flags: RefCell::default(),
            requests: RefCell::default(),
            shared: RefCell::new(shared),
            has_flushed: Cell::new(false),
            barriers: RefCell::default(),
            registers: RefCell::default(),
            counters: RefCell::default(),
            leaks: RefCell::default(),
            has_warned: Cell::new(false),
            is_ours,
        })
    }

    /// All that was begun is over. Collective.
    fn finalize(&self, session: &Session<'_, 'r, C>) {
        self.finish_begun(session);
        drop(self.buffers.borrow_mut().take());
    }

    /// Says what the program has not freed, at its end. All ranks allocate alike, so the first one says it. `place` says what tools call an
    /// address.
    pub(crate) fn tell_leaks(&self, session: &Session<'_, 'r, C>, place: &dyn Fn(usize) -> usize) {
        if self.comm.rank() == 0 {
            let core = session.comm.hal().core().index();
            self.leaks.borrow().lines(core, place).iter().for_each(|line| session.print_line(line));
        }
    }

    fn is_over(&self) -> bool {
        self.buffers.borrow().is_none()
    }

    fn buffers(&self) -> Result<Ref<'_, Buffers<'r, C>>, i32> {
        Ref::filter_map(self.buffers.borrow(), Option::as_ref).map_err(|_| code::COMM_UNDEFINED)
    }

    fn buffers_mut(&self) -> Result<RefMut<'_, Buffers<'r, C>>, i32> {
        let buffers = RefMut::filter_map(self.buffers.borrow_mut(), Option::as_mut);
        let mut buffers = buffers.map_err(|_| code::COMM_UNDEFINED)?;
        buffers.may_extend = self.requests.borrow().are_over();
        Ok(buffers)
    }

    /// Sends a message; none if it has no bytes, as in RCCE.
    fn send(&self, message: &[u8], to: usize) -> Result<(), Error> {
        self.comm.check_rank(to)?;
        if message.is_empty() {
            return Ok(());
        }
        self.send_even_nothing(message, to)
    }

    /// Sends a message, also one of no bytes.
    fn send_even_nothing(&self, message: &[u8], to: usize) -> Result<(), Error> {
        if self.requests.borrow().are_over() {
            return self.comm.send(message, to);
        }
        let wanted = Wanted {
            is_send: true,
            bytes: message.as_ptr().cast_mut(),
            len: message.len(),
            any_len: false,
            peer: Some(to),
        };
        // SAFETY: the message is borrowed until the wait is over.
        let number = unsafe { self.requests.borrow_mut().start(wanted) };
        self.wait(number).result
    }

    /// Receives a message as long as the buffer.
    fn receive(&self, message: &mut [u8], from: usize) -> Result<(), Error> {
        self.comm.check_rank(from)?;
        if message.is_empty() {
            return Ok(());
        }
        if self.requests.borrow().are_over() {
            return self.comm.receive(message, from);
        }
        let wanted = Wanted {
            is_send: false,
            bytes: message.as_mut_ptr(),
            len: message.len(),
            any_len: false,
            peer: Some(from),
        };
        // SAFETY: the message is borrowed until the wait is over.
        let number = unsafe { self.requests.borrow_mut().start(wanted) };
        self.wait(number).result
    }

    /// The length of the message that `from` sends to this rank now, if no request waits for it.
    fn incoming(&self, from: usize) -> Result<Option<usize>, Error> {
        self.push();
        self.comm.check_rank(from)?;
        if self.requests.borrow().expect_from(from) { Ok(None) } else { self.comm.incoming(from) }
    }

    fn push(&self) {
        self.requests.borrow_mut().push(self.comm);
    }

    /// Waits until a request is over.
    fn wait(&self, number: u32) -> Ended {
        loop {
            self.push();
            let look = self.requests.borrow_mut().look(number);
            match look {
                Ok(Some(ended)) => return ended,
                Ok(None) => return Ended { result: Ok(()), peer: 0, len: 0 },
                Err(_) => self.await_step(),
            }
        }
    }

    /// Waits until all requests are over that send, or that receive.
    fn wait_for_all(&self, is_send: bool) {
        self.push();
        while self.requests.borrow().go_on(is_send) {
            self.await_step();
            self.push();
        }
    }

    fn await_step(&self) {
        // A machine that dies ends this rank in its next operation.
        let _ = self.requests.borrow().wait(self.comm, &[]);
    }

    /// Operations of all share lines with what is being sent, so that a rank which sends waits here until it is received. What
    /// all ranks have begun alike each of them has to finish, the receives as well. A rank that only receives cannot know
    /// whether the message is to come before the operation or after it, unless it has begun.
    fn finish_begun(&self, session: &Session<'_, 'r, C>) {
        if self.requests.borrow().are_over() {
            return;
        }
        if !self.has_warned.replace(true) {
            let rank = self.comm.rank();
            session.print_line(&format!(
                "UE {rank}: requests are outstanding in an operation of all, which may wait for ever: complete all requests before"
            ));
        }
        let sends = self.requests.borrow().go_on(true);
        self.push();
        while self.requests.borrow().hold_others_up(sends) {
            self.await_step();
            self.push();
        }
    }

    /// Says why something was not allocated, where RCCE's number does not.
    fn tell_of_requests<T>(&self, session: &Session<'_, '_, C>, result: Result<T, i32>) -> Result<T, i32> {
        result.map_err(|error| {
            if error != code::REQUESTS {
                return error;
            }
            session.print_line(&format!("UE {}: {COMPLETE_FIRST}", self.comm.rank()));
            code::MALLOC
        })
    }

    /// A barrier of a communicator whose flags start at `start`.
    fn barrier(&self, members: Members<'_>, start: usize) -> Result<(), i32> {
        self.push();
        if members.ranks.len() == self.comm.size() {
            self.comm.barrier();
            return Ok(());
        }
        let number = {
            let mut barriers = self.barriers.borrow_mut();
            let number = barriers.entry(start).or_default();
            *number = number.wrapping_add(1);
            *number
        };
        groups::barrier(&*self.buffers()?, members, start, number).map_err(code::of)
    }

    fn broadcast(
        &self,
        session: &Session<'_, 'r, C>,
        mut members: Members<'_>,
        bytes: &mut [u8],
        root: usize,
    ) -> Result<(), i32> {
        if root >= members.ranks.len() {
            return Err(code::ID);
        }
        self.finish_begun(session);
        members.is_world &= self.is_ours;
        groups::broadcast(self.comm, members, bytes, root).map_err(code::of)
    }

    fn reduce(
        &self,
        session: &Session<'_, 'r, C>,
        mut members: Members<'_>,
        operands: &[u8],
        [element, operator]: [i32; 2],
        root: Option<usize>,
    ) -> Result<Vec<u8>, i32> {
        self.finish_begun(session);
        members.is_world &= self.is_ours;
        Type::of(element)?.reduce(self.comm, members, operands, operator, root)
    }

    /// Flushes shared memory, as the program wants it.
    fn flush(&self, session: &Session<'_, 'r, C>) {
        self.has_flushed.set(true);
        session.with_caches(|caches| self.shared.borrow_mut().flush(self.comm, caches));
    }

    /// Makes shared memory coherent for a program that has not flushed it yet, as if it were not cached: RCCE's is so by
    /// default, and there are programs that rely on it.
    fn make_coherent(&self, session: &Session<'_, 'r, C>) {
        if !self.has_flushed.get() && self.shared.borrow().is_in_use() {
            session.with_caches(|caches| self.shared.borrow_mut().flush(self.comm, caches));
        }
    }

    /// Takes the register of `ue`'s core, if it may wait or the register is free.
    fn acquire(&self, ue: usize, waits: bool) -> Result<bool, Error> {
        self.comm.register_lock(ue)?;
        let (hal, core) = (self.comm.hal(), self.comm.core_of(ue));
        let acquired = if waits {
            hal.acquire_register(core, "a lock of the program");
            true
        } else {
            hal.try_acquire_register(core)
        };
        if acquired {
            hal.invalidate_mpb();
            self.registers.borrow_mut().push(ue);
        } else {
            hal.relax();
        }
        Ok(acquired)
    }

    /// Frees the register of `ue`'s core, which any rank may do.
    fn release(&self, ue: usize) -> Result<(), Error> {
        self.comm.register_lock(ue)?;
        self.registers.borrow_mut().retain(|held| *held != ue);
        self.comm.hal().drain();
        self.comm.hal().free_register(self.comm.core_of(ue));
        Ok(())
    }

    /// The hardware, unless this rank has the register of `ue`'s core already.
    fn unless_held(&self, ue: usize) -> Option<&'r C> {
        (!self.registers.borrow().contains(&ue)).then(|| self.comm.hal())
    }

    /// The next atomic counter: a word in the MPB of one rank after the other, written under the register of its core.
    fn new_counter(&self) -> Result<usize, i32> {
        const PER_LINE: usize = LINE_BYTES / 4;
        let (mut line, mut taken) = *self.counters.borrow();
        let number = taken;
        if number.is_multiple_of(PER_LINE * self.comm.size()) {
            line = self.buffers_mut()?.allocate_zeros(LINE_BYTES)?;
        }
        taken += 1;
        *self.counters.borrow_mut() = (line, taken);
        let word = line / 4 + number / self.comm.size() % PER_LINE;
        Ok(word * self.comm.size() + number % self.comm.size())
    }

    /// Does something to an atomic counter: what it returns is the new value. Returns the old one.
    fn count(&self, counter: usize, change: impl FnOnce(u32) -> Option<u32>) -> Result<u32, i32> {
        let (word, ue) = (counter / self.comm.size(), counter % self.comm.size());
        let core = self.comm.core_of(ue);
        self.comm.register_lock(ue).map_err(code::of)?;
        let _guard = self.unless_held(ue).map(|hal| hal.lock(core, "an atomic counter of the program"));
        let buffers = self.buffers()?;
        let old = buffers.lines.load_word(ue, word).map_err(code::of)?;
        if let Some(new) = change(old) {
            buffers.lines.store_word(ue, word, new).map_err(code::of)?;
        }
        Ok(old)
    }

    /// Flags for the barrier of at most `members` members, which no rank has used. Collective.
    fn new_barrier(&self, members: usize) -> Result<usize, i32> {
        let start = self.buffers_mut()?.allocate_zeros(groups::barrier_bytes(members))?;
        self.barriers.borrow_mut().insert(start, 0);
        Ok(start)
    }

    /// Gives them back.
    fn free_barrier(&self, start: usize) -> Result<(), i32> {
        self.barriers.borrow_mut().remove(&start).ok_or(code::COMM_UNDEFINED)?;
        self.buffers_mut()?.free(start)
    }

    /// Says what is wrong with a message, which RCCE's number does not.
    fn tell(&self, session: &Session<'_, '_, C>, what: &str, result: Result<(), Error>) -> Result<(), i32> {
        if let Err(error @ (Error::MessageLength { .. } | Error::SelfMessage { .. })) = &result {
            session.before_waiting();
            session.print_line(&format!("{what}: {error}"));
        }
        result.map_err(code::of)
    }
}

impl<C: Core> Drop for Rcce<'_, C> {
    fn drop(&mut self) {
        // Giving lines back is collective, and a program may end without `RCCE_finalize`, or on some ranks only.
        mem::forget(self.buffers.borrow_mut().take());
    }
}
