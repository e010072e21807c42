//! Boards that are meshes of tiles.

use super::keys::own_name;
use crate::{
    Contention, Costs, Hardware, MOST_CONTROLLERS, Values,
    boards::{Geometry, LutEntry, SubDestination},
};

/// A memory controller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Controller {
    /// Column and row of its tile.
    pub tile: [u32; 2],
    /// The side of the tile that it is on.
    pub side: SubDestination,
}

/// Slots of shared memory where a single controller has all of it (`sccMerge -single_mc`).
const SHARED_BY_SINGLE: u32 = 4;

/// A mesh of tiles, as the SCC is one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MeshBoard {
    /// What an image is told of it.
    pub geometry: Geometry,
    /// The memory controllers of the mesh.
    pub controllers: Vec<Controller>,
    /// Cores whose private memory a controller's memory is divided between, whether they are there or not
    /// (`sccMerge -n`).
    pub cores_per_controller: u32,
    /// Sizes of the memory behind each controller that there are, in GiB.
    pub memory_gib: Vec<u64>,
    /// The one that is taken where none is asked for.
    pub default_memory_gib: u64,
    /// Slots of private memory that a core has at most.
    pub most_private_slots: u32,
    /// Whether slots that nothing is behind lead behind the shared memory of the core's controller
    /// (`sccMerge -lut_default`), instead of not being written.
    pub lut_default: bool,
    /// The slot of the own tile's MPB, if there is one. On the SCC it must not be used (`hal::hardware`, Own MPB).
    pub own_mpb_slot: Option<u32>,
    /// Slots that lead to the same place on all cores, in order.
    pub fixed: Vec<(u8, LutEntry)>,
    /// What its single accesses take. No image is told of it.
    pub hardware: Hardware,
    /// What they do to each other where they meet.
    pub contention: Contention,
}

impl MeshBoard {
    pub(super) fn new(values: &Values) -> Self {
        let tiles = values.pairs("layout.controllers").iter().map(|tile| tile.map(|coordinate| coordinate as u32));
        let sides = values.words("controllers.sides").iter().map(|side| side_of(side));
        let controllers: Vec<_> = tiles.zip(sides).map(|(tile, side)| Controller { tile, side }).collect();
        let entry = |[slot, entry]: &[u64; 2]| (*slot as u8, LutEntry::from_register(*entry as u32));
        let mut fixed: Vec<_> = values.pairs("slots.fixed").iter().map(entry).collect();
        fixed.sort_by_key(|(slot, _)| *slot);
        Self {
            geometry: geometry(values, &controllers),
            controllers,
            cores_per_controller: values.word("controllers.cores"),
            memory_gib: values.numbers("memory.choices_gib").to_vec(),
            default_memory_gib: values.number("memory.default_gib"),
            most_private_slots: values.word("memory.most_private_slots"),
            lut_default: values.has("memory.lut_default"),
            own_mpb_slot: Some(values.word("slots.own_mpb")).filter(|slot| *slot != 0),
            fixed,
            hardware: Hardware::of(values, own_name("prices.core_mhz")),
            contention: Contention::of(values),
        }
    }

    /// Number of its tiles.
    pub const fn tiles(&self) -> u32 {
        self.geometry.columns * self.geometry.rows
    }

    /// Slots of shared memory: one for each controller, and four if there is a single one, of which an image uses the
    /// first.
    pub const fn shared_slots(&self) -> u32 {
        if self.geometry.controllers == 1 { SHARED_BY_SINGLE } else { self.geometry.controllers }
    }

    /// The number of the memory controller of a core's private memory: that with the fewest routers between, the first
    /// one where there are several. On the SCC this is the one of the core's quadrant (`hal::hardware`, Tiles).
    ///
    /// # Panics
    /// If the board has no controllers, which no file can say.
    pub fn controller_of(&self, core: u32) -> usize {
        let [_, x, y] = self.geometry.tile_of(core);
        let routers = |controller: &Controller| controller.tile[0].abs_diff(x) + controller.tile[1].abs_diff(y);
        let nearest = self.controllers.iter().enumerate().min_by_key(|(_, controller)| routers(controller));
        nearest.expect("a board has a controller").0
    }
}

fn side_of(word: &str) -> SubDestination {
    match word {
        "north" => SubDestination::North,
        "east" => SubDestination::East,
        "south" => SubDestination::South,
        _ => SubDestination::West,
    }
}

fn geometry(values: &Values, controllers: &[Controller]) -> Geometry {
    let mut controller_tiles = [[0; 2]; MOST_CONTROLLERS];
    controllers.iter().zip(&mut controller_tiles).for_each(|(controller, tile)| *tile = controller.tile);
    let counter_offsets = match values.numbers("board.counter_offsets") {
        [lower, upper] => [*lower as u32, *upper as u32],
        _ => [0; 2],
    };
    Geometry {
        columns: values.word("layout.columns"),
        rows: values.word("layout.rows"),
        cores_per_tile: values.word("layout.cores_per_tile"),
        mpb_bytes: values.word("mpb.core_bytes"),
        mpb_slot: values.word("slots.mpb"),
        registers_slot: values.word("slots.registers"),
        own_registers_slot: values.word("slots.own_registers"),
        board_slot: values.word("slots.board"),
        shared_slot: values.word("slots.shared"),
        foreign_slots_end: values.word("slots.foreign_end"),
        controllers: controllers.len() as u32,
        controller_tiles,
        core_configuration: values.word("registers.core_configuration"),
        l2_configuration: values.word("registers.l2_configuration"),
        tile_configuration: values.word("registers.tile_configuration"),
        tile_id: values.word("registers.tile_id"),
        test_and_set: values.word("registers.test_and_set"),
        test_and_set_stride: values.word("registers.test_and_set_stride"),
        lookup_table: values.word("registers.lookup_table"),
        lookup_table_stride: values.word("registers.lookup_table_stride"),
        timestamp: values.word("board.timestamp"),
        timestamp_mhz: values.word("board.timestamp_mhz"),
        counters: values.word("board.counters"),
        counter_offsets,
        l2_ways: values.word("cores.l2_ways"),
        costs: Costs::of(|key| values.word(own_name(key))),
    }
}
