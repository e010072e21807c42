//! What SCOSCo's design decisions cost and save (section IV.B of the paper).

use super::{Bench, Run};

/// Placement, mapping and addresses of synchronisation data.
pub(super) const PSCW_DESIGN: Bench = Bench {
    name: "pscw-design",
    about: "synchronisation data near or far, uncached or flushed, its places exchanged or looked up (SCOSCo, IV.B)",
    runs: &[Run { program: "bench-pscw-design", words: &[] }],
    shown: &[0, 2, 8, 24, 32],
    sizes: &[0],
    columns: &[],
    report: None,
    derive: |_| {},
    claims: &[],
};
