//! Datatypes: what is where in the memory of a program.
//!
//! A [`Datatype`] is made of others ([constructors], [arrays]), and knows its bounds. It is [flattened](Flat) once, into runs
//! of bytes that repeat. By these, messages are packed from and unpacked to [memory], from any byte on. Nothing else in
//! here follows a pointer of the program's.
//!
//! Sizes and displacements have 64 bits on all machines, as `MPI_Count`.

pub(crate) mod arguments;
mod arrays;
mod basics;
pub(crate) mod buffers;
pub(crate) mod calls;
mod constructors;
mod datatype;
mod external;
mod making;
mod memory;
#[cfg(test)]
mod oracle;
mod packing;
mod queries;
mod typemap;

use alloc::{ffi::CString, rc::Rc, vec::Vec};
use core::cell::RefCell;

use super::{
    attributes::Attributes,
    class::Class,
    handles::{Handle, Kind, Slab},
};

#[cfg(test)]
pub(crate) use self::basics::BASICS;
pub(crate) use self::{
    basics::{Basic, DATATYPE_NULL, Format, Group, basic},
    datatype::{Combiner, Datatype, Flat},
};

/// Handles that the ABI has for basic types, from that of none on.
const BASIC_HANDLES: usize = 0x100;

/// The place of a handle that is of no basic type.
const NOWHERE: u8 = u8::MAX;

/// A datatype of the program's, and what it has said of it.
struct Entry {
    datatype: Rc<Datatype>,
    name: CString,
    attributes: Rc<Attributes>,
}

/// The datatypes of a rank.
pub(crate) struct Datatypes {
    basics: RefCell<Vec<Entry>>,
    /// Which of them a handle of the ABI is: each message names one.
    places: [u8; BASIC_HANDLES],
    derived: RefCell<Slab<Entry>>,
}

impl Datatypes {
    pub(crate) fn new() -> Self {
        let entry = |basic: &'static Basic| Entry {
            datatype: Rc::new(Datatype::of_basic(basic)),
            name: CString::new(basic.name).unwrap_or_default(),
            attributes: Rc::default(),
        };
        let mut places = [NOWHERE; BASIC_HANDLES];
        for (place, basic) in basics::BASICS.iter().enumerate() {
            places[basic.handle - DATATYPE_NULL] = place as u8;
        }
        Self {
            basics: RefCell::new(basics::BASICS.iter().map(entry).collect()),
            places,
            derived: RefCell::new(Slab::new(Kind::Datatype)),
        }
    }

    /// Does something with what there is of a datatype.
    fn with<R>(&self, handle: Handle, action: impl FnOnce(&mut Entry) -> R) -> Result<R, Class> {
        let place = handle.checked_sub(DATATYPE_NULL).and_then(|at| self.places.get(at)).copied();
        if let Some(place) = place.filter(|place| *place != NOWHERE) {
            return Ok(action(&mut self.basics.borrow_mut()[usize::from(place)]));
        }
        self.derived.borrow_mut().get_mut(handle).map(action).ok_or(Class::TYPE)
    }

    /// The datatype of a handle.
    ///
    /// # Errors
    /// [`Class::TYPE`].
    pub(crate) fn get(&self, handle: Handle) -> Result<Rc<Datatype>, Class> {
        self.with(handle, |entry| entry.datatype.clone())
    }

    /// Takes a datatype that was made.
    pub(crate) fn add(&self, datatype: Datatype) -> Handle {
        let datatype = Rc::new(datatype);
        let entry = Entry { datatype: datatype.clone(), name: CString::default(), attributes: Rc::default() };
        let handle = self.derived.borrow_mut().insert(entry);
        datatype.note_handle(handle);
        handle
    }

    /// Forgets a datatype, which what is made of it, and messages under way, keep.
    ///
    /// # Errors
    /// [`Class::TYPE`] if there is none, or it is a basic one.
    pub(crate) fn free(&self, handle: Handle) -> Result<(), Class> {
        self.derived.borrow_mut().remove(handle).map(|_| ()).ok_or(Class::TYPE)
    }

    /// Does something with a handle of a datatype: its own, or if the program has freed it one that is given for that time.
    pub(crate) fn with_handle<R>(&self, datatype: &Rc<Datatype>, action: impl FnOnce(Handle) -> R) -> R {
        if self.get(datatype.handle()).is_ok_and(|of_handle| Rc::ptr_eq(&of_handle, datatype)) {
            return action(datatype.handle());
        }
        let entry = Entry { datatype: datatype.clone(), name: CString::default(), attributes: Rc::default() };
        let lent = self.derived.borrow_mut().insert(entry);
        let result = action(lent);
        // The program may have freed it, and have made another one, which has got that handle.
        if self.get(lent).is_ok_and(|of_handle| Rc::ptr_eq(&of_handle, datatype)) {
            self.derived.borrow_mut().remove(lent);
        }
        result
    }

    /// What the program calls it.
    pub(crate) fn name(&self, handle: Handle) -> Result<CString, Class> {
        self.with(handle, |entry| entry.name.clone())
    }

    /// Calls it something else.
    pub(crate) fn set_name(&self, handle: Handle, name: CString) -> Result<(), Class> {
        self.with(handle, |entry| entry.name = name)
    }

    /// What is attached to it.
    pub(crate) fn attributes(&self, handle: Handle) -> Result<Rc<Attributes>, Class> {
        self.with(handle, |entry| entry.attributes.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A handle that was lent and freed is the next datatype's.
    #[test]
    fn what_gets_the_handle_of_a_lent_one_stays() {
        let datatypes = Datatypes::new();
        let basic = || Datatype::of_basic(&BASICS[0]);
        let freed = Rc::new(basic());
        let made = datatypes.with_handle(&freed, |lent| {
            datatypes.free(lent).unwrap();
            let made = datatypes.add(basic());
            assert_eq!(made, lent);
            made
        });
        assert!(datatypes.get(made).is_ok());
        let lent = datatypes.with_handle(&freed, |lent| lent);
        assert!(datatypes.get(lent).is_err() && datatypes.get(made).is_ok());
    }
}
