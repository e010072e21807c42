//! Calls of other ranks, which are answered beside messages.

use std::{cell::RefCell, collections::BTreeMap, ops::Range, rc::Rc, vec, vec::Vec};

use hal::sim::Machine;

use super::super::{Answers, RemoteCall, Source, Tag, post::CREDITS, request::Request};
use super::random::plan;
use crate::testing::run;

/// Answers each call with a sum of its bytes, and notes what is called and answered.
#[derive(Default)]
struct Summing {
    called: RefCell<Vec<(usize, u32)>>,
    answers: RefCell<Vec<(usize, u32)>>,
    /// Bytes that came behind calls that have not ended, by sender.
    landed: RefCell<BTreeMap<usize, Vec<u8>>>,
}

fn sum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0_u32, |sum, byte| sum.wrapping_mul(31) + u32::from(*byte))
}

impl Answers for Summing {
    fn answer(&self, from: usize, tag: u32, mut bytes: Vec<u8>) -> Vec<RemoteCall> {
        if tag == u32::MAX {
            self.answers.borrow_mut().push((from, u32::from_le_bytes(bytes.try_into().unwrap())));
            return vec![];
        }
        self.called.borrow_mut().push((from, tag));
        bytes.extend(self.landed.borrow_mut().remove(&from).unwrap_or_default());
        vec![RemoteCall { to: from, tag: u32::MAX, bytes: sum(&bytes).to_le_bytes().into() }]
    }

    fn land(&self, from: usize, _tag: u32, call: &[u8], bytes: Range<usize>, receive: &mut dyn FnMut(&mut [u8])) {
        assert_eq!(call.len(), 300, "what is called is known before");
        let mut landed = self.landed.borrow_mut();
        let landed = landed.entry(from).or_default();
        landed.resize(landed.len().max(bytes.end), 0);
        receive(&mut landed[bytes]);
    }
}

/// Each rank calls others, itself among them, with bytes of all lengths, beside messages. Each answers with a sum, in order, whatever it
/// waits for meanwhile, and whatever comes between; also while it waits for others to take what it says itself.
#[test]
fn calls_are_answered_in_order_by_ranks_that_wait_for_something_else() {
    for ranks in [1, 2, 5, 16, 48] {
        let answered = run(&Machine::scc(ranks), |world| {
            let messages = world.open_messages().unwrap();
            let me = world.rank();
            let all = Rc::new(Summing::default());
            world.answer_calls(Some(all.clone())).unwrap();
            world.barrier();
            let mut expected = vec![];
            let plan = plan(ranks, me, 40, 5);
            for sent in &plan {
                let mut bytes = sent.bytes();
                if sent.number % 7 == 0 {
                    bytes.resize(9000, 3);
                }
                let (to, tag) = (sent.to, sent.number);
                if sent.number % 3 == 0 {
                    let head = vec![7; 300];
                    expected.push((to, sum(&[&head[..], &bytes].concat())));
                    world.call_with(RemoteCall { to, tag, bytes: head }, &bytes).unwrap();
                } else {
                    expected.push((to, sum(&bytes)));
                    world.call(RemoteCall { to, tag, bytes }).unwrap();
                }
                if sent.number == 20 {
                    // Here nobody looks at calls but the barrier.
                    world.barrier();
                }
            }
            world.wait_for_calls(|| (all.answers.borrow().len() == plan.len()).then_some(())).unwrap();
            world.barrier();
            for rank in 0..ranks {
                let of = |all: &[(usize, u32)]| all.iter().filter(|(to, _)| *to == rank).copied().collect::<Vec<_>>();
                assert_eq!(of(&all.answers.borrow()), of(&expected));
                let numbers = of(&all.called.borrow());
                assert!(numbers.is_sorted_by_key(|(_, number)| *number), "{numbers:?}");
            }
            messages.close().unwrap();
            all.called.take().len()
        });
        assert_eq!(answered.iter().sum::<usize>(), 40 * ranks);
    }
}

/// Ranks of calls are those of the world, on whatever communicator: here each rank calls itself by its rank there.
#[test]
fn long_calls_to_oneself_are_answered_on_a_communicator_of_some() {
    run(&Machine::scc(4), |world| {
        let messages = world.open_messages().unwrap();
        let all = Rc::new(Summing::default());
        world.answer_calls(Some(all.clone())).unwrap();
        let (me, long) = (world.rank(), vec![9; 5000]);
        let comm = world.split(Some(0), -(me as i32)).unwrap().unwrap();
        assert_eq!(comm.rank(), 3 - me);
        comm.call_with(RemoteCall { to: me, tag: 0, bytes: vec![7; 300] }, &long).unwrap();
        comm.wait_for_calls(|| (!all.answers.borrow().is_empty()).then_some(())).unwrap();
        assert_eq!(all.answers.take(), [(me, sum(&[vec![7; 300], long].concat()))]);
        comm.free().unwrap();
        messages.close().unwrap();
    });
}

/// A rank waits for calls, short and long, while messages of their caller have taken all credits and more wait for some; it
/// receives these only then.
#[test]
fn calls_go_past_messages_that_nobody_receives() {
    for unreceived in [CREDITS - 1, CREDITS, 3 * CREDITS] {
        run(&Machine::scc(2), |world| {
            let messages = world.open_messages().unwrap();
            let all = Rc::new(Summing::default());
            world.answer_calls(Some(all.clone())).unwrap();
            world.barrier();
            if world.rank() == 0 {
                let send = |number: u32| world.start_send_tagged(&[number], 1, number).unwrap();
                let mut sent: Vec<_> = (0..unreceived).map(send).collect();
                let (head, long) = (vec![7; 300], vec![5; 5000]);
                let said = [vec![1], vec![2; 1000], [&head[..], &long].concat()];
                for (tag, bytes) in (0..).zip(said[..2].to_vec()) {
                    world.call(RemoteCall { to: 1, tag, bytes }).unwrap();
                }
                world.call_with(RemoteCall { to: 1, tag: 2, bytes: head }, &long).unwrap();
                world.wait_for_calls(|| (all.answers.borrow().len() == 3).then_some(())).unwrap();
                assert_eq!(all.answers.take(), said.map(|bytes| (1, sum(&bytes))));
                assert!(Request::wait_all(&mut sent).iter().all(Result::is_ok));
            } else {
                world.wait_for_calls(|| (all.called.borrow().len() == 3).then_some(())).unwrap();
                assert_eq!(all.called.take(), [(0, 0), (0, 1), (0, 2)]);
                assert_eq!(world.unexpected_messages().unwrap() as u32, unreceived.min(CREDITS));
                for number in 0..unreceived {
                    let mut got = [0];
                    world.receive_tagged(&mut got, Source::Rank(0), Tag::Is(number)).unwrap();
                    assert_eq!(got, [number]);
                }
            }
            messages.close().unwrap();
        });
    }
}
