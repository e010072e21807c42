//! Panics of simulated cores: caught by the machine, kept off the terminal.
//!
//! A panic of one core is a result of the run, not of the host program: it is returned with its message and place. The
//! default hook would print it, with a backtrace of a coroutine's stack, for every core that a test makes fail.

use std::{cell::RefCell, panic, sync::Once};

use super::platform::Running;

thread_local! {
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Makes the panics of simulated cores silent; those of all other code are reported as before.
pub(super) fn be_quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let otherwise = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if Running::with(|_| ()).is_none() {
                return otherwise(info);
            }
            let message = info.payload_as_str().unwrap_or("a panic without a message");
            let message = match info.location() {
                Some(place) => format!("{message} (at {}:{}:{})", place.file(), place.line(), place.column()),
                None => message.to_owned(),
            };
            // A panic during the panic of the same core: the first one is the one to report.
            let _ = LAST.try_with(|last| last.borrow_mut().get_or_insert(message).len());
        }));
    });
}

/// The message of the panic that just ended a core.
pub(super) fn take_message() -> String {
    LAST.take().unwrap_or_else(|| "unwound without a panic".to_owned())
}

/// Drops a message that nobody asks for.
pub(super) fn forget_message() {
    LAST.take();
}
