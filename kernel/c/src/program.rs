//! Runs a program in C on one rank.

use alloc::{borrow::ToOwned, ffi::CString, string::String, vec::Vec};

use kernel::{Failure, Program, Rank, args::KnownOption, hal::Core};

use crate::{
    encoded_words,
    families::{Running, Tables, rcce},
    machine,
    services::Services,
    session::Session,
    spent::{self, Calls, Misses},
};

/// Whatever program in C there is: on bare metal the one that the image was linked with, on the host the one in the
/// file that the option `image` names.
pub struct CProgram;

impl Program for CProgram {
    const NAME: &'static str = "c";
    const ABOUT: &'static str = "a program in C";
    const OPTIONS: &'static [KnownOption] = &[
        ("image", "file with the program, on the host"),
        ("argument", "the next argument of the program"),
        ("environment", "a variable for getenv, as NAME=VALUE"),
        (spent::OPTION, "what accesses take that L1 misses, where computation is to take virtual time"),
        (spent::CALLS_OPTION, "what calls of our library take, likewise"),
        (rcce::FAITHFUL, "send RCCE's messages by RCCE's own protocol"),
    ];

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let words = |key| rank.args.all(key).map(|words| words.map(encoded_words::decoded).collect::<Vec<_>>());
        let [image, arguments, environment] = [words("image")?, words("argument")?, words("environment")?];
        let image = image.first().map(encoded_words::text).unwrap_or_default();
        let misses = rank.args.all(spent::OPTION)?.next();
        let misses = misses.map(|option| Misses::of(rank.comm.hal(), option)).transpose()?;
        let calls = rank.args.all(spent::CALLS_OPTION)?.next();
        let calls = calls.map(Calls::of).transpose()?.unwrap_or_default();
        let program = machine::load(&image, rank.comm.rank(), rank.comm.size())?;
        let session = Running::new(Session::new(rank, misses, calls));
        let status = {
            let tables = Tables::of::<C>();
            let services = Services::of::<C>(&tables, &session);
            let name = CString::new(image).unwrap_or_default();
            let arguments: Vec<_> = core::iter::once(name).chain(arguments).collect();
            let count = arguments.len() as i32;
            let (mut arguments, mut environment) =
                (encoded_words::pointers(&arguments), encoded_words::pointers(&environment));
            let context = (&raw const session).cast_mut().cast();
            // SAFETY: 1. `atoll_start` has this signature, and the copy is this rank's until this function returns; 2. table, context and strings live until it returns; what the
            // program changes of the strings is within them; 3. the context is a session that runs with this type of core, which
            // is shared and never borrowed mutably meanwhile.
            unsafe {
                (program.start)(
                    (&raw const services).cast(),
                    context,
                    count,
                    arguments.as_mut_ptr(),
                    environment.as_mut_ptr(),
                )
            }
        };
        session.spent.charge(session.comm.hal());
        session.before_waiting();
        let result = ended(status);
        if let (Ok(()), Some(rcce)) = (&result, session.rcce.get()) {
            rcce.tell_leaks(&session, &|address| program.told(address));
        }
        let first = (session.comm.rank() == 0).then_some(&session);
        if let Some(line) = first.and_then(|session| session.spent.told(session.comm.hal())) {
            session.print_line(&line);
        }
        let files = session.files.borrow();
        let results: Vec<_> = files.results().map(|(name, bytes)| (name.to_owned(), bytes)).collect();
        for (name, bytes) in results {
            session.write_file(&name, bytes)?;
        }
        result
    }
}

/// What an exit status, and above 8 bits a signal, say of a program.
fn ended(status: i32) -> Result<(), Failure> {
    const SIGNALS: [(i32, &str); 6] =
        [(2, "SIGINT"), (4, "SIGILL"), (6, "SIGABRT"), (8, "SIGFPE"), (11, "SIGSEGV"), (15, "SIGTERM")];
    match (status >> 8, status & 0xFF) {
        (0, 0) => Ok(()),
        (-1, _) => Err(Failure::new("`services.h` and `services.rs` differ").on_all_ranks()),
        (0, status) => Err(Failure::new(format_args!("it exited with status {status}"))),
        (signal, _) => {
            let name = SIGNALS.iter().find_map(|(number, name)| (*number == signal).then_some(*name));
            let name = name.map_or_else(|| alloc::format!("{signal}"), String::from);
            Err(Failure::new(format_args!("it ended itself by the signal {name}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_programs_end() {
        let message = |status| ended(status).unwrap_err();
        assert_eq!(ended(0), Ok(()));
        assert_eq!(message(3), Failure::new("it exited with status 3"));
        assert_eq!(message(6 << 8), Failure::new("it ended itself by the signal SIGABRT"));
        assert_eq!(message(-1).to_string(), "`services.h` and `services.rs` differ");
        assert_eq!(message(20 << 8), Failure::new("it ended itself by the signal 20"));
    }
}
