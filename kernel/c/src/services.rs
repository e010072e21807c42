//! The table of what a program's C library asks for: the same as `services.h`, entry by entry.

use core::{
    ffi::{CStr, c_char, c_void},
    slice,
};

use kernel::hal::{Act, Core, Deadline, Reason};

use crate::{
    families::{Tables, mpi, rcce, with},
    files::Mode,
    machine,
    session::Session,
    spent::Misses,
};

/// The table. Tables of families follow, one pointer each.
#[repr(C)]
pub(crate) struct Services {
    bytes: u32,
    open: unsafe extern "C-unwind" fn(*mut c_void, *const c_char, u32) -> i32,
    close: unsafe extern "C-unwind" fn(*mut c_void, i32) -> i32,
    read: unsafe extern "C-unwind" fn(*mut c_void, i32, *mut u8, u32) -> i32,
    write: unsafe extern "C-unwind" fn(*mut c_void, i32, *const u8, u32) -> i32,
    seek: unsafe extern "C-unwind" fn(*mut c_void, i32, i64, i32) -> i64,
    unlink: unsafe extern "C-unwind" fn(*mut c_void, *const c_char) -> i32,
    heap: unsafe extern "C-unwind" fn(*mut c_void, *mut usize) -> *mut u8,
    heap_is_full: unsafe extern "C-unwind" fn(*mut c_void, usize),
    now_ns: unsafe extern "C-unwind" fn(*mut c_void) -> u64,
    sleep_ns: unsafe extern "C-unwind" fn(*mut c_void, u64),
    rank: unsafe extern "C-unwind" fn(*mut c_void) -> i32,
    ranks: unsafe extern "C-unwind" fn(*mut c_void) -> i32,
    watched: *const u8,
    accesses: unsafe extern "C-unwind" fn(*mut c_void, usize, usize, i32),
    misses: *const Misses,
    spends: unsafe extern "C-unwind" fn(*mut c_void, *const u64, *const u64),
    rcce: *const rcce::Table,
    mpi: *const mpi::Table,
}

impl Services {
    /// The table for ranks on cores of this type, and those of the families, which live longer.
    pub(crate) fn of<C: Core>(tables: &Tables, session: &Session<'_, '_, C>) -> Self {
        Self {
            bytes: size_of::<Self>() as u32,
            open: open::<C>,
            close: close::<C>,
            read: read::<C>,
            write: write::<C>,
            seek: seek::<C>,
            unlink: unlink::<C>,
            heap: heap::<C>,
            heap_is_full: heap_is_full::<C>,
            now_ns: now_ns::<C>,
            sleep_ns: sleep_ns::<C>,
            rank: rank::<C>,
            ranks: ranks::<C>,
            watched: session.watched.bits(),
            accesses: accesses::<C>,
            misses: session.spent.misses(),
            spends: spends::<C>,
            rcce: &raw const tables.rcce,
            mpi: &raw const tables.mpi,
        }
    }
}

/// Cycles of a look at the clock: a call, and the time stamp counter's instruction.
const CLOCK_CYCLES: u64 = 20;

/// Standard input, which is empty, and the streams that are printed.
const INPUT: i32 = 0;
const PRINTED: [i32; 2] = [1, 2];

/// A result as C has it: errors are below zero.
fn result(result: Result<usize, i32>) -> i32 {
    result.map_or_else(|error| -error, |value| value as i32)
}

/// A path that C gives.
///
/// # Safety
/// The pointer is one to bytes that end with a zero, and nobody writes to them meanwhile.
unsafe fn path<'p>(path: *const c_char) -> alloc::borrow::Cow<'p, str> {
    // SAFETY: the caller says so.
    unsafe { CStr::from_ptr(path) }.to_string_lossy()
}

/// Whether a file of C's is standard input or a stream that is printed.
fn is_stream(file: i32) -> bool {
    file == INPUT || PRINTED.contains(&file)
}

/// Makes functions of the table, each of which does something with the session.
macro_rules! functions {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty |$session:pat_param| $body:block)*) => {$(
        unsafe extern "C-unwind" fn $name<C: Core>(context: *mut c_void, $($argument: $type),*) -> $result {
            // SAFETY: the context is what `program` has given to the program, which runs on this core; pointers and lengths are
            // those of the program's own objects, as `system.c` hands them on, to which no reference of this side's leads.
            unsafe { with::<C, _>(context, |$session| $body) }
        }
    )*};
}

functions! {
    open(name: *const c_char, mode: u32) -> i32 |session| {
        let name = path(name);
        result(session.files.borrow_mut().open(&name, Mode(mode)))
    }

    close(file: i32) -> i32 |session| {
        if is_stream(file) {
            return 0;
        }
        result(session.files.borrow_mut().close(file as usize).map(|()| 0))
    }

    read(file: i32, bytes: *mut u8, count: u32) -> i32 |session| {
        if file == INPUT || count == 0 {
            return 0;
        }
        let bytes = slice::from_raw_parts_mut(bytes, count as usize);
        result(session.files.borrow_mut().read(file as usize, bytes))
    }

    write(file: i32, bytes: *const u8, count: u32) -> i32 |session| {
        if count == 0 {
            return 0;
        }
        let bytes = slice::from_raw_parts(bytes, count as usize);
        if let Some(stream) = PRINTED.iter().position(|printed| *printed == file) {
            session.print(stream, bytes);
            return count as i32;
        }
        result(session.files.borrow_mut().write(file as usize, bytes))
    }

    seek(file: i32, offset: i64, from: i32) -> i64 |session| {
        /// The errno of what has no places: a stream.
        const NO_PLACES: i64 = 29;
        if is_stream(file) {
            return -NO_PLACES;
        }
        let place = session.files.borrow_mut().seek(file as usize, offset, from);
        place.unwrap_or_else(|error| (-error).into())
    }

    unlink(name: *const c_char) -> i32 |session| {
        result(session.files.borrow_mut().delete(&path(name)).map(|()| 0))
    }

    heap(bytes: *mut usize) -> *mut u8 |session| {
        let (start, len) = machine::heap(session.heap_bytes(), session.comm.rank());
        bytes.write(len);
        start
    }

    heap_is_full(bytes: usize) -> () |session| {
        let (rank, kib) = (session.comm.rank(), session.heap_bytes() >> 10);
        session.print_line(&alloc::format!(
            "rank {rank}: its heap of {kib} KiB has no room for {bytes} bytes more, and malloc returns NULL; raise heap_kib="
        ));
    }

    now_ns() -> u64 |session| {
        // A program that looks at the clock until it is late enough gets there where only this takes time.
        session.comm.hal().compute(CLOCK_CYCLES);
        session.spent.charge_call(session.comm.hal(), "now_ns");
        ns(session.comm.hal())
    }

    sleep_ns(time_ns: u64) -> () |session| {
        session.before_waiting();
        sleep(session.comm.hal(), time_ns);
    }

    rank() -> i32 |session| { session.comm.rank() as i32 }

    ranks() -> i32 |session| { session.comm.size() as i32 }

    accesses(start: usize, bytes: usize, stores: i32) -> () |session| {
        let stores = stores != 0;
        let what = if stores { "stores" } else { "loads" };
        session.comm.hal().declare(&Act::Access { bytes: (start, bytes), stores, what });
    }

    spends(spent: *const u64, estimated: *const u64) -> () |session| { session.spent.note_sums(spent, estimated) }
}

/// The clock of a core in nanoseconds.
fn ns<C: Core>(hal: &C) -> u64 {
    ns_of(hal.now(), hal.ticks_per_second().max(1))
}

/// Ticks of a clock in nanoseconds. A P54C takes thousands of cycles to divide 128 bits.
fn ns_of(ticks: u64, per_second: u64) -> u64 {
    const NS: u64 = 1_000_000_000;
    let [seconds, rest] = [ticks / per_second, ticks % per_second];
    seconds.wrapping_mul(NS).wrapping_add(match rest.checked_mul(NS) {
        Some(product) => product / per_second,
        None => (u128::from(rest) * u128::from(NS) / u128::from(per_second)) as u64,
    })
}

/// Lets time pass.
fn sleep<C: Core>(hal: &C, time_ns: u64) {
    let ticks = u128::from(time_ns) * u128::from(hal.ticks_per_second()) / 1_000_000_000;
    let end = hal.now().saturating_add(u64::try_from(ticks).unwrap_or(u64::MAX));
    // The end of the wait is its deadline.
    let _ = hal.wait_until(&[], Deadline::At(end), Reason::new("the end of its sleep"), |_| None::<()>);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_of_all_speeds_are_told_in_nanoseconds() {
        const DAY: u64 = 86_400;
        for per_second in [1, 3, 125_000_000, 533_000_000, 3_000_000_000, 1_000_000_000_000] {
            for ticks in [0, 1, 7, per_second - 1, per_second, 5 * per_second + per_second / 3, DAY * per_second + 1] {
                let expected = u128::from(ticks) * 1_000_000_000 / u128::from(per_second);
                assert_eq!(u128::from(ns_of(ticks, per_second)), expected, "{ticks} of {per_second}");
            }
        }
    }
}
