//! What programs and libraries attach to a communicator.
//!
//! ```
//! # use std::rc::Rc;
//! # use collectives::{Attribute, Comm, Error};
//! # use hal::Core;
//! /// How often something was done with a communicator: its duplicates begin anew.
//! struct Calls(u32);
//! impl Attribute for Calls {}
//! /// The rows of its ranks, which are those of a duplicate, too.
//! struct Rows(usize);
//! impl Attribute for Rows {
//!     fn duplicate(&self) -> Option<Rc<dyn Attribute>> {
//!         Some(Rc::new(Rows(self.0)))
//!     }
//! }
//! fn attach<C: Core>(comm: &Comm<'_, C>) -> Result<(), Error> {
//!     comm.set_attribute(Calls(1));
//!     comm.set_attribute(Rows(4));
//!     let other = comm.dup()?;
//!     assert_eq!(comm.attribute::<Calls>().unwrap().0, 1);
//!     assert_eq!((other.attribute::<Rows>().unwrap().0, other.attribute::<Calls>().is_none()), (4, true));
//!     assert_eq!(comm.take_attribute::<Rows>().unwrap().0, 4);
//!     assert!(comm.attribute::<Rows>().is_none());
//!     other.free()
//! }
//! # hal::sim::Machine::scc(2).run(|core| attach(&Comm::world(core, regions::of_a_test()).unwrap()).unwrap()).unwrap();
//! ```

use alloc::{rc::Rc, vec::Vec};
use core::{any::Any, cell::RefCell};

use super::Comm;

/// Something that can be attached to a communicator: one of each type, on each rank its own. It is dropped with the communicator.
pub trait Attribute: Any {
    /// What a [duplicate](Comm::dup) of the communicator gets, which is to be of the same type: nothing, unless this is defined.
    fn duplicate(&self) -> Option<Rc<dyn Attribute>> {
        None
    }
}

/// What is attached to a communicator.
#[derive(Default)]
pub(super) struct Attributes(RefCell<Vec<Rc<dyn Attribute>>>);

impl Attributes {
    pub(super) fn duplicate(&self) -> Self {
        Self(RefCell::new(self.0.borrow().iter().filter_map(|attribute| attribute.duplicate()).collect()))
    }
}

/// This attribute, if it is of type `A`.
fn of_type<A: Attribute>(attribute: &Rc<dyn Attribute>) -> Option<Rc<A>> {
    let any: Rc<dyn Any> = attribute.clone();
    any.downcast().ok()
}

impl<C> Comm<'_, C> {
    /// Attaches something, on this rank. Returns what was there of this type.
    pub fn set_attribute<A: Attribute>(&self, attribute: A) -> Option<Rc<A>> {
        let old = self.take_attribute();
        self.attributes.0.borrow_mut().push(Rc::new(attribute));
        old
    }

    /// What is attached of this type, on this rank.
    pub fn attribute<A: Attribute>(&self) -> Option<Rc<A>> {
        self.attributes.0.borrow().iter().find_map(of_type)
    }

    /// Detaches what is attached of this type, on this rank, and returns it.
    pub fn take_attribute<A: Attribute>(&self) -> Option<Rc<A>> {
        let mut all = self.attributes.0.borrow_mut();
        let at = all.iter().position(|attribute| of_type::<A>(attribute).is_some())?;
        of_type(&all.swap_remove(at))
    }
}
