//! Loads and stores of elements that other cores may access at the same time.
//!
//! Where processors run side by side and see the same bytes, accesses that are not atomic would be a data race: undefined,
//! whatever a program makes of the value. So an element moves by relaxed atomic accesses, of as many bytes as its alignment
//! allows, up to a word. An element of several words does not move as one.

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

/// Loads an element.
///
/// # Safety
/// `from` is aligned, and valid for reads. Others access the bytes by atomic accesses only.
#[inline(always)]
pub(crate) unsafe fn load<T: Pod>(from: NonNull<T>) -> T {
    let mut element = MaybeUninit::uninit();
    // SAFETY: the caller says so; any bytes are a value, and all are written.
    unsafe {
        by_alignment!(T, load_by(from, element.as_mut_ptr()));
        element.assume_init()
    }
}

/// Stores an element.
///
/// # Safety
/// `to` is aligned, and valid for writes. Others access the bytes by atomic accesses only.
#[inline(always)]
pub(crate) unsafe fn store<T: Pod>(to: NonNull<T>, value: &T) {
    // SAFETY: the caller says so.
    unsafe { by_alignment!(T, store_by(to, value)) }
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
        // SAFETY: as in `load_by`; a value without padding is initialised in all its bytes.
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
        unsafe { store(element, &value) };
        // SAFETY: as above.
        assert_eq!(unsafe { load(element) }, value);
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

    /// Under Miri, a data race if one of the accesses is not atomic.
    #[test]
    fn threads_may_access_an_element_at_the_same_time() {
        let common = Common(UnsafeCell::new([0; 2]));
        let element = |common: &Common| NonNull::new(common.0.get().cast::<f64>()).expect("it is there");
        thread::scope(|scope| {
            // SAFETY: aligned, valid, and accessed by these functions only.
            scope.spawn(|| (0..100).for_each(|_| unsafe { store(element(&common), &2.0) }));
            for _ in 0..100 {
                // SAFETY: as above.
                let found = unsafe { load(element(&common)) };
                assert!(found == 0.0 || found == 2.0, "{found}");
            }
        });
    }
}
