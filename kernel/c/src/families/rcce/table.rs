//! The table of what the C side asks for: the same as `atoll/rcce.h`, entry by entry.
//!
//! Services return RCCE's error numbers, counted from its base, 0 if all is well, or a state of a request below zero.

use core::{
    ffi::{c_char, c_void},
    ptr, slice,
};

use kernel::hal::{Act, Core, Deadline, act::Part};

use super::{
    COMPLETE_FIRST, Rcce,
    buffers::Private,
    code,
    flags::{Flag, Kind},
    groups::{Members, Type},
    leaks,
    requests::Wanted,
};
use crate::{
    families::{Running, with},
    session::Session,
};

/// The option by which messages go as RCCE's.
pub(crate) const FAITHFUL: &str = "rcce_faithful";

/// A place that is none, or anybody.
const NONE: i32 = -1;

/// A flag, as `struct atoll_rcce_flag`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct CFlag {
    line: u32,
    location: u32,
}

/// A communicator, as `struct atoll_rcce_members`.
#[repr(C)]
pub(crate) struct CMembers {
    ranks: *const i32,
    count: i32,
    place: i32,
}

/// A request that is begun or over, as `struct atoll_rcce_request`.
#[repr(C)]
pub(crate) struct CRequest {
    bytes: *mut u8,
    len: u32,
    is_send: i32,
    any_len: i32,
    peer: i32,
    number: u32,
}

/// Does something with the session, whether RCCE has begun or not.
///
/// # Safety
/// As for [`with`].
unsafe fn always<C: Core>(context: *mut c_void, action: impl for<'s, 'r> FnOnce(&Running<'s, 'r, C>) -> i32) -> i32 {
    // SAFETY: the caller says so.
    unsafe { with(context, action) }
}

/// Does something with what RCCE knows of this rank.
///
/// # Safety
/// As for [`with`].
unsafe fn run<C: Core>(
    context: *mut c_void,
    action: impl for<'s, 'r> FnOnce(&Session<'s, 'r, C>, &Rcce<'r, C>) -> Result<(), i32>,
) -> i32 {
    // SAFETY: the caller says so.
    unsafe {
        with::<C, _>(context, |session| match session.rcce.get().filter(|rcce| !rcce.is_over()) {
            Some(rcce) => code::status(action(session, rcce)),
            None => code::COMM_UNDEFINED,
        })
    }
}

/// Does something with what RCCE knows of this rank by which ranks synchronise. It may wait; and until the program flushes its shared memory itself, that is
/// made coherent before and after.
///
/// # Safety
/// As for [`with`].
unsafe fn synchronise<C: Core>(
    context: *mut c_void,
    action: impl for<'s, 'r> FnOnce(&Session<'s, 'r, C>, &Rcce<'r, C>) -> Result<(), i32>,
) -> i32 {
    // SAFETY: the caller says so.
    unsafe {
        run::<C>(context, |session, rcce| {
            session.before_waiting();
            rcce.make_coherent(session);
            let result = action(session, rcce);
            rcce.make_coherent(session);
            result
        })
    }
}

/// A rank that C names.
fn rank(ue: i32) -> Result<usize, i32> {
    usize::try_from(ue).map_err(|_| code::ID)
}

/// Tells a machine that checks the program what a call does for it.
fn declare_use<C: Core>(rcce: &Rcce<'_, C>, bytes: *const u8, len: usize, stores: bool) {
    let what = if stores { "has RCCE store" } else { "has RCCE load" };
    rcce.comm.hal().declare(&Act::Access { bytes: (bytes.addr(), len), stores, what });
}

/// The number of a request for a machine that checks the program: none of another family's.
fn declared(number: u32) -> u64 {
    1 << 63 | u64::from(number)
}

/// # Safety
/// There are `len` bytes that nobody writes to meanwhile, unless there are none.
unsafe fn read<'b, C: Core>(rcce: &Rcce<'_, C>, bytes: *const u8, len: usize) -> &'b [u8] {
    declare_use(rcce, bytes, len, false);
    // SAFETY: the caller says so.
    if len == 0 { &[] } else { unsafe { slice::from_raw_parts(bytes, len) } }
}

/// # Safety
/// There are `len` bytes that nobody else reaches meanwhile, unless there are none.
unsafe fn written<'b, C: Core>(rcce: &Rcce<'_, C>, bytes: *mut u8, len: usize) -> &'b mut [u8] {
    declare_use(rcce, bytes, len, true);
    // SAFETY: the caller says so.
    if len == 0 { &mut [] } else { unsafe { slice::from_raw_parts_mut(bytes, len) } }
}

/// # Safety
/// The members are a communicator that C has made, with as many ranks as it says.
unsafe fn members<'m, C: Core>(rcce: &Rcce<'_, C>, members: *const CMembers) -> Result<Members<'m>, i32> {
    // SAFETY: the caller says so.
    let CMembers { ranks, count, place } = unsafe { members.read() };
    let (count, place) = (rank(count)?, rank(place)?);
    // SAFETY: the caller says so.
    let ranks = unsafe { slice::from_raw_parts(ranks, count) };
    if place >= count {
        return Err(code::COMM_UNDEFINED);
    }
    Ok(Members { ranks, place, is_world: count == rcce.comm.size() })
}

impl CFlag {
    fn flag(self) -> Flag {
        Flag { line: self.line as usize, location: self.location as usize }
    }
}

/// Makes the table, and the functions in it: of each how it is carried out, its arguments after the context, and what it does with
/// the session and RCCE's side of it.
macro_rules! services {
    ($($(#[$doc:meta])* $how:ident $name:ident($($argument:ident: $type:ty),*) |$($given:pat_param),+| $body:block)*) => {
        /// The table.
        #[repr(C)]
        pub(crate) struct Table {
            $($(#[$doc])* $name: unsafe extern "C-unwind" fn(*mut c_void, $($type),*) -> i32,)*
        }

        impl Table {
            /// The table for ranks on cores of this type.
            pub(crate) fn of<C: Core>() -> Self {
                Self { $($name: $name::<C>,)* }
            }
        }

        $($(#[$doc])* unsafe extern "C-unwind" fn $name<C: Core>(context: *mut c_void, $($argument: $type),*) -> i32 {
            // SAFETY: the context is what the program was given, which runs on this core; pointers and lengths are those of the
            // program's own objects, or of the C side's, which has seen that those it writes to are not null, and that text ends
            // with a zero.
            unsafe {
                with::<C, _>(context, |session| session.spent.charge_call(session.comm.hal(), stringify!($name)));
                $how::<C>(context, |$($given),+| $body)
            }
        })*
    };
}

services! {
    always init(gory: i32) |session| {
        match session.rcce.get() {
            // It cannot begin again.
            Some(rcce) if rcce.is_over() => return code::COMM_UNDEFINED,
            Some(_) => return code::SUCCESS,
            None => {}
        }
        session.before_waiting();
        match Rcce::new(session, gory != 0) {
            Ok(rcce) => {
                let _ = session.rcce.set(rcce);
                code::SUCCESS
            }
            Err(error) => error,
        }
    }

    synchronise finalize() |session, rcce| {
        rcce.finalize(session);
        Ok(())
    }

    run allocate(bytes: u32, place: *mut u32) |session, rcce| {
        session.before_waiting();
        let allocated = rcce.buffers_mut()?.allocate(bytes as usize);
        place.write(rcce.tell_of_requests(session, allocated)? as u32);
        Ok(())
    }

    run free(place: u32) |_, rcce| { rcce.buffers_mut()?.free(place as usize) }

    run most_bytes(bytes: *mut u32) |_, rcce| {
        bytes.write(rcce.buffers()?.lines.limit_bytes() as u32);
        Ok(())
    }

    run put(to: u32, source: *const u8, own: i32, bytes: i32, ue: i32) |_, rcce| {
        let len = usize::try_from(bytes).map_err(|_| code::MESSAGE_LENGTH)?;
        let source = match usize::try_from(own) {
            Ok(own) => Private::Own(own),
            Err(_) => Private::Memory(read(rcce, source, len)),
        };
        rcce.buffers()?.put(to as usize, source, len, rank(ue)?)
    }

    run get(target: *mut u8, own: i32, from: u32, bytes: i32, ue: i32) |_, rcce| {
        let len = usize::try_from(bytes).map_err(|_| code::MESSAGE_LENGTH)?;
        let target = match usize::try_from(own) {
            Ok(own) => Private::Own(own),
            Err(_) => Private::Memory(written(rcce, target, len)),
        };
        rcce.buffers()?.get(target, from as usize, len, rank(ue)?)
    }

    run flag_allocate(kind: u32, flag: *mut CFlag) |session, rcce| {
        session.before_waiting();
        let kind = Kind::of(kind).ok_or(code::FLAG_UNDEFINED)?;
        let registers = rcce.unless_held(rcce.comm.rank());
        let allocated = rcce.flags.borrow_mut().allocate(&mut *rcce.buffers_mut()?, kind, registers);
        let Flag { line, location } = rcce.tell_of_requests(session, allocated)?;
        flag.write(CFlag { line: line as u32, location: location as u32 });
        Ok(())
    }

    run flag_free(flag: CFlag) |_, rcce| { rcce.flags.borrow_mut().free(&mut *rcce.buffers_mut()?, flag.flag()) }

    synchronise flag_write(flag: CFlag, value: u32, ue: i32, payload: *const u8, bytes: u32) |_, rcce| {
        let (ue, payload) = (rank(ue)?, read(rcce, payload, bytes as usize));
        rcce.flags.borrow().write(&*rcce.buffers()?, flag.flag(), value, ue, payload, rcce.unless_held(ue))
    }

    run flag_read(flag: CFlag, value: *mut u32, ue: i32, payload: *mut u8, bytes: u32) |_, rcce| {
        let payload = written(rcce, payload, bytes as usize);
        value.write(rcce.flags.borrow().read(&*rcce.buffers()?, flag.flag(), rank(ue)?, payload)?);
        Ok(())
    }

    /// Waits for the own flag; where `test` is given, looks once, and says there what it found.
    synchronise flag_wait(flag: CFlag, value: u32, test: *mut i32) |_, rcce| {
        let deadline = if test.is_null() { Deadline::Never } else { Deadline::At(0) };
        let has = rcce.flags.borrow().wait(&*rcce.buffers()?, flag.flag(), value, deadline)?;
        if !test.is_null() {
            test.write(has.into());
        }
        Ok(())
    }

    /// Takes a register; where `test` is given, if it is free, and says there whether it was.
    synchronise acquire(ue: i32, test: *mut i32) |_, rcce| {
        let acquired = rcce.acquire(rank(ue)?, test.is_null()).map_err(code::of)?;
        if !test.is_null() {
            test.write(acquired.into());
        }
        Ok(())
    }

    synchronise release(ue: i32) |_, rcce| { rcce.release(rank(ue)?).map_err(code::of) }

    synchronise send(message: *const u8, bytes: u32, to: i32, even_nothing: i32) |session, rcce| {
        let (message, to) = (read(rcce, message, bytes as usize), rank(to)?);
        let sent = if even_nothing == 0 { rcce.send(message, to) } else { rcce.send_even_nothing(message, to) };
        rcce.tell(session, "a send", sent)
    }

    /// Receives; where `test` is given, if there is a message, and says there whether there was.
    synchronise receive(message: *mut u8, bytes: u32, from: i32, test: *mut i32) |session, rcce| {
        let (message, from) = (written(rcce, message, bytes as usize), rank(from)?);
        if !test.is_null() {
            let is_there = message.is_empty() || rcce.incoming(from).map_err(code::of)?.is_some();
            test.write(is_there.into());
            if !is_there {
                return Ok(());
            }
        }
        rcce.tell(session, "a receive", rcce.receive(message, from))
    }

    /// Whether there is a message from this rank, or anybody, which is then told, as is its length. Where `test` is not
    /// given, waits for one.
    synchronise incoming(from: *mut i32, bytes: *mut u32, test: *mut i32) |_, rcce| {
        let named = if from.read() == NONE { None } else { Some(rank(from.read())?) };
        loop {
            rcce.push();
            let senders =
                named.map_or_else(|| rcce.requests.borrow().unnamed_senders(rcce.comm), |from| [from].into());
            for sender in &senders {
                if let Some(len) = rcce.incoming(*sender).map_err(code::of)? {
                    from.write(*sender as i32);
                    bytes.write(len as u32);
                    if !test.is_null() {
                        test.write(1);
                    }
                    return Ok(());
                }
            }
            if !test.is_null() {
                test.write(0);
                return Ok(());
            }
            // Requests go on meanwhile.
            rcce.requests.borrow().wait(rcce.comm, &senders).map_err(code::of)?;
        }
    }

    /// Begins a request, and gives it a number.
    synchronise start(request: *mut CRequest) |session, rcce| {
        let CRequest { bytes, len, is_send, any_len, peer, .. } = request.read();
        let peer = if peer == NONE { None } else { Some(rank(peer)?) };
        if let Some(peer) = peer {
            rcce.comm.check_rank(peer).map_err(code::of)?;
        }
        if peer == Some(rcce.comm.rank()) || (is_send != 0 && peer.is_none()) {
            return Err(code::ID);
        }
        let (is_send, any_len, len) = (is_send != 0, any_len != 0, len as usize);
        // The program leaves the buffer of a request alone until that is over, as iRCCE has it.
        let number = rcce.requests.borrow_mut().start(Wanted { is_send, bytes, len, any_len, peer });
        (*request).number = number;
        let start = bytes.addr();
        session.watched.add(start, len);
        let what = if is_send { "begins to send a message" } else { "begins to receive a message" };
        let own = [Part { bytes: start..start + len, writes: !is_send }];
        rcce.comm.hal().declare(&Act::Begins { number: declared(number), what, own: &own, target: None });
        Ok(())
    }

    /// Goes on with all requests, and says how one is; what it was is told when it is over.
    synchronise look(request: *mut CRequest, waits: i32) |session, rcce| {
        let number = (*request).number;
        rcce.push();
        let ended = if waits != 0 { Some(rcce.wait(number)) } else { rcce.requests.borrow_mut().look(number)? };
        let Some(ended) = ended else { return Ok(()) };
        rcce.comm.hal().declare(&Act::Ends(declared(number)));
        (*request).peer = ended.peer as i32;
        (*request).len = ended.len as u32;
        rcce.tell(session, "a request", ended.result)
    }

    /// Goes on with all requests, and says whether those that send, or receive, are over; or waits until they are.
    synchronise push(send: i32, waits: i32) |_, rcce| {
        if waits != 0 {
            rcce.wait_for_all(send != 0);
        } else {
            rcce.push();
        }
        if rcce.requests.borrow().go_on(send != 0) { Err(code::PENDING) } else { Ok(()) }
    }

    /// Waits until there is something to do for a request.
    synchronise await_any() |_, rcce| {
        rcce.await_step();
        Ok(())
    }

    run cancel(number: u32) |_, rcce| {
        if !rcce.requests.borrow_mut().cancel(number) {
            return Err(code::PENDING);
        }
        rcce.comm.hal().declare(&Act::Ends(declared(number)));
        Ok(())
    }

    synchronise barrier(of: *const CMembers, flags: u32) |_, rcce| { rcce.barrier(members(rcce, of)?, flags as usize) }

    synchronise new_barrier(members: u32, flags: *mut u32) |session, rcce| {
        flags.write(rcce.tell_of_requests(session, rcce.new_barrier(members as usize))? as u32);
        Ok(())
    }

    run free_barrier(flags: u32) |_, rcce| { rcce.free_barrier(flags as usize) }

    synchronise broadcast(of: *const CMembers, message: *mut u8, bytes: u32, root: i32) |session, rcce| {
        let (members, root, len) = (members(rcce, of)?, rank(root)?, bytes as usize);
        declare_use(rcce, message, len, root != members.place);
        let message: &mut [u8] = if len == 0 { &mut [] } else { slice::from_raw_parts_mut(message, len) };
        rcce.broadcast(session, members, message, root)
    }

    /// The result is the root's, or everybody's without one. It may be where the operands are.
    synchronise reduce(of: *const CMembers, operands: *const u8, result: *mut u8, count: i32, element: i32, operator: i32, root: i32) |session, rcce| {
        let members = members(rcce, of)?;
        let count = usize::try_from(count).map_err(|_| code::MESSAGE_LENGTH)?;
        let len = count.checked_mul(Type::of(element)?.bytes()).ok_or(code::MESSAGE_LENGTH)?;
        let root = if root == NONE { None } else { Some(rank(root)?) };
        let reduced = rcce.reduce(session, members, read(rcce, operands, len), [element, operator], root)?;
        if root.is_none_or(|root| root == members.place) {
            written(rcce, result, len).copy_from_slice(&reduced);
        }
        Ok(())
    }

    run fence() |_, rcce| {
        rcce.comm.hal().drain();
        rcce.comm.hal().invalidate_mpb();
        Ok(())
    }

    run share(bytes: usize, block: *mut *mut u8) |session, rcce| {
        session.before_waiting();
        block.write(ptr::null_mut());
        let allocated = if rcce.shared.borrow().is_unreserved() && !rcce.requests.borrow().are_over() {
            Err(COMPLETE_FIRST)
        } else {
            session.with_caches(|caches| rcce.shared.borrow_mut().allocate(rcce.comm, caches, bytes))
        };
        rcce.shared.borrow().declare(rcce.comm, &session.watched);
        match allocated {
            Ok(allocated) => block.write(allocated),
            Err(why) => session.print_line(why),
        }
        if (*block).is_null() { Err(code::MALLOC) } else { Ok(()) }
    }

    run unshare(block: *mut u8) |_, rcce| {
        if rcce.shared.borrow_mut().free(block) { Ok(()) } else { Err(code::MALLOC) }
    }

    run flush() |session, rcce| {
        rcce.flush(session);
        Ok(())
    }

    run counter(number: *mut u32) |session, rcce| {
        session.before_waiting();
        number.write(rcce.tell_of_requests(session, rcce.new_counter())? as u32);
        Ok(())
    }

    /// Adds to a counter (1), reads it (0), or sets it (-1) to the value; where it was not set, the value is what it was.
    run count(number: u32, change: i32, value: *mut i32) |_, rcce| {
        let new = value.read() as u32;
        let old = rcce.count(number as usize, |old| match change {
            0 => None,
            1 => Some(old.wrapping_add(1)),
            _ => Some(new),
        })?;
        if change >= 0 {
            value.write(old as i32);
        }
        Ok(())
    }

    /// Notes a block that a function has given out which was called from `caller`; no bytes: it was freed.
    run note_block(kind: u32, start: usize, bytes: usize, caller: usize) |_, rcce| {
        let kind = leaks::Kind::of(kind).ok_or(code::MALLOC)?;
        let mut leaks = rcce.leaks.borrow_mut();
        if bytes == 0 { leaks.forget(kind, start) } else { leaks.note(kind, start, bytes, caller) }
        Ok(())
    }

    /// Prints a line of the library's own.
    always say(line: *const c_char) |session| {
        session.before_waiting();
        session.print_line(&core::ffi::CStr::from_ptr(line).to_string_lossy());
        code::SUCCESS
    }
}
