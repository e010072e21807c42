//! The stacks on which the programs of cores run.

use std::cell::RefCell;

use corosensei::stack::DefaultStack;

/// Stacks of earlier runs that are kept for the next: an exploration makes thousands of runs of a few cores.
const MAX_SPARE_STACKS: usize = 256;

thread_local! {
    static SPARE_STACKS: RefCell<Vec<(usize, DefaultStack)>> = const { RefCell::new(Vec::new()) };
}

/// A stack of `bytes` bytes, that of an earlier run if there is one.
pub(super) fn stack(bytes: usize) -> DefaultStack {
    let spare = SPARE_STACKS.with_borrow_mut(|stacks| {
        let index = stacks.iter().rposition(|(size, _)| *size == bytes)?;
        Some(stacks.swap_remove(index).1)
    });
    match spare.map_or_else(|| DefaultStack::new(bytes), Ok) {
        Ok(stack) => stack,
        Err(error) => panic!("no memory for another simulated core's stack of {bytes} bytes: {error}"),
    }
}

/// Keeps a stack of `bytes` bytes for a later run.
pub(super) fn give_back(bytes: usize, stack: DefaultStack) {
    SPARE_STACKS.with_borrow_mut(|stacks| {
        if stacks.len() < MAX_SPARE_STACKS {
            stacks.push((bytes, stack));
        }
    });
}
