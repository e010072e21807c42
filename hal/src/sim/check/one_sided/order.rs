//! What each rank knows of what the others have done, by what their program says to each other: messages, operations of all,
//! locks. What protocols below that tell each other besides, the program must not rely on.

use std::{collections::VecDeque, rc::Rc};

use rustc_hash::FxHashMap;

use crate::act::Channel;

/// Of each core, up to which step all that it has done is known.
type Known = Rc<[u32]>;

/// What has been heard at a place, and how often it was.
#[derive(Default)]
struct Heard {
    known: Vec<u32>,
    times: usize,
}

/// The order of all cores.
pub(super) struct Order {
    known: Vec<Vec<u32>>,
    /// What is on its way.
    sent: FxHashMap<(usize, usize, Channel), VecDeque<Known>>,
    places: FxHashMap<Channel, Heard>,
}

impl Order {
    pub(super) fn new(cores: usize) -> Self {
        Self { known: vec![vec![0; cores]; cores], sent: FxHashMap::default(), places: FxHashMap::default() }
    }

    /// The step of what a core does now: others know it once they know what it tells next.
    pub(super) fn step(&self, core: usize) -> u32 {
        self.known[core][core] + 1
    }

    pub(super) fn knows(&self, core: usize, other: usize, step: u32) -> bool {
        self.known[core][other] >= step
    }

    /// Whether all cores know a step of one of them.
    pub(super) fn is_known_to_all(&self, core: usize, step: u32) -> bool {
        self.known.iter().enumerate().all(|(other, known)| other == core || known[core] >= step)
    }

    /// What a core tells.
    pub(super) fn tell(&mut self, core: usize) -> Known {
        self.known[core][core] += 1;
        self.known[core].as_slice().into()
    }

    pub(super) fn learn(&mut self, core: usize, told: &[u32]) {
        join(&mut self.known[core], told);
    }

    pub(super) fn send(&mut self, from: usize, to: usize, channel: Channel) {
        let told = self.tell(from);
        self.sent.entry((from, to, channel)).or_default().push_back(told);
    }

    /// A core does not send what it said it would, before `later` later ones of the channel.
    pub(super) fn revoke(&mut self, from: usize, to: usize, channel: Channel, later: usize) {
        let Some(queue) = self.sent.get_mut(&(from, to, channel)) else { return };
        if let Some(at) = queue.len().checked_sub(later + 1) {
            queue.remove(at);
        }
        if queue.is_empty() {
            self.sent.remove(&(from, to, channel));
        }
    }

    pub(super) fn receive(&mut self, from: usize, to: usize, channel: Channel) {
        let Some(queue) = self.sent.get_mut(&(from, to, channel)) else { return };
        let told = queue.pop_front();
        if queue.is_empty() {
            self.sent.remove(&(from, to, channel));
        }
        if let Some(told) = told {
            self.learn(to, &told);
        }
    }

    pub(super) fn tell_at(&mut self, core: usize, place: Channel) {
        let told = self.tell(core);
        let heard = self.places.entry(place).or_default();
        heard.known.resize(told.len(), 0);
        join(&mut heard.known, &told);
    }

    pub(super) fn hear(&mut self, core: usize, place: Channel, of: usize) {
        let Some(heard) = self.places.get_mut(&place) else { return };
        join(&mut self.known[core], &heard.known);
        heard.times += 1;
        if heard.times == of {
            self.places.remove(&place);
        }
    }
}

fn join(known: &mut [u32], told: &[u32]) {
    for (known, told) in known.iter_mut().zip(told) {
        *known = (*known).max(*told);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_was_revoked_tells_nothing() {
        let (channel, mut order) = ([1, 2, 3], Order::new(2));
        (0..3).for_each(|_| order.send(0, 1, channel));
        // The second of three.
        order.revoke(0, 1, channel, 1);
        order.receive(0, 1, channel);
        assert!(order.knows(1, 0, 1) && !order.knows(1, 0, 2));
        order.receive(0, 1, channel);
        assert!(order.knows(1, 0, 3));
        // There is nothing any more.
        order.revoke(0, 1, channel, 0);
        assert!(order.sent.is_empty());
    }
}
