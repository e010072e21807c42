//! How cores know of each other whether they are there and have ended, and how they wait for that.

pub(crate) mod backoff;
#[cfg(target_os = "none")]
pub(crate) mod meeting;
#[cfg(target_os = "none")]
pub mod status_page;
