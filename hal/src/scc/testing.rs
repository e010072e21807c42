//! A board for tests.

use descriptions::boards::{Board, Geometry};

/// The Intel SCC.
pub(super) fn scc() -> Geometry {
    let board = Board::built_in("scc").expect("there is a file of the SCC");
    board.mesh().expect("the SCC is a mesh").geometry
}
