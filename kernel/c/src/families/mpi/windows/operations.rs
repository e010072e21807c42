//! Puts, gets and accumulates.

use alloc::{boxed::Box, rc::Rc, vec::Vec};

use kernel::hal::Core;

use super::{
    Window,
    access::on_window,
    arguments::{Target, block, check_len},
    wire::{How, Word},
};
use crate::families::mpi::{
    class::{Class, Fault},
    collective::blocks::Block,
    datatypes::{Group, arguments::Number},
    engine::{DONE, Pending},
    handles::Handle,
    operators::Operation,
    place::Place,
    requests::{Request, What},
    state::Here,
};

/// The ABI's operator that returns what is there.
const NO_OP: Handle = 0x3D;

/// What an operation waits for at its origin.
enum Awaits {
    /// Nothing: its data were copied, or have arrived.
    Nothing,
    /// The answer to a ticket.
    Answer(u32),
}

/// Gives the program a request, if it wants one.
fn finish<C: Core>(
    here: &Here<'_, '_, '_, C>,
    window: &Rc<Window>,
    awaits: &Awaits,
    declared: Option<u64>,
    request: Option<Place<Handle>>,
) -> Result<(), Fault> {
    let Some(request) = request else { return Ok(()) };
    let pending = match *awaits {
        Awaits::Nothing => Pending::over(Ok(DONE)),
        Awaits::Answer(ticket) => {
            let window = window.clone();
            here.engine.spawn(Box::pin(async move {
                core::future::poll_fn(|_| {
                    let is_here = window.ends.is_answered(ticket);
                    if is_here { core::task::Poll::Ready(()) } else { core::task::Poll::Pending }
                })
                .await;
                Ok(DONE)
            }))
        }
    };
    let made = Request::new(window.comm.clone(), What::Send, Some(pending));
    let handle = here.new_request(made.declared_as(declared));
    request.write(handle);
    Ok(())
}

/// What an accumulate does, if it is defined for the values at both ends.
fn how<C: Core>(
    here: &Here<'_, '_, '_, C>,
    operator: Handle,
    origin: Option<&Block>,
    target: &Target,
) -> Result<How, Fault> {
    let operation = here.operators.get(operator)?.operation();
    let operation = operation.ok_or_else(|| Fault::new(Class::OP, "windows take predefined operators only"))?;
    if target.bytes == 0 {
        return Ok(How { operator: NO_OP as u16, basic: 0 });
    }
    let basic = target.datatype.basic();
    let basic = basic.ok_or_else(|| Fault::new(Class::TYPE, "the values at the target are of several basic types"))?;
    if !operation.takes(basic.group) {
        return Err(Fault::new(Class::OP, "the operator is not defined for this datatype"));
    }
    if operation != Operation::Nothing
        && origin.is_some_and(|origin| origin.len_bytes() > 0 && origin.datatype.basic() != Some(basic))
    {
        return Err(Fault::new(Class::TYPE, "the values of origin and target are of different basic types"));
    }
    Ok(How { operator: operator as u16, basic: basic.handle as u16 })
}

/// The bytes of an origin's values.
///
/// # Safety
/// They are there.
unsafe fn bytes(origin: &Block) -> Vec<u8> {
    // SAFETY: the caller says so.
    unsafe { origin.bytes() }.into_owned()
}

// SAFETY, of all that follow: pointers are the program's, as the standard of MPI has them: what is put is there during the call,
// and what is got has room until it is complete.

#[expect(clippy::too_many_arguments, reason = "the standard's")]
unsafe fn put_with<C: Core, T: Number>(
    here: &Here<'_, '_, '_, C>,
    origin: *const u8,
    number: T,
    datatype: Handle,
    rank: i32,
    displacement: isize,
    target_number: T,
    target_datatype: Handle,
    handle: Handle,
    request: Option<Place<Handle>>,
) -> Result<(), Fault> {
    on_window(here, handle, |window| {
        let origin = block(here, origin.cast_mut(), number, datatype)?;
        let mut declared = None;
        if let Some(target) = window.values(here, rank, displacement, target_number, target_datatype)? {
            check_len(origin.len_bytes(), target.bytes)?;
            window.enter(here, target.rank, request.is_some())?;
            declared = window.declare(here, "calls MPI_Put", &[(&origin, false)], &target, None);
            if origin.len_bytes() > 0 {
                // SAFETY: see above.
                unsafe { window.say_with(here, target.rank, &Word::Put(target.place, Vec::new()), &origin)? };
                // What is long has arrived.
                window.bound_queue(here, target.rank, target.bytes.min(512))?;
            }
        }
        finish(here, window, &Awaits::Nothing, declared, request)
    })
}

#[expect(clippy::too_many_arguments, reason = "the standard's")]
unsafe fn get_with<C: Core, T: Number>(
    here: &Here<'_, '_, '_, C>,
    origin: *mut u8,
    number: T,
    datatype: Handle,
    rank: i32,
    displacement: isize,
    target_number: T,
    target_datatype: Handle,
    handle: Handle,
    request: Option<Place<Handle>>,
) -> Result<(), Fault> {
    on_window(here, handle, |window| {
        let origin = block(here, origin, number, datatype)?;
        let (mut awaits, mut declared) = (Awaits::Nothing, None);
        if let Some(target) = window.values(here, rank, displacement, target_number, target_datatype)? {
            check_len(target.bytes, origin.len_bytes())?;
            window.enter(here, target.rank, request.is_some())?;
            declared = window.declare(here, "calls MPI_Get", &[(&origin, true)], &target, None);
            if target.bytes > 0 {
                let ticket = window.ends.ticket(target.rank, Some(origin));
                window.say(here, target.rank, &Word::Get(ticket, target.place))?;
                window.bound_queue(here, target.rank, target.bytes)?;
                awaits = Awaits::Answer(ticket);
            }
        }
        finish(here, window, &awaits, declared, request)
    })
}

#[expect(clippy::too_many_arguments, reason = "the standard's")]
unsafe fn accumulate_with<C: Core, T: Number>(
    here: &Here<'_, '_, '_, C>,
    origin: *const u8,
    number: T,
    datatype: Handle,
    rank: i32,
    displacement: isize,
    target_number: T,
    target_datatype: Handle,
    operator: Handle,
    handle: Handle,
    request: Option<Place<Handle>>,
) -> Result<(), Fault> {
    on_window(here, handle, |window| {
        let origin = block(here, origin.cast_mut(), number, datatype)?;
        if operator == NO_OP {
            return Err(Fault::new(Class::OP, "MPI_NO_OP is for what returns something"));
        }
        here.operators.get(operator)?;
        let mut declared = None;
        if let Some(target) = window.values(here, rank, displacement, target_number, target_datatype)? {
            let how = how(here, operator, Some(&origin), &target)?;
            check_equal(&origin, &target)?;
            window.enter(here, target.rank, request.is_some())?;
            declared = window.declare(here, "calls MPI_Accumulate", &[(&origin, false)], &target, Some((how, false)));
            if target.bytes > 0 {
                // SAFETY: see above.
                window.say(here, target.rank, &Word::Accumulate(how, target.place, unsafe { bytes(&origin) }))?;
                window.bound_queue(here, target.rank, target.bytes)?;
            }
        }
        finish(here, window, &Awaits::Nothing, declared, request)
    })
}

/// Operands and what they are combined with are as many.
fn check_equal(origin: &Block, target: &Target) -> Result<(), Fault> {
    check_len(origin.len_bytes(), target.bytes)?;
    check_len(target.bytes, origin.len_bytes())
}

/// Asks for what is at a target, and combines it.
///
/// # Safety
/// See above.
unsafe fn fetch<C: Core>(
    here: &Here<'_, '_, '_, C>,
    window: &Rc<Window>,
    name: &'static str,
    (origin, result): (Option<Block>, Block),
    target: Option<Target>,
    operator: Handle,
    request: Option<Place<Handle>>,
) -> Result<(), Fault> {
    let (mut awaits, mut declared) = (Awaits::Nothing, None);
    here.operators.get(operator)?;
    if let Some(target) = target {
        let how = how(here, operator, origin.as_ref(), &target)?;
        if let Some(origin) = &origin {
            check_equal(origin, &target)?;
        }
        check_len(target.bytes, result.len_bytes())?;
        window.enter(here, target.rank, request.is_some())?;
        let own: Vec<_> = origin.iter().map(|origin| (origin, false)).chain([(&result, true)]).collect();
        declared = window.declare(here, name, &own, &target, Some((how, true)));
        if target.bytes > 0 {
            // SAFETY: the caller says so.
            let operands = origin.map_or_else(Vec::new, |origin| unsafe { bytes(&origin) });
            let ticket = window.ends.ticket(target.rank, Some(result));
            window.say(here, target.rank, &Word::Fetch(ticket, how, target.place, operands))?;
            window.bound_queue(here, target.rank, target.bytes)?;
            awaits = Awaits::Answer(ticket);
        }
    }
    finish(here, window, &awaits, declared, request)
}

#[expect(clippy::too_many_arguments, reason = "the standard's")]
unsafe fn get_accumulate_with<C: Core, T: Number>(
    here: &Here<'_, '_, '_, C>,
    origin: *const u8,
    number: T,
    datatype: Handle,
    result: *mut u8,
    result_number: T,
    result_datatype: Handle,
    rank: i32,
    displacement: isize,
    target_number: T,
    target_datatype: Handle,
    operator: Handle,
    handle: Handle,
    request: Option<Place<Handle>>,
) -> Result<(), Fault> {
    on_window(here, handle, |window| {
        // Nothing is said of the origin where it is not looked at.
        let origin = match operator {
            NO_OP => None,
            _ => Some(block(here, origin.cast_mut(), number, datatype)?),
        };
        let result = block(here, result, result_number, result_datatype)?;
        let target = window.values(here, rank, displacement, target_number, target_datatype)?;
        // SAFETY: see above.
        unsafe { fetch(here, window, "calls MPI_Get_accumulate", (origin, result), target, operator, request) }
    })
}

#[expect(clippy::too_many_arguments, reason = "the standard's")]
pub(super) unsafe fn fetch_and_op<C: Core>(
    here: &Here<'_, '_, '_, C>,
    origin: *const u8,
    result: *mut u8,
    datatype: Handle,
    rank: i32,
    displacement: isize,
    operator: Handle,
    handle: Handle,
) -> Result<(), Fault> {
    on_window(here, handle, |window| {
        check_predefined(here, datatype)?;
        let origin = if operator == NO_OP { None } else { Some(block(here, origin.cast_mut(), 1, datatype)?) };
        let result = block(here, result, 1, datatype)?;
        let target = window.values(here, rank, displacement, 1, datatype)?;
        // SAFETY: see above.
        unsafe { fetch(here, window, "calls MPI_Fetch_and_op", (origin, result), target, operator, None) }
    })
}

fn check_predefined<C: Core>(here: &Here<'_, '_, '_, C>, datatype: Handle) -> Result<Group, Fault> {
    let datatype = here.datatypes.get(datatype)?;
    let basic = datatype.basic().filter(|_| datatype.is_basic());
    basic.map(|basic| basic.group).ok_or_else(|| Fault::new(Class::TYPE, "it takes a predefined datatype"))
}

#[expect(clippy::too_many_arguments, reason = "the standard's")]
pub(super) unsafe fn compare_and_swap<C: Core>(
    here: &Here<'_, '_, '_, C>,
    origin: *const u8,
    expected: *const u8,
    result: *mut u8,
    datatype: Handle,
    rank: i32,
    displacement: isize,
    handle: Handle,
) -> Result<(), Fault> {
    on_window(here, handle, |window| {
        let group = check_predefined(here, datatype)?;
        let is_compared = matches!(
            group,
            Group::CInteger | Group::FortranInteger | Group::Logical | Group::MultiLanguage | Group::Byte
        );
        if !is_compared {
            return Err(Fault::new(Class::TYPE, "it takes an integer, a truth value or a byte"));
        }
        let value = |address: *const u8| block(here, address.cast_mut(), 1, datatype);
        let (origin, expected, result) = (value(origin)?, value(expected)?, value(result)?);
        let Some(target) = window.values(here, rank, displacement, 1, datatype)? else { return Ok(()) };
        window.enter(here, target.rank, false)?;
        window.declare_swap(here, [&origin, &expected, &result], &target);
        // SAFETY: see above.
        let both = unsafe { [bytes(&expected), bytes(&origin)] }.concat();
        let ticket = window.ends.ticket(target.rank, Some(result));
        window.say(here, target.rank, &Word::Swap(ticket, target.place, both))?;
        window.bound_queue(here, target.rank, target.bytes)
    })
}

/// The forms of an operation without a request and with one.
macro_rules! forms {
    ($($plain:ident, $with_request:ident of $function:ident($($argument:ident: $type:ty),*);)*) => {$(
        #[allow(clippy::too_many_arguments, reason = "the standard's")]
        pub(super) unsafe fn $plain<C: Core, T: Number>(
            here: &Here<'_, '_, '_, C>,
            $($argument: $type,)*
        ) -> Result<(), Fault> {
            // SAFETY: see above.
            unsafe { $function(here, $($argument,)* None) }
        }

        #[allow(clippy::too_many_arguments, reason = "the standard's")]
        pub(super) unsafe fn $with_request<C: Core, T: Number>(
            here: &Here<'_, '_, '_, C>,
            $($argument: $type,)*
            request: Place<Handle>,
        ) -> Result<(), Fault> {
            // SAFETY: see above.
            unsafe { $function(here, $($argument,)* Some(request)) }
        }
    )*};
}

forms! {
    put, rput of put_with(
        origin: *const u8, number: T, datatype: Handle, rank: i32, displacement: isize, target_number: T,
        target_datatype: Handle, handle: Handle
    );
    get, rget of get_with(
        origin: *mut u8, number: T, datatype: Handle, rank: i32, displacement: isize, target_number: T,
        target_datatype: Handle, handle: Handle
    );
    accumulate, raccumulate of accumulate_with(
        origin: *const u8, number: T, datatype: Handle, rank: i32, displacement: isize, target_number: T,
        target_datatype: Handle, operator: Handle, handle: Handle
    );
    get_accumulate, rget_accumulate of get_accumulate_with(
        origin: *const u8, number: T, datatype: Handle, result: *mut u8, result_number: T, result_datatype: Handle,
        rank: i32, displacement: isize, target_number: T, target_datatype: Handle, operator: Handle, handle: Handle
    );
}
