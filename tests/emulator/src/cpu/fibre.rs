//! A core that keeps time runs on a stack of its own, and gives way in the middle of an instruction: where an access goes
//! out, until it has come to its place in the order of all accesses.

use std::ptr::NonNull;

use corosensei::{Coroutine, CoroutineResult, Yielder, stack::DefaultStack};
use p54c::timing::Ending;

use super::{
    Core, Turn,
    giving_way::{Request, Resume, TURN_CYCLES},
    polls::Polls,
    prediction::Predictor,
};

/// Bytes of a stack. The CPU library translates on it.
const STACK_BYTES: usize = 1 << 20;

/// A core on its stack.
pub(crate) struct Fibre(Coroutine<Resume, Request, ()>);

impl Fibre {
    /// A core that has not begun.
    ///
    /// # Errors
    /// If the host has no memory for its stack.
    pub(crate) fn new(mut core: Core) -> std::io::Result<Self> {
        let stack = DefaultStack::new(STACK_BYTES)?;
        Ok(Self(Coroutine::with_stack(stack, move |yielder, first| {
            let way = Way(NonNull::from(yielder));
            match first {
                Resume::Go { effect, .. } | Resume::Again { effect, .. } => core.advance(effect),
                Resume::Over => return,
            }
            core.hooks.state.borrow_mut().clock = Some(Clock::new(way));
            loop {
                let turn = core.run(TURN_CYCLES);
                let over = core.hooks.state.borrow().clock.as_ref().is_none_or(|clock| clock.over);
                let now = core.cycles();
                let request = match turn {
                    Turn::Busy | Turn::Waits => Request::Turn(now),
                    Turn::Halted | Turn::Dead => Request::Halted { since: now, timer: core.may_wake() },
                    Turn::Refused => break,
                };
                if over {
                    break;
                }
                match yielder.suspend(request) {
                    Resume::Go { effect, .. } | Resume::Again { effect, .. } => core.advance(effect),
                    Resume::Over => break,
                }
            }
            core.hooks.state.borrow_mut().clock = None;
        })))
    }

    /// Lets it go on. Returns nothing if it has ended.
    pub(crate) fn resume(&mut self, with: Resume) -> Option<Request> {
        match self.0.resume(with) {
            CoroutineResult::Yield(request) => Some(request),
            CoroutineResult::Return(()) => None,
        }
    }

    /// Ends it: the CPU library returns from where it is.
    pub(crate) fn end(mut self) {
        while !self.0.done() && self.resume(Resume::Over).is_some() {}
    }
}

/// The way back from a core's stack.
#[derive(Clone, Copy)]
struct Way(NonNull<Yielder<Resume, Request>>);

/// What a core keeps that keeps time, besides its cycles.
pub(super) struct Clock {
    way: Way,
    /// The cycle in which its last store is answered. What goes out waits for it.
    pub(super) busy_until: u64,
    pub(super) predictor: Predictor,
    /// How the block before has ended, where that was, and what is behind it.
    pub(super) before: Option<(Ending, u32, u32)>,
    /// The line that instructions were fetched from last.
    pub(super) line: u32,
    /// `pause` executed.
    pub(super) pauses: u64,
    /// What is known of its polls.
    pub(super) polls: Polls,
    /// It was told to end.
    pub(super) over: bool,
}

impl Clock {
    fn new(way: Way) -> Self {
        Self {
            way,
            busy_until: 0,
            predictor: Predictor::new(),
            before: None,
            line: u32::MAX,
            pauses: 0,
            polls: Polls::default(),
            over: false,
        }
    }

    /// How the core gives way. Only for code that runs on its stack: what the CPU library calls while it executes.
    pub(super) fn gives_way(&self) -> impl FnOnce(Request) -> Resume + use<> {
        let way = self.way;
        // SAFETY: 1. The yielder lives as long as the function on the core's stack, which has put it here and takes the
        // clock away before it returns. 2. Only hooks of this core's CPU call this, and the CPU executes on that stack
        // only, so that this is a call from inside of the coroutine.
        move |request| unsafe { way.0.as_ref() }.suspend(request)
    }
}
