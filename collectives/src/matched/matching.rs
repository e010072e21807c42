//! Which message goes to which receive: by context, source and tag, in the order of arrival and of posting.

use alloc::{collections::VecDeque, rc::Rc, vec::Vec};

use super::{
    label::{Label, Pattern},
    state::State,
};

/// Where the bytes of a message are that has arrived.
pub(super) enum Body {
    /// Here.
    Bytes(Vec<u8>),
    /// Here, and the sender, this rank itself, waits for the receive.
    Synchronous(Vec<u8>, Rc<State>),
    /// At the sender, which has given it this number.
    Announced(u32),
    /// In the MPB of the sender, which waits.
    Waiting,
}

/// A message that has arrived before a receive.
pub(super) struct Arrived {
    pub(super) label: Label,
    /// Which one it is of its sender's messages here.
    pub(super) number: u32,
    pub(super) body: Body,
}

/// Receives that wait for messages, and messages that wait for receives.
#[derive(Default)]
pub(super) struct Matching {
    posted: VecDeque<(Pattern, Rc<State>)>,
    unexpected: VecDeque<Arrived>,
    /// What a probe waits for.
    watched: Option<Pattern>,
}

impl Matching {
    /// The receive that a message is for, which it takes away.
    pub(super) fn receive_for(&mut self, label: &Label) -> Option<Rc<State>> {
        let at = self.posted.iter().position(|(pattern, _)| pattern.fits(label))?;
        self.posted.remove(at).map(|(_, state)| state)
    }

    /// A message for which there is no receive yet.
    pub(super) fn keep(&mut self, arrived: Arrived) {
        self.unexpected.push_back(arrived);
    }

    /// The first message that fits.
    pub(super) fn find(&self, pattern: &Pattern) -> Option<Label> {
        self.unexpected.iter().map(|arrived| arrived.label).find(|label| pattern.fits(label))
    }

    /// Takes away the first message that fits.
    pub(super) fn take(&mut self, pattern: &Pattern) -> Option<Arrived> {
        let at = self.unexpected.iter().position(|arrived| pattern.fits(&arrived.label))?;
        self.unexpected.remove(at)
    }

    /// Takes away the message of a rank with this number, if it waits for a receive.
    pub(super) fn take_back(&mut self, from: usize, number: u32) -> Option<Arrived> {
        let at = self.unexpected.iter().position(|arrived| (arrived.label.from, arrived.number) == (from, number))?;
        self.unexpected.remove(at)
    }

    /// A receive for which there is no message yet.
    pub(super) fn post(&mut self, pattern: Pattern, state: Rc<State>) {
        self.posted.push_back((pattern, state));
    }

    /// Takes a receive away that no message has come for.
    pub(super) fn withdraw(&mut self, state: &Rc<State>) -> bool {
        let before = self.posted.len();
        self.posted.retain(|(_, of)| !Rc::ptr_eq(of, state));
        self.posted.len() < before
    }

    /// A probe waits for this, or has ended.
    pub(super) fn watch(&mut self, pattern: Option<Pattern>) {
        self.watched = pattern;
    }

    /// Whether something is waited for that this rank may have sent.
    pub(super) fn wants_more_from(&self, from: usize) -> bool {
        let mut patterns = self.posted.iter().map(|(pattern, _)| pattern).chain(&self.watched);
        patterns.any(|pattern| pattern.from.is_none_or(|of| of == from))
    }

    /// The rank that is waited for, if it is one.
    pub(super) fn awaited(&self) -> Option<usize> {
        if self.posted.len() == 1 { self.posted[0].0.from } else { None }
    }

    /// Messages that wait for a receive.
    pub(super) fn unexpected(&self) -> usize {
        self.unexpected.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.posted.is_empty() && self.unexpected.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tag;

    fn label(context: u32, from: usize, tag: u32) -> Label {
        Label { context, from, tag, len: 0 }
    }

    fn pattern(context: u32, from: Option<usize>, tag: Tag) -> Pattern {
        Pattern { context, from, tag }
    }

    #[test]
    fn receives_are_found_in_the_order_of_posting() {
        let mut matching = Matching::default();
        let states: Vec<_> = (0..4).map(|_| Rc::new(State::new(0, false))).collect();
        let patterns = [
            pattern(1, Some(2), Tag::Is(5)),
            pattern(0, None, Tag::Is(5)),
            pattern(0, Some(2), Tag::Any),
            pattern(0, None, Tag::Any),
        ];
        patterns.into_iter().zip(&states).for_each(|(pattern, state)| matching.post(pattern, state.clone()));
        let mut found = |label| {
            let state = matching.receive_for(&label)?;
            states.iter().position(|of| Rc::ptr_eq(of, &state))
        };
        assert_eq!(found(label(0, 2, 6)), Some(2));
        assert_eq!(found(label(0, 2, 5)), Some(1));
        assert_eq!(found(label(1, 3, 5)), None);
        assert_eq!(found(label(0, 9, 9)), Some(3));
        assert_eq!(found(label(0, 9, 9)), None);
        assert!(matching.withdraw(&states[0]) && !matching.withdraw(&states[0]) && matching.is_empty());
    }

    #[test]
    fn messages_are_found_in_the_order_of_arrival() {
        let mut matching = Matching::default();
        for (number, (from, tag)) in [(1, 7), (2, 7), (1, 8), (1, 7)].into_iter().enumerate() {
            let label = Label { len: number, ..label(0, from, tag) };
            matching.keep(Arrived { label, number: number as u32, body: Body::Announced(0) });
        }
        let any = pattern(0, None, Tag::Is(7));
        assert_eq!(matching.find(&any).map(|label| label.len), Some(0));
        assert_eq!(matching.take(&pattern(0, Some(1), Tag::Is(8))).map(|arrived| arrived.label.len), Some(2));
        assert!(matching.take(&pattern(1, None, Tag::Any)).is_none());
        let within = |first, last| matching.find(&pattern(0, None, Tag::Within(first, last))).map(|label| label.len);
        assert_eq!([within(7, 7), within(0, 6), within(8, 9)], [Some(0), None, None]);
        let order: Vec<_> = core::iter::from_fn(|| matching.take(&any)).map(|arrived| arrived.label.len).collect();
        assert_eq!((order, matching.unexpected()), (std::vec![0, 1, 3], 0));
        for from in [1, 2] {
            matching.keep(Arrived { label: label(0, from, 7), number: 5, body: Body::Announced(0) });
        }
        let back = matching.take_back(2, 5).map(|arrived| arrived.label.from);
        assert_eq!((back, matching.unexpected()), (Some(2), 1));
        assert!(matching.take_back(2, 5).is_none() && matching.take_back(1, 4).is_none());
    }
}
