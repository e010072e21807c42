//! Places in a mesh.

/// Coordinates of a tile, which are those of its router: column `x` from the west, row `y` from the south.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tile {
    /// Column.
    pub x: u16,
    /// Row.
    pub y: u16,
}

impl Tile {
    /// Routers that a packet from `self` to `other` traverses, both ends included.
    pub const fn routers_to(self, other: Tile) -> u32 {
        self.x.abs_diff(other.x) as u32 + self.y.abs_diff(other.y) as u32 + 1
    }
}
