//! The core that the calling core is.

use crate::{CoreId, bare::this_core::this_core};

/// The core that the calling core is.
pub fn this_core_id() -> CoreId {
    CoreId::new(this_core())
}
