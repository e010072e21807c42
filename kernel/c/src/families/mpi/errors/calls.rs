//! Errors: how one is raised, and the functions that a program calls.

use alloc::string::{String, ToString};
use core::{
    ffi::{CStr, c_char},
    mem,
};

use kernel::hal::Core;

use super::{
    super::{
        attributes::Of,
        class::{Class, Fault, On},
        constants::{COMM_NULL, COMM_SELF, COMM_WORLD},
        handles::Handle,
        place::Place,
        state::Here,
    },
    ARE_FATAL, Handler, RETURN, function_name, read_text, write_text,
};

/// Handlers that are always there.
const NULL: Handle = 0x140;
const ABORT: Handle = 0x142;

/// No file, which is all that there are.
const FILE_NULL: Handle = 0x118;

/// The longest text of an error, with its end.
const TEXT_BYTES: usize = 512;

type Function = unsafe extern "C" fn(*mut Handle, *mut i32, ...);

/// Tells an error handler of an error, and says what the function returns.
pub(crate) fn raise<C: Core>(here: &Here<'_, '_, '_, C>, name: &str, fault: Fault) -> i32 {
    let Fault { class, why, on, function, .. } = fault;
    let Class(code) = class;
    let (mut object, handler) = match on {
        On::Comm(comm) => (comm, here.communicator(comm).ok().map(|comm| comm.errhandler.get())),
        On::Window(window) => (window, here.windows.get(window).ok().map(|window| window.errhandler.get())),
        On::Session(session) => (session, here.sessions.borrow().get(session).copied()),
        On::File => (FILE_NULL, Some(here.file_handler.get())),
        On::Handler(handler) => (COMM_NULL, Some(handler)),
        On::Nothing => (COMM_SELF, None),
    };
    // What belongs to nothing is an error of MPI_COMM_SELF; of old of MPI_COMM_WORLD, where programs still ask for it.
    let handler = handler.unwrap_or_else(|| {
        let of = |comm| here.communicator(comm).map_or(ARE_FATAL, |comm| comm.errhandler.get());
        object = if of(COMM_SELF) == ARE_FATAL { COMM_WORLD } else { COMM_SELF };
        of(object)
    });
    let own = here.errhandlers.borrow().get(handler).map(|handler| handler.function);
    match (handler, own) {
        (RETURN, _) => {}
        (_, Some(own)) => {
            let mut number = code;
            // SAFETY: the program has said that this is a function for error handlers, which has these arguments.
            unsafe { mem::transmute::<usize, Function>(own)(&raw mut object, &raw mut number) };
        }
        _ => {
            here.session.before_waiting();
            let name = function_name(function.as_deref().unwrap_or(name));
            let text = text_of(here, code).unwrap_or_else(|| code.to_string());
            let colon = if why.is_empty() { "" } else { ": " };
            panic!("{name}: {text}{colon}{why}");
        }
    }
    code
}

fn text_of<C: Core>(here: &Here<'_, '_, '_, C>, code: i32) -> Option<String> {
    match Class(code).text() {
        Some(text) => Some(text.into_owned()),
        None => here.added.borrow_mut().get_mut(code).map(|error| error.text.clone().unwrap_or_default()),
    }
}

// SAFETY, of all that follow: pointers are the program's, as the standard of MPI has them.

pub(crate) unsafe fn error_string<C: Core>(
    here: &Here<'_, '_, '_, C>,
    code: i32,
    text: Place<c_char>,
    len: Place<i32>,
) -> Result<(), Fault> {
    let known = text_of(here, code).ok_or(Class::ARG)?;
    // SAFETY: see above.
    unsafe { write_text(known.as_bytes(), text.pointer(), Some(len), TEXT_BYTES) };
    Ok(())
}

pub(crate) fn error_class<C: Core>(here: &Here<'_, '_, '_, C>, code: i32, class: Place<i32>) -> Result<(), Fault> {
    let found = match here.added.borrow_mut().get_mut(code) {
        Some(error) => error.class,
        None if (0..=Class::LAST).contains(&code) => code,
        None => return Err(Class::ARG.into()),
    };
    class.write(found);
    Ok(())
}

fn add<C: Core>(here: &Here<'_, '_, '_, C>, class: Option<i32>) -> i32 {
    let number = here.added.borrow_mut().add(class);
    here.predefined.last_code.set(number);
    number
}

pub(crate) fn add_error_class<C: Core>(here: &Here<'_, '_, '_, C>, class: Place<i32>) -> Result<(), Fault> {
    class.write(add(here, None));
    Ok(())
}

pub(crate) fn add_error_code<C: Core>(here: &Here<'_, '_, '_, C>, class: i32, code: Place<i32>) -> Result<(), Fault> {
    if class < 0
        || class > Class::LAST && here.added.borrow_mut().get_mut(class).is_none_or(|error| error.class != class)
    {
        return Err(Fault::new(Class::ARG, "there is no such class"));
    }
    code.write(add(here, Some(class)));
    Ok(())
}

pub(crate) unsafe fn add_error_string<C: Core>(
    here: &Here<'_, '_, '_, C>,
    code: i32,
    text: *const c_char,
) -> Result<(), Fault> {
    // SAFETY: see above.
    let given = unsafe { read_text(text)? }.to_string_lossy().into_owned();
    here.added.borrow_mut().get_mut(code).ok_or(Class::ARG)?.text = Some(given);
    Ok(())
}

pub(crate) fn remove_error_class<C: Core>(here: &Here<'_, '_, '_, C>, class: i32) -> Result<(), Fault> {
    Ok(here.added.borrow_mut().remove(class, true)?)
}

pub(crate) fn remove_error_code<C: Core>(here: &Here<'_, '_, '_, C>, code: i32) -> Result<(), Fault> {
    Ok(here.added.borrow_mut().remove(code, false)?)
}

pub(crate) fn remove_error_string<C: Core>(here: &Here<'_, '_, '_, C>, code: i32) -> Result<(), Fault> {
    here.added.borrow_mut().get_mut(code).ok_or(Class::ARG)?.text.take().ok_or(Class::ARG)?;
    Ok(())
}

macro_rules! create {
    ($($name:ident of $of:ident;)*) => {$(
        pub(crate) fn $name<C: Core>(
            here: &Here<'_, '_, '_, C>,
            function: usize,
            handler: Place<Handle>,
        ) -> Result<(), Fault> {
            let made = here.errhandlers.borrow_mut().insert(Handler { function, of: Of::$of });
            handler.write(made);
            Ok(())
        }
    )*};
}

create! {
    comm_create_errhandler of Comm;
    session_create_errhandler of Session;
    win_create_errhandler of Window;
    file_create_errhandler of File;
}

/// Another handle of a handler, to be freed.
pub(crate) fn another<C: Core>(here: &Here<'_, '_, '_, C>, handler: Handle) -> Handle {
    let known = here.errhandlers.borrow().get(handler).copied();
    known.map_or(handler, |known| here.errhandlers.borrow_mut().insert(known))
}

/// A handler that can be one of an object of this kind.
pub(crate) fn checked<C: Core>(here: &Here<'_, '_, '_, C>, handler: Handle, kind: Of) -> Result<Handle, Fault> {
    let is_known = [ARE_FATAL, ABORT, RETURN].contains(&handler);
    let of = here.errhandlers.borrow().get(handler).map(|handler| handler.of);
    if is_known || of == Some(kind) { Ok(handler) } else { Err(Class::ERRHANDLER.into()) }
}

pub(crate) fn comm_set_errhandler<C: Core>(
    here: &Here<'_, '_, '_, C>,
    comm: Handle,
    handler: Handle,
) -> Result<(), Fault> {
    let of = here.communicator(comm)?;
    of.errhandler.set(checked(here, handler, Of::Comm).map_err(|fault| of.blame(fault))?);
    Ok(())
}

pub(crate) fn comm_get_errhandler<C: Core>(
    here: &Here<'_, '_, '_, C>,
    comm: Handle,
    handler: Place<Handle>,
) -> Result<(), Fault> {
    let of_comm = here.communicator(comm)?.errhandler.get();
    let given = another(here, of_comm);
    handler.write(given);
    Ok(())
}

pub(crate) fn comm_call_errhandler<C: Core>(here: &Here<'_, '_, '_, C>, comm: Handle, code: i32) -> Result<(), Fault> {
    here.communicator(comm)?;
    raise(here, "comm_call_errhandler", Fault::from(Class(code)).on_comm(comm));
    Ok(())
}

/// What Atoll has not got: an error of a class, of this communicator's.
pub(crate) unsafe fn refuse<C: Core>(
    _: &Here<'_, '_, '_, C>,
    name: *const c_char,
    class: i32,
    comm: Handle,
) -> Result<(), Fault> {
    // SAFETY: see above.
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
    Err(Fault::new(Class(class), "Atoll has nothing of the kind").on_comm(comm).of_function(&name))
}

/// For functions of the C side that have no place for what they give.
pub(crate) unsafe fn no_place<C: Core>(
    here: &Here<'_, '_, '_, C>,
    name: *const c_char,
    comm: Handle,
) -> Result<(), Fault> {
    // SAFETY: see above.
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
    here.refuse_missing(&[(true, Some(comm))]).map_err(|fault| fault.of_function(&name))
}

/// Refuses what is not `MPI_FILE_NULL`: there are no files.
fn check_file(file: Handle) -> Result<(), Fault> {
    if file == FILE_NULL { Ok(()) } else { Err(Fault::from(Class::FILE).on_file()) }
}

pub(crate) fn file_set_errhandler<C: Core>(
    here: &Here<'_, '_, '_, C>,
    file: Handle,
    handler: Handle,
) -> Result<(), Fault> {
    check_file(file)?;
    here.file_handler.set(checked(here, handler, Of::File).map_err(Fault::on_file)?);
    Ok(())
}

pub(crate) fn file_get_errhandler<C: Core>(
    here: &Here<'_, '_, '_, C>,
    file: Handle,
    handler: Place<Handle>,
) -> Result<(), Fault> {
    check_file(file)?;
    handler.write(another(here, here.file_handler.get()));
    Ok(())
}

pub(crate) fn file_call_errhandler<C: Core>(here: &Here<'_, '_, '_, C>, file: Handle, code: i32) -> Result<(), Fault> {
    check_file(file)?;
    raise(here, "file_call_errhandler", Fault::from(Class(code)).on_file());
    Ok(())
}

/// What wants a file.
pub(crate) unsafe fn file_refuse<C: Core>(_: &Here<'_, '_, '_, C>, name: *const c_char) -> Result<(), Fault> {
    // SAFETY: see above.
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
    Err(Fault::new(Class::UNSUPPORTED_OPERATION, "Atoll has no files of MPI").on_file().of_function(&name))
}

pub(crate) fn errhandler_free<C: Core>(here: &Here<'_, '_, '_, C>, handler: Place<Handle>) -> Result<(), Fault> {
    let handle = handler.read();
    let is_known = [ARE_FATAL, ABORT, RETURN].contains(&handle);
    if !is_known && here.errhandlers.borrow().get(handle).is_none() {
        return Err(Class::ERRHANDLER.into());
    }
    // Communicators may have it still; they find it by its handle.
    handler.write(NULL);
    Ok(())
}
