//! Matching: what has arrived and was not asked for yet.
//!
//! Everything is counted for its window *and its sender*. MPICH counts the posts that an origin has received for a
//! window, whoever they came from, so that a start can take the early post of a later epoch's target for that of its
//! own.

use alloc::{
    collections::{BTreeMap, VecDeque},
    vec::Vec,
};
use core::cell::{Cell, RefCell};

/// Arrivals that are counted, and taken one by one.
pub(super) struct Counts<K>(RefCell<BTreeMap<K, u32>>);

impl<K> Default for Counts<K> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<K: Ord> Counts<K> {
    pub(super) fn add(&self, key: K) {
        *self.0.borrow_mut().entry(key).or_default() += 1;
    }

    pub(super) fn contains(&self, key: &K) -> bool {
        self.0.borrow().contains_key(key)
    }

    pub(super) fn count(&self, key: &K) -> u32 {
        self.0.borrow().get(key).copied().unwrap_or(0)
    }

    /// Takes one, if there is any.
    pub(super) fn take(&self, key: &K) {
        let mut counts = self.0.borrow_mut();
        if let Some(count) = counts.get_mut(key) {
            *count -= 1;
            if *count == 0 {
                counts.remove(key);
            }
        }
    }

    pub(super) fn retain(&self, keep: impl Fn(&K) -> bool) {
        self.0.borrow_mut().retain(|key, _| keep(key));
    }
}

/// A request for bytes of another rank's part: what [`Channel::finish`](super::Channel::finish) needs to hand them out.
#[must_use = "the bytes are kept until the request is finished"]
#[derive(PartialEq, Eq, Debug)]
pub struct Ticket {
    pub(super) number: u32,
    pub(super) window: u32,
    pub(super) target: usize,
}

struct Request {
    number: u32,
    len: usize,
    bytes: Vec<u8>,
}

/// Requests and the replies to them. A target replies in the order in which it was asked, so a reply is for the first
/// open request.
#[derive(Default)]
pub(super) struct Requests {
    made: Cell<u32>,
    open: RefCell<BTreeMap<(u32, usize), VecDeque<Request>>>,
    /// Replies by window and request.
    answered: RefCell<BTreeMap<(u32, u32), Vec<u8>>>,
}

impl Requests {
    /// Notes a request for `len` bytes.
    pub(super) fn open(&self, window: u32, target: usize, len: usize) -> Ticket {
        let number = self.made.replace(self.made.get().wrapping_add(1));
        if len == 0 {
            self.answered.borrow_mut().insert((window, number), Vec::new());
        } else {
            let request = Request { number, len, bytes: Vec::with_capacity(len) };
            self.open.borrow_mut().entry((window, target)).or_default().push_back(request);
        }
        Ticket { number, window, target }
    }

    /// Whether any request to `target` has no complete reply.
    pub(super) fn any_open(&self, window: u32, target: usize) -> bool {
        self.open.borrow().contains_key(&(window, target))
    }

    /// Notes bytes that came from `target`.
    pub(super) fn answer(&self, window: u32, target: usize, bytes: &[u8]) {
        let mut open = self.open.borrow_mut();
        let Some(requests) = open.get_mut(&(window, target)) else { return };
        let Some(mut request) = requests.pop_front() else { return };
        request.bytes.extend(bytes);
        if request.bytes.len() < request.len {
            requests.push_front(request);
        } else {
            self.answered.borrow_mut().insert((window, request.number), request.bytes);
        }
        if requests.is_empty() {
            open.remove(&(window, target));
        }
    }

    pub(super) fn is_answered(&self, ticket: &Ticket) -> bool {
        self.answered.borrow().contains_key(&(ticket.window, ticket.number))
    }

    /// The reply to a request that is answered.
    pub(super) fn take(&self, ticket: &Ticket) -> Option<Vec<u8>> {
        self.answered.borrow_mut().remove(&(ticket.window, ticket.number))
    }

    /// Forgets the replies that nobody has asked for.
    pub(super) fn forget(&self, window: u32) {
        self.answered.borrow_mut().retain(|(of, _), _| *of != window);
    }
}
