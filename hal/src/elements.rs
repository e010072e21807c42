//! Loads and stores of elements that other cores may access at the same time.
//!
//! Where processors run side by side and see the same bytes, accesses that are not atomic would be a data race: undefined,
//! whatever a program makes of the value. So an element moves by relaxed atomic accesses, of as many bytes as its alignment
//! allows, up to a word. An element of several words does not move as one.
//!
//! Atomic accesses of different sizes to the same bytes would be a data race, too. Where views of different types, or views
//! and accesses to memory itself, can meet, smaller elements therefore move within whole words.

use core::{
    mem::MaybeUninit,
    ptr::NonNull,
    sync::atomic::{AtomicU8, AtomicU16, AtomicU32, Ordering::Relaxed},
};

use bytemuck::Pod;

/// Calls a function by the bytes that elements of a type move by.
macro_rules! by_alignment {
    ($element:ty, $function:ident($($argument:expr),*)) => {
        match align_of::<$element>() {
            1 => $function::<$element, AtomicU8>($($argument),*),
            2 => $function::<$element, AtomicU16>($($argument),*),
            _ => $function::<$element, AtomicU32>($($argument),*),
        }
    };
}

/// How an element smaller than a word moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Moves {
    /// By itself: others access the bytes by elements of the same kind only.
    Alone,
    /// As a part of the words that it is in.
    InWords,
}

impl Moves {
    /// Whether elements of a type are parts of words.
    const fn within<T>(self) -> bool {
        matches!(self, Self::InWords) && align_of::<T>() < align_of::<AtomicU32>()
    }
}

/// Loads an element.
///
/// # Safety
/// `from` is aligned, and valid for reads. Others access the bytes by atomic accesses only; where the element moves in words,
/// those words are valid, and others access them by atomic words only.
#[inline(always)]
pub(crate) unsafe fn load<T: Pod>(from: NonNull<T>, moves: Moves) -> T {
    let mut element = MaybeUninit::uninit();
    // SAFETY: the caller says so; any bytes are a value, and all are written.
    unsafe {
        if moves.within::<T>() {
            load_within(from, element.as_mut_ptr());
        } else {
            by_alignment!(T, load_by(from, element.as_mut_ptr()));
        }
        element.assume_init()
    }
}

/// Stores an element.
///
/// # Safety
/// `to` is aligned, and valid for writes. Else as for [`load`].
#[inline(always)]
pub(crate) unsafe fn store<T: Pod>(to: NonNull<T>, value: &T, moves: Moves) {
    // SAFETY: the caller says so.
    unsafe {
        if moves.within::<T>() {
            store_within(to, value);
        } else {
            by_alignment!(T, store_by(to, value));
        }
    }
}

/// # Safety
/// As for [`load`], in words; `element` is valid for writes.
unsafe fn load_within<T: Pod>(from: NonNull<T>, element: *mut T) {
    let unit = align_of::<T>();
    for first in (0..size_of::<T>()).step_by(unit) {
        // SAFETY: the bytes are the element's, which is aligned, so that those of a unit are in one word.
        unsafe {
            let (word, within) = word_around(from.cast::<u8>().add(first));
            let bytes = word.load(Relaxed).to_ne_bytes();
            element.cast::<u8>().add(first).copy_from_nonoverlapping(bytes[within..][..unit].as_ptr(), unit);
        }
    }
}

/// # Safety
/// As for [`store`], in words.
unsafe fn store_within<T: Pod>(to: NonNull<T>, value: &T) {
    for (index, unit) in bytemuck::bytes_of(value).chunks_exact(align_of::<T>()).enumerate() {
        // SAFETY: the unit is one of the element's, which is aligned, so that it is in one word.
        let (word, within) = unsafe { word_around(to.cast::<u8>().add(index * align_of::<T>())) };
        let changed = |word: u32| {
            let mut bytes = word.to_ne_bytes();
            bytes[within..][..unit.len()].copy_from_slice(unit);
            Some(u32::from_ne_bytes(bytes))
        };
        // It always changes, and so never fails.
        let _ = word.fetch_update(Relaxed, Relaxed, changed);
    }
}

/// The word that has this byte, and which of its bytes it is.
///
/// # Safety
/// The word is valid for as long as the reference is used, and accessed by atomic words only.
unsafe fn word_around<'m>(byte: NonNull<u8>) -> (&'m AtomicU32, usize) {
    let within = byte.addr().get() % size_of::<u32>();
    // SAFETY: the caller says so; it is aligned.
    (unsafe { byte.sub(within).cast::<AtomicU32>().as_ref() }, within)
}

/// # Safety
/// As for [`load`]; `element` is valid for writes, and a `U` is not larger than the alignment.
#[inline(always)]
unsafe fn load_by<T: Pod, U: Unit>(from: NonNull<T>, element: *mut T) {
    for index in 0..size_of::<T>() / size_of::<U>() {
        // SAFETY: the size is a multiple of the alignment, so the units are those of the element, and aligned.
        unsafe { element.cast::<U::Value>().add(index).write(from.cast::<U>().add(index).as_ref().load()) };
    }
}

/// # Safety
/// As for [`store`]; a `U` is not larger than the alignment.
#[inline(always)]
unsafe fn store_by<T: Pod, U: Unit>(to: NonNull<T>, value: *const T) {
    for index in 0..size_of::<T>() / size_of::<U>() {
        // SAFETY: the units are the element's, as the caller says, and the value's; a value without padding is initialised in all its bytes.
        unsafe { to.cast::<U>().add(index).as_ref().store(value.cast::<U::Value>().add(index).read()) };
    }
}

/// What moves as one.
trait Unit {
    type Value: Copy;

    fn load(&self) -> Self::Value;

    fn store(&self, value: Self::Value);
}

macro_rules! units {
    ($($atomic:ty: $value:ty),*) => { $(
        impl Unit for $atomic {
            type Value = $value;

            #[inline(always)]
            fn load(&self) -> $value {
                <$atomic>::load(self, Relaxed)
            }

            #[inline(always)]
            fn store(&self, value: $value) {
                <$atomic>::store(self, value, Relaxed);
            }
        }
    )* };
}

units!(AtomicU8: u8, AtomicU16: u16, AtomicU32: u32);

#[cfg(test)]
mod tests {
    use std::{cell::UnsafeCell, thread};

    use super::*;

    fn returns<T: Pod + PartialEq + core::fmt::Debug>(value: T) {
        let mut place = T::zeroed();
        let element = NonNull::from(&mut place);
        // SAFETY: the element is this function's own.
        unsafe { store(element, &value, Moves::Alone) };
        // SAFETY: the element is this function's own.
        assert_eq!(unsafe { load(element, Moves::Alone) }, value);
        within_words(value);
    }

    /// Where an element is within words, and what is beside it stays.
    fn within_words<T: Pod + PartialEq + core::fmt::Debug>(value: T) {
        for place in (0..8).step_by(align_of::<T>()) {
            let mut words = [crate::Line([0xEE; 32]); 3];
            let element = NonNull::from(&mut words).cast::<u8>();
            // SAFETY: the bytes are this function's own, and more than the words around the element.
            let element = unsafe { element.add(size_of::<crate::Line>() + place) }.cast::<T>();
            // SAFETY: inside the words, which are this function's own.
            unsafe { store(element, &value, Moves::InWords) };
            // SAFETY: inside the words, which are this function's own.
            assert_eq!(unsafe { load(element, Moves::InWords) }, value);
            let changed = words.iter().flat_map(|line| line.0).filter(|byte| *byte != 0xEE).count();
            assert!(changed <= size_of::<T>(), "{changed} bytes have changed");
        }
    }

    #[test]
    fn elements_of_any_alignment_return_as_they_went() {
        returns(0xA5_u8);
        returns([1_u8, 2, 3]);
        returns(0x1234_u16);
        returns([0x1234_u16, 5, 6]);
        returns(0x1234_5678_u32);
        returns(-1.5_f64);
        returns([1_u32, 2, 3, 4, 5]);
        returns(crate::Line([7; 32]));
    }

    /// Memory of two threads.
    struct Common(UnsafeCell<[u64; 2]>);

    // SAFETY: it is accessed by atomic accesses.
    unsafe impl Sync for Common {}

    /// Under Miri, a data race if a byte moves by itself.
    #[test]
    fn threads_may_access_words_and_bytes_of_them_at_the_same_time() {
        let common = Common(UnsafeCell::new([0; 2]));
        let start = |common: &Common| NonNull::new(common.0.get().cast::<u8>()).expect("it is there");
        thread::scope(|scope| {
            // SAFETY: valid, and accessed by these functions only.
            scope.spawn(|| (0..100).for_each(|_| unsafe { store(start(&common).add(1), &2, Moves::InWords) }));
            for _ in 0..100 {
                // SAFETY: valid, aligned, and accessed by these functions only.
                let found: u32 = unsafe { load(start(&common).cast(), Moves::InWords) };
                assert!([0, 2].contains(&found.to_ne_bytes()[1]), "{found:#x}");
            }
        });
    }

    /// Under Miri, a data race if one of the accesses is not atomic.
    #[test]
    fn threads_may_access_an_element_at_the_same_time() {
        let common = Common(UnsafeCell::new([0; 2]));
        let element = |common: &Common| NonNull::new(common.0.get().cast::<f64>()).expect("it is there");
        thread::scope(|scope| {
            // SAFETY: aligned, valid, and accessed by these functions only.
            scope.spawn(|| (0..100).for_each(|_| unsafe { store(element(&common), &2.0, Moves::Alone) }));
            for _ in 0..100 {
                // SAFETY: aligned, valid, and accessed by these functions only.
                let found = unsafe { load(element(&common), Moves::Alone) };
                assert!(found == 0.0 || found == 2.0, "{found}");
            }
        });
    }
}
