//! Panics of cores that share a process: kept off the terminal until the machine reports them.
//!
//! A panic of one core is a result of the run, not of the host program. The default hook would print it, with a backtrace of
//! the core's stack, for every core that a test makes fail.

use std::{
    cell::RefCell,
    panic,
    string::{String, ToString},
    sync::Once,
};

thread_local! {
    static FIRST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// From now on, panics of code of which `is_core` says that a core runs it are kept; those of all other code are reported as
/// before. A machine has its own `once`.
pub fn keep(once: &'static Once, is_core: fn() -> bool) {
    once.call_once(|| {
        let otherwise = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !is_core() {
                return otherwise(info);
            }
            let text = info.payload_as_str().unwrap_or("a panic without a message");
            let place = info.location().map_or(String::new(), |place| format!(" (at {place})"));
            // A panic during the panic of the same core: the first one is the one to report.
            let _ = FIRST.try_with(|first| first.borrow_mut().get_or_insert_with(|| format!("{text}{place}")).len());
        }));
    });
}

/// What the first panic that was kept on this thread has said, and where; the next one is the first again.
pub fn take() -> String {
    FIRST.take().unwrap_or_else(|| "unwound without a panic".to_string())
}
