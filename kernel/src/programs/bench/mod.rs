//! The programs that measure. `cargo xtask bench` runs them, pools what their ranks send, and checks claims on it.

mod offload;
mod pscw;
mod splits;

pub use self::{offload::Offload, pscw::Pscw};
