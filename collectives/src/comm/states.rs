//! What protocols keep in a communicator, without the communicator knowing them.

use alloc::boxed::Box;
use core::{
    any::{Any, type_name},
    cell::OnceCell,
};

/// How many lists there are: no more types than that are often in use.
const LISTS: usize = 16;

/// One state of each type that was asked for, in lists. In which list a type's is follows from the length of its name, so that the
/// compiler knows it, and the state is mostly the first one there. A type has one name wherever it is asked for: it is told without lifetimes and
/// by its full path.
#[derive(Default)]
pub(super) struct States([List; LISTS]);

/// States in the order in which they were asked for first.
#[derive(Default)]
struct List(OnceCell<Box<Kept>>);

struct Kept {
    state: Box<dyn Any>,
    next: List,
}

impl States {
    /// The state of this type. It begins as its default.
    #[inline]
    pub(super) fn get<T: Default + 'static>(&self) -> &T {
        let mut states = &self.0[type_name::<T>().len() % LISTS];
        loop {
            let begin = || Box::new(Kept { state: Box::new(T::default()), next: List::default() });
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
        // Names of one length are in one list.
        assert_eq!(type_name::<Cell<u16>>().len(), type_name::<Cell<u32>>().len());
        states.get::<Cell<u8>>().set(3);
        states.get::<Cell<u16>>().set(4);
        states.get::<Cell<u32>>().set(5);
        let found = (states.get::<Cell<u8>>().get(), states.get::<Cell<u16>>().get(), states.get::<Cell<u32>>().get());
        assert_eq!(found, (3, 4, 5));
    }
}
