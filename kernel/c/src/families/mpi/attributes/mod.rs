//! What programs attach to communicators, datatypes and windows: values by keys, with functions of the program that copy and
//! delete them.

pub(crate) mod calls;

use alloc::{rc::Rc, vec::Vec};
use core::{
    cell::{Cell, RefCell},
    ffi::c_void,
    mem,
};

use super::{
    class::{Class, Fault},
    handles::Handle,
};

/// The first key that a program gets: those that are always there are lower.
const FIRST: i32 = 1000;

/// What a key is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Of {
    Comm,
    Datatype,
    Window,
    Session,
    File,
}

/// `MPI_*_NULL_COPY_FN` and `MPI_*_DUP_FN`; also `MPI_*_NULL_DELETE_FN`.
const NULL: usize = 0;
const DUP: usize = 1;

type Copy = unsafe extern "C-unwind" fn(Handle, i32, *mut c_void, *mut c_void, *mut c_void, *mut i32) -> i32;

type Delete = unsafe extern "C-unwind" fn(Handle, i32, *mut c_void, *mut c_void) -> i32;

struct Key {
    number: i32,
    of: Of,
    copy: usize,
    delete: usize,
    extra: *mut c_void,
    is_freed: Cell<bool>,
}

/// The keys of a program. One that was freed goes on, by its number too, while a value of it is attached anywhere.
#[derive(Default)]
pub(crate) struct Keys {
    all: RefCell<Vec<Rc<Key>>>,
    made: Cell<i32>,
}

impl Keys {
    fn get(&self, number: i32, of: Of) -> Result<Rc<Key>, Fault> {
        let mut all = self.all.borrow_mut();
        all.retain(|key| !key.is_freed.get() || Rc::strong_count(key) > 1);
        all.iter().find(|key| key.number == number && key.of == of).cloned().ok_or_else(|| Class::KEYVAL.into())
    }

    /// Makes a key, with functions of the program that copy and delete its values.
    pub(crate) fn create(&self, of: Of, copy: usize, delete: usize, extra: *mut c_void) -> i32 {
        let number = FIRST + self.made.get();
        self.made.set(self.made.get() + 1);
        self.all.borrow_mut().push(Rc::new(Key { number, of, copy, delete, extra, is_freed: Cell::new(false) }));
        number
    }

    /// Frees a key, which is in use as long as values of it are attached.
    pub(crate) fn free(&self, number: i32, of: Of) -> Result<(), Fault> {
        self.get(number, of)?.is_freed.set(true);
        Ok(())
    }
}

/// What is attached to an object.
#[derive(Default)]
pub(crate) struct Attributes(RefCell<Vec<(Rc<Key>, usize)>>);

impl Attributes {
    fn take(&self, number: i32) -> Option<(Rc<Key>, usize)> {
        let mut all = self.0.borrow_mut();
        let at = all.iter().position(|(key, _)| key.number == number)?;
        Some(all.remove(at))
    }

    /// The value of a key, if it has one here.
    pub(crate) fn get(&self, keys: &Keys, of: Of, number: i32) -> Result<Option<usize>, Fault> {
        keys.get(number, of)?;
        Ok(self.0.borrow().iter().find(|(key, _)| key.number == number).map(|(_, value)| *value))
    }

    /// Attaches a value to the object with this handle, instead of what the key has there.
    ///
    /// # Safety
    /// The key's functions are those of the program.
    pub(crate) unsafe fn set(
        &self,
        keys: &Keys,
        (of, object): (Of, Handle),
        number: i32,
        value: usize,
    ) -> Result<(), Fault> {
        let key = keys.get(number, of)?;
        // SAFETY: the caller says so.
        unsafe { self.remove(object, number)? };
        self.0.borrow_mut().push((key, value));
        Ok(())
    }

    /// Takes a value away.
    ///
    /// # Safety
    /// As for [`set`](Self::set).
    pub(crate) unsafe fn delete(&self, keys: &Keys, (of, object): (Of, Handle), number: i32) -> Result<(), Fault> {
        keys.get(number, of)?;
        // SAFETY: the caller says so.
        if unsafe { self.remove(object, number)? } { Ok(()) } else { Err(Class::KEYVAL.into()) }
    }

    /// Takes a value away, and says whether there was one. It stays if its function fails.
    ///
    /// # Safety
    /// As for [`set`](Self::set).
    unsafe fn remove(&self, object: Handle, number: i32) -> Result<bool, Fault> {
        let Some(old) = self.take(number) else { return Ok(false) };
        // SAFETY: the caller says so.
        let result = unsafe { delete(object, &old) };
        if result.is_err() {
            self.0.borrow_mut().push(old);
        }
        result.map(|()| true)
    }

    /// Copies what is to be copied to another object of the same kind, which has nothing yet: all of it, or nothing.
    ///
    /// # Safety
    /// As for [`set`](Self::set).
    pub(crate) unsafe fn copy_to(&self, object: Handle, other: &Self) -> Result<(), Fault> {
        let all: Vec<_> = self.0.borrow().clone();
        for (key, value) in all {
            let (mut copied, mut flag) = (value, 0);
            match key.copy {
                NULL => {}
                DUP => flag = 1,
                function => {
                    // SAFETY: the caller says so.
                    let code = unsafe {
                        let copy = mem::transmute::<usize, Copy>(function);
                        let copied = (&raw mut copied).cast();
                        copy(object, key.number, key.extra, value as *mut c_void, copied, &raw mut flag)
                    };
                    if let Err(fault) = succeeded(code) {
                        // What was copied before it is of no use. The first error counts.
                        // SAFETY: the caller says so.
                        let _ = unsafe { other.delete_all(object) };
                        return Err(fault);
                    }
                }
            }
            if flag != 0 {
                other.0.borrow_mut().push((key, copied));
            }
        }
        Ok(())
    }

    /// Takes all values away, those that came last first.
    ///
    /// # Safety
    /// As for [`set`](Self::set).
    pub(crate) unsafe fn delete_all(&self, object: Handle) -> Result<(), Fault> {
        loop {
            let last = self.0.borrow_mut().pop();
            let Some(last) = last else { return Ok(()) };
            // SAFETY: the caller says so.
            let result = unsafe { delete(object, &last) };
            if result.is_err() {
                self.0.borrow_mut().push(last);
                return result;
            }
        }
    }
}

/// What a function of the program returns.
fn succeeded(code: i32) -> Result<(), Fault> {
    if code == 0 { Ok(()) } else { Err(Class(code).into()) }
}

unsafe fn delete(object: Handle, (key, value): &(Rc<Key>, usize)) -> Result<(), Fault> {
    if key.delete == NULL {
        return Ok(());
    }
    // SAFETY: the caller says that this is a function of the program.
    succeeded(unsafe {
        let delete = mem::transmute::<usize, Delete>(key.delete);
        delete(object, key.number, *value as *mut c_void, key.extra)
    })
}

/// Numbers that the attributes of `MPI_COMM_WORLD` point to which are always there.
pub(crate) struct Predefined {
    tag_limit: i32,
    any: i32,
    none: i32,
    yes: i32,
    zero: i32,
    universe: i32,
    pub(crate) last_code: Cell<i32>,
}

impl Predefined {
    pub(crate) fn new(ranks: usize, tag_limit: u32) -> Self {
        Self {
            tag_limit: tag_limit as i32,
            any: super::constants::ANY_SOURCE,
            none: super::constants::PROC_NULL,
            yes: 1,
            zero: 0,
            universe: ranks as i32,
            last_code: Cell::new(Class::LAST),
        }
    }

    /// Where the value of a key is.
    fn get(&self, number: i32) -> Option<usize> {
        let place: *const i32 = match number {
            501 => &raw const self.tag_limit,
            502 => &raw const self.any,
            503 => &raw const self.none,
            504 => &raw const self.yes,
            505 => &raw const self.zero,
            506 => self.last_code.as_ptr(),
            507 => &raw const self.universe,
            _ => return None,
        };
        Some(place.expose_provenance())
    }
}
