//! Panics of simulated cores: caught by the machine, kept off the terminal.
//!
//! A panic of one core is a result of the run, not of the host program: it is returned with its message and place. The
//! default hook would print it, with a backtrace of a coroutine's stack, for every core that a test makes fail.

use std::{
    cell::{Cell, RefCell},
    panic,
    sync::Once,
};

use super::{SimCore, SimPlatform};

thread_local! {
    static RUNNING: Cell<*const SimCore> = const { Cell::new(std::ptr::null()) };
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Notes, until it is dropped, that a core is running on this thread.
pub(super) struct Running {
    /// A simulated core may itself run a machine; its own turn is not over then.
    outer: *const SimCore,
}

impl Running {
    pub(super) fn now(core: &SimCore) -> Self {
        Self { outer: RUNNING.replace(core) }
    }

    /// Whether that core is the one that is running.
    pub(super) fn is(platform: &SimPlatform) -> bool {
        Self::with(|core| std::ptr::eq(core.platform(), platform)).unwrap_or(false)
    }

    /// Does something with the core that is running on this thread, if one is. Neither allocates nor locks, so that
    /// allocators and handlers of signals may call it.
    pub(super) fn with<R>(action: impl FnOnce(&SimCore) -> R) -> Option<R> {
        let core = RUNNING.try_with(Cell::get).ok()?;
        // SAFETY: a core is only noted while it is borrowed by the caller of `now`, whose turn it is.
        unsafe { core.as_ref() }.map(action)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.set(self.outer);
    }
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
