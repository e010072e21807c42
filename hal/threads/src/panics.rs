//! Panics of cores: kept until the machine reports them, since what ends a core may be what another one did.

use std::{
    cell::{Cell, RefCell},
    panic,
    sync::Once,
};

thread_local! {
    static IS_CORE: Cell<bool> = const { Cell::new(false) };
    static FIRST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// From now on, panics of this thread are kept; those of all other code are reported as before.
pub(crate) fn keep_those_of_this_thread() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let otherwise = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_CORE.get() {
                return otherwise(info);
            }
            let text = info.payload_as_str().unwrap_or("a panic without a message");
            let place = info.location().map_or(String::new(), |place| format!(" (at {place})"));
            FIRST.with_borrow_mut(|first| _ = first.get_or_insert_with(|| format!("{text}{place}")));
        }));
    });
    IS_CORE.set(true);
}

/// What the first panic of this thread said, and where.
pub(crate) fn take() -> String {
    FIRST.take().unwrap_or_else(|| "unwound without a panic".to_owned())
}
