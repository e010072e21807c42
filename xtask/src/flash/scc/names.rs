//! Names of the files in a directory for a board.

use descriptions::boards::Controller;

/// The lookup tables.
pub(super) const LUTS: &str = "lut_init.dat";

/// The board's description.
pub(super) const BOARD: &str = "board.toml";

/// What to do with all of them.
pub(super) const GUIDE: &str = "FLASH.md";

/// What `bin2obj` reads.
pub(super) const MAP: &str = "load.map";

/// The file that the loader reads: the private memory of one core.
pub(super) const OBJECT: &str = "core.32.obj";

/// What `sccMerge` reads.
pub(super) const CORES: &str = "cores.mt";

/// The file with the memory behind a controller: the loader looks for those of all tiles, in base 16.
pub(super) fn controller(controller: &Controller) -> String {
    let [x, y] = controller.tile;
    format!("mch_{x:x}_{y:x}.32.obj")
}

/// A piece of a core's memory for `bin2obj`.
pub(super) fn piece(address: u32) -> String {
    format!("memory-{address:08x}.bin")
}
