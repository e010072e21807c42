//! Coherence at synchronisation points: cached shared memory without a coherence protocol (*Highly Scalable Barriers…*, section
//! VII).
//!
//! As long as a program synchronises by barriers and locks alone, nobody reads between two of them what somebody else
//! writes there; so it is enough that memory is made coherent *at* them. Whoever has written writes back before it tells
//! the others, and whoever reads forgets what it has cached after it was told. [`Scope`] says which memory.

mod barrier;
mod scope;

pub use self::{barrier::CoherentlyArrived, scope::Scope};
