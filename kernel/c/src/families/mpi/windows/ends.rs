//! What goes to and fro for a window: what others do here, and what this rank has asked of them.

use alloc::{
    boxed::Box,
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
    vec,
    vec::Vec,
};
use core::{
    cell::{Cell, RefCell},
    ops::Range,
};

use kernel::{
    collectives::{Answers, RemoteCall},
    hal::Core,
};

use super::{
    locks::Lock,
    part::Part,
    shared::Shared,
    wire::{LockWanted, Place, Word},
};
use crate::families::mpi::collective::blocks::Block;

/// This rank's end of a window. Ranks are those of the world.
pub(super) struct Ends {
    /// The number of the window, the same on all of its ranks.
    pub(super) number: u32,
    pub(super) part: RefCell<Part>,
    lock: RefCell<Lock>,
    /// Ranks that have accessed what is not there, since they were last told.
    strayed: RefCell<BTreeSet<usize>>,
    /// Posts and completions that have come and were not taken, by sender.
    posts: RefCell<BTreeMap<usize, u32>>,
    completions: RefCell<BTreeMap<usize, u32>>,
    /// Ranks whose lock this one has got.
    granted: RefCell<BTreeSet<usize>>,
    /// What was asked and not answered: of whom, and where the answer belongs.
    asked: RefCell<BTreeMap<u32, (usize, Option<Block>)>>,
    tickets: Cell<u32>,
    /// Ranks that have said that something was not there.
    refused: RefCell<BTreeSet<usize>>,
}

impl Ends {
    pub(super) fn new(number: u32, part: Part) -> Self {
        Self {
            number,
            part: RefCell::new(part),
            lock: RefCell::default(),
            strayed: RefCell::default(),
            posts: RefCell::default(),
            completions: RefCell::default(),
            granted: RefCell::default(),
            asked: RefCell::default(),
            tickets: Cell::new(0),
            refused: RefCell::default(),
        }
    }

    /// A call that says this.
    pub(super) fn call(&self, to: usize, word: &Word) -> RemoteCall {
        RemoteCall { to, tag: self.number, bytes: word.bytes() }
    }

    /// A ticket for something that is asked of a rank, and where the answer belongs.
    pub(super) fn ticket(&self, of: usize, landing: Option<Block>) -> u32 {
        let ticket = self.tickets.get();
        self.tickets.set(ticket.wrapping_add(1));
        self.asked.borrow_mut().insert(ticket, (of, landing));
        ticket
    }

    /// Whether that was answered.
    pub(super) fn is_answered(&self, ticket: u32) -> bool {
        !self.asked.borrow().contains_key(&ticket)
    }

    /// Whether everything that was asked of these ranks was answered.
    pub(super) fn have_answered(&self, ranks: impl Fn(usize) -> bool) -> bool {
        !self.asked.borrow().values().any(|(of, _)| ranks(*of))
    }

    /// Whether a rank has refused something since this was last asked.
    pub(super) fn take_refusal(&self, of: usize) -> bool {
        self.refused.borrow_mut().remove(&of)
    }

    /// Takes a post of a rank, if one has come.
    pub(super) fn take_post(&self, of: usize) -> bool {
        take(&mut self.posts.borrow_mut(), of)
    }

    /// Takes one completion of each of these ranks, if all have come.
    pub(super) fn take_completions(&self, of: &[usize]) -> bool {
        let mut completions = self.completions.borrow_mut();
        if of.iter().any(|rank| !completions.contains_key(rank)) {
            return false;
        }
        of.iter().for_each(|rank| {
            take(&mut completions, *rank);
        });
        true
    }

    /// Whether this rank has got the lock of another's part, or its own.
    pub(super) fn has_lock_of(&self, rank: usize) -> bool {
        self.granted.borrow().contains(&rank)
    }

    /// Whether this rank has got any.
    pub(super) fn has_locks(&self) -> bool {
        !self.granted.borrow().is_empty()
    }

    /// It has given it back.
    pub(super) fn forget_lock_of(&self, rank: usize) {
        self.granted.borrow_mut().remove(&rank);
    }

    /// Does what a rank says, and returns what it is answered.
    fn answer(&self, from: usize, word: Word) -> Vec<RemoteCall> {
        let reply = |word: Word| vec![self.call(from, &word)];
        let missing = || {
            self.strayed.borrow_mut().insert(from);
            Vec::new()
        };
        match word {
            Word::Put(place, bytes) => {
                if !self.part.borrow().put(&place, &bytes) {
                    missing();
                }
            }
            Word::Get(ticket, place) => {
                let bytes = self.part.borrow().get(&place).unwrap_or_else(missing);
                return reply(Word::Reply(ticket, bytes));
            }
            Word::Accumulate(how, place, operands) => {
                self.part.borrow().combine(how, &place, &operands).unwrap_or_else(missing);
            }
            Word::Fetch(ticket, how, place, operands) => {
                let bytes = self.part.borrow().combine(how, &place, &operands).unwrap_or_else(missing);
                return reply(Word::Reply(ticket, bytes));
            }
            Word::Swap(ticket, place, bytes) => {
                let bytes = self.part.borrow().swap(&place, &bytes).unwrap_or_else(missing);
                return reply(Word::Reply(ticket, bytes));
            }
            Word::Reply(ticket, bytes) => {
                let asked = self.asked.borrow_mut().remove(&ticket);
                if let Some((_, Some(landing))) = asked {
                    // SAFETY: whoever asked has said that so many values have room there until they have come.
                    unsafe { landing.datatype.unpack(&bytes, landing.address, landing.count) };
                }
            }
            Word::Lock(LockWanted { is_exclusive, joins }) => {
                let granted = self.lock.borrow_mut().acquire(from, is_exclusive, joins);
                return self.grant(&granted);
            }
            Word::Granted => {
                self.granted.borrow_mut().insert(from);
            }
            Word::Unlock(ticket) => {
                let granted = self.lock.borrow_mut().release(from);
                let mut calls = self.grant(&granted);
                calls.extend(reply(Word::Done(ticket, self.strayed.borrow_mut().remove(&from))));
                return calls;
            }
            Word::Flush(ticket) => return reply(Word::Done(ticket, self.strayed.borrow_mut().remove(&from))),
            Word::Done(ticket, failed) => {
                self.asked.borrow_mut().remove(&ticket);
                if failed {
                    self.refused.borrow_mut().insert(from);
                }
            }
            Word::Post => *self.posts.borrow_mut().entry(from).or_default() += 1,
            Word::Complete => *self.completions.borrow_mut().entry(from).or_default() += 1,
        }
        Vec::new()
    }

    fn grant(&self, ranks: &[usize]) -> Vec<RemoteCall> {
        ranks.iter().map(|rank| self.call(*rank, &Word::Granted)).collect()
    }
}

fn take(counts: &mut BTreeMap<usize, u32>, of: usize) -> bool {
    let Some(count) = counts.get_mut(&of) else { return false };
    *count -= 1;
    if *count == 0 {
        counts.remove(&of);
    }
    true
}

/// The ends of all windows of a rank.
#[derive(Default)]
pub(super) struct AllEnds {
    /// By their numbers.
    all: RefCell<BTreeMap<u32, Rc<Ends>>>,
    /// Memory that ranks share, to which others may have put by another window, too.
    shared: RefCell<Vec<Rc<Shared>>>,
    /// What brings such memory and this rank's copy of it together where others reach.
    sharing: RefCell<Option<Sharing>>,
}

/// When others reach memory that is shared.
#[derive(Clone, Copy)]
pub(super) enum Reach {
    /// They will: what was written there is [read](Shared::read_at).
    Before,
    /// They did: what they have stored is [written](Shared::write_at).
    Done,
}

/// How that is done at some addresses, on a core that is known by then.
pub(super) type Sharing = Box<dyn Fn(&Shared, &[Range<usize>], Reach)>;

impl AllEnds {
    pub(super) fn add(&self, ends: Rc<Ends>) {
        self.all.borrow_mut().insert(ends.number, ends);
    }

    pub(super) fn remove(&self, number: u32) {
        self.all.borrow_mut().remove(&number);
    }

    /// Takes shared memory.
    pub(super) fn share(&self, shared: Rc<Shared>, sharing: Sharing) {
        self.shared.borrow_mut().push(shared);
        self.sharing.replace(Some(sharing));
    }

    /// Others reach a place of a part, which may be of memory that is shared.
    fn reach(&self, ends: &Ends, place: &Place, reach: Reach) {
        let shared = self.shared.borrow();
        if let (false, Some(sharing)) = (shared.is_empty(), &*self.sharing.borrow()) {
            let addresses = ends.part.borrow().addresses(place);
            shared.iter().for_each(|shared| sharing(shared, &addresses, reach));
        }
    }

    /// It is shared no longer.
    pub(super) fn unshare(&self, shared: &Rc<Shared>) {
        self.shared.borrow_mut().retain(|of| !Rc::ptr_eq(of, shared));
    }

    /// See [`Shared::catch_up`].
    ///
    /// # Safety
    /// As for [`Shared::meet`].
    pub(super) unsafe fn catch_up<C: Core>(&self, hal: &C) {
        // SAFETY: the caller says so.
        self.shared.borrow().iter().for_each(|shared| unsafe { shared.catch_up(hal) });
    }

    /// This rank's end of the window that a call is about.
    fn called(&self, from: usize, number: u32) -> Rc<Ends> {
        let ends = self.all.borrow().get(&number).cloned();
        ends.unwrap_or_else(|| panic!("rank {from} accesses window {number:#x}, of which there is no part here"))
    }
}

fn understood(from: usize, call: &[u8]) -> Word {
    Word::of(call).unwrap_or_else(|| panic!("rank {from} says {call:?} of a window, which means nothing"))
}

impl Answers for AllEnds {
    fn answer(&self, from: usize, number: u32, call: Vec<u8>) -> Vec<RemoteCall> {
        let (ends, word) = (self.called(from, number), understood(from, &call));
        let place = word.reaches().filter(|_| !self.shared.borrow().is_empty()).cloned();
        let Some(place) = place else { return ends.answer(from, word) };
        let stores = !matches!(word, Word::Get(..));
        self.reach(&ends, &place, Reach::Before);
        let calls = ends.answer(from, word);
        if stores {
            // What a flush will say is done is there for all by then.
            self.reach(&ends, &place, Reach::Done);
        }
        calls
    }

    fn land(&self, from: usize, number: u32, call: &[u8], bytes: Range<usize>, receive: &mut dyn FnMut(&mut [u8])) {
        let ends = self.called(from, number);
        if let Word::Put(place, _) = understood(from, call) {
            if bytes.start == 0 {
                self.reach(&ends, &place, Reach::Before);
            }
            if ends.part.borrow().land(&place, bytes.clone(), receive) {
                return;
            }
        }
        ends.strayed.borrow_mut().insert(from);
        receive(&mut vec![0; bytes.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families::mpi::{datatypes::Datatypes, windows::wire::Place};

    /// Two ends of a window that call each other until nothing is left to say.
    fn settle(ends: &[AllEnds; 2], from: usize, call: RemoteCall) {
        let mut calls = vec![(from, call)];
        while let Some((from, RemoteCall { to, tag, bytes })) = calls.pop() {
            calls.extend(ends[to].answer(from, tag, bytes).into_iter().map(|call| (to, call)));
        }
    }

    #[test]
    fn what_is_asked_is_answered() {
        let mut memory = [3_i32, 4];
        let base = memory.as_mut_ptr().expose_provenance();
        let pair: [Rc<Ends>; 2] = core::array::from_fn(|_| Rc::new(Ends::new(7, Part::fixed(base, 8, 4))));
        let all = pair.each_ref().map(|ends| {
            let all = AllEnds::default();
            all.add(ends.clone());
            all
        });
        let int = Datatypes::new().get(0x209).unwrap();
        let place = |displacement| {
            let numbers: Vec<_> = int.flat().numbers().collect();
            let flat = crate::families::mpi::datatypes::Flat::from_numbers(&numbers).unwrap();
            Place { displacement, count: 1, flat }
        };
        let mut got = 0_i32;
        let landing = Block { address: (&raw mut got).cast(), count: 1, datatype: int.clone() };
        let ticket = pair[0].ticket(1, Some(landing));
        assert!(!pair[0].is_answered(ticket) && !pair[0].have_answered(|rank| rank == 1));
        settle(&all, 0, pair[0].call(1, &Word::Get(ticket, place(1))));
        assert!(pair[0].is_answered(ticket) && pair[0].have_answered(|_| true));
        assert_eq!(got, 4);
        // What is not there is told with the next flush, once.
        settle(&all, 0, pair[0].call(1, &Word::Put(place(2), vec![0; 4])));
        for failed in [true, false] {
            let ticket = pair[0].ticket(1, None);
            settle(&all, 0, pair[0].call(1, &Word::Flush(ticket)));
            assert_eq!((pair[0].is_answered(ticket), pair[0].take_refusal(1)), (true, failed));
        }
        // The second waits for the first.
        let alone = Word::Lock(LockWanted { is_exclusive: true, joins: false });
        settle(&all, 0, pair[0].call(1, &alone));
        settle(&all, 1, pair[1].call(1, &alone));
        assert!(pair[0].has_lock_of(1) && !pair[1].has_lock_of(1));
        assert!(pair[0].has_locks() && !pair[1].has_locks());
        let ticket = pair[0].ticket(1, None);
        settle(&all, 0, pair[0].call(1, &Word::Unlock(ticket)));
        assert!(pair[0].is_answered(ticket) && pair[1].has_lock_of(1));
        settle(&all, 0, pair[0].call(1, &Word::Complete));
        settle(&all, 0, pair[0].call(1, &Word::Post));
        assert!(
            !pair[1].take_completions(&[0, 1]) && pair[1].take_completions(&[0]) && !pair[1].take_completions(&[0])
        );
        assert!(pair[1].take_post(0) && !pair[1].take_post(0));
    }
}
