//! Ctrl-C and polite termination as a flag that every waiting loop looks at, so that children are killed and
//! temporary files removed by ordinary drops.

use anyhow::{Result, bail};
use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Starts to listen for SIGINT, SIGTERM and SIGHUP.
pub fn install() {
    // Without a handler the signals end the process at once, which is only less tidy.
    let _ = ctrlc::set_handler(|| REQUESTED.store(true, Ordering::Relaxed));
}

/// Tells whether the user wants to stop.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// Fails when the user wants to stop.
///
/// # Errors
/// When that is so.
pub fn check() -> Result<()> {
    if requested() {
        bail!("interrupted");
    }
    Ok(())
}
