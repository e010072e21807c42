//! What protocols keep in a communicator, without the communicator knowing them.

use alloc::boxed::Box;
use core::{any::Any, cell::OnceCell};

/// One state of each type that was asked for: a list, in which the first is found first.
#[derive(Default)]
pub(super) struct States(OnceCell<Box<Kept>>);

struct Kept {
    state: Box<dyn Any>,
    next: States,
}

impl States {
    /// The state of this type. It begins as its default.
    pub(super) fn get<T: Default + 'static>(&self) -> &T {
        let mut states = self;
        loop {
            let begin = || Box::new(Kept { state: Box::new(T::default()), next: States::default() });
            let kept = states.0.get_or_init(begin);
            match kept.state.downcast_ref() {
                Some(state) => return state,
                None => states = &kept.next,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use super::*;

    #[test]
    fn each_type_has_one_state() {
        let states = States::default();
        states.get::<Cell<u8>>().set(3);
        states.get::<Cell<u16>>().set(4);
        states.get::<Cell<u32>>().set(5);
        let found = (states.get::<Cell<u8>>().get(), states.get::<Cell<u16>>().get(), states.get::<Cell<u32>>().get());
        assert_eq!(found, (3, 4, 5));
    }
}
