//! Where a run's traffic was: how often each MPB, register and memory controller was accessed, and how many packets
//! each link carried. Counting takes no virtual time.
//!
//! A **packet** is what carries a line, a word or a register's value, which is what the links are occupied by on a
//! machine with contention: of a write it goes from the core to the memory, of a read back from the memory to the core,
//! by the X-Y route in both cases. Requests and acknowledgements are not counted. Polls are accesses like others; those
//! that the simulator skips because they would find nothing are counted with what they would have read.
//!
//! Lines of private memory and those that a flush reads to displace others go between a core and its nearest
//! controller, and are counted in one number apart, so that what ranks share can be seen beside them. The reads of the
//! own MPB that are part of a flag's price are priced and not made, and so not counted.
//!
//! On a [`Cluster`] a tile is a node, and there is no mesh. What goes over the engines is counted where
//! it is sent and where it is received.

use std::fmt::Write;

use prices::contention::step_towards;

use crate::{CoreId, Home, LINE_BYTES, Layout, LineAddress, SharedAddress, Tile};

use super::{Cluster, Parameters, access::Effect, waiting::Sample};

/// Accesses to the memory of one tile.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct TileHeat {
    /// Lines of its cores' MPBs that were read.
    pub mpb_reads: u64,
    /// Lines of its cores' MPBs that were written, whole or in part.
    pub mpb_writes: u64,
    /// Of those accesses, the ones by its own cores, polls of what they wait for among them.
    pub mpb_own: u64,
    /// Accesses to its cores' test-and-set and configuration registers.
    pub registers: u64,
    /// On a cluster, packets that the engine of the node has sent for its cores' accesses.
    pub sent: u64,
    /// On a cluster, packets that its engine has received.
    pub received: u64,
}

/// Accesses to the memory behind one controller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ControllerHeat {
    /// The tile whose router it hangs off.
    pub tile: Tile,
    /// Lines of shared and exposed memory that were read.
    pub lines_read: u64,
    /// Lines of shared and exposed memory that were written.
    pub lines_written: u64,
    /// Uncached words that were read or written.
    pub words: u64,
    /// Lines of private memory, and lines that flushes read.
    pub private_lines: u64,
}

/// The ways out of a tile's router, in the order of [`HeatMap::links`].
pub const DIRECTIONS: [&str; 4] = ["west", "east", "south", "north"];

/// All that was counted in a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeatMap {
    layout: Layout,
    /// Whether it is a cluster, which has no links.
    pub is_cluster: bool,
    /// What each tile's MPBs and registers had: tiles west to east, then south to north.
    pub tiles: Vec<TileHeat>,
    /// What each memory controller had.
    pub controllers: Vec<ControllerHeat>,
    /// The packets that left each tile, by its links.
    pub links: Vec<[u64; 4]>,
    /// Accesses to the board's atomic counters.
    pub board: u64,
}

/// What is accessed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    Line(LineAddress),
    Word(SharedAddress),
    Register(CoreId),
    Board,
}

impl HeatMap {
    pub(super) fn new(layout: &Layout, parameters: &Parameters) -> Self {
        let tiles = layout.columns() * layout.rows();
        let controller = |index| ControllerHeat {
            tile: layout.controller_tile(index),
            lines_read: 0,
            lines_written: 0,
            words: 0,
            private_lines: 0,
        };
        Self {
            layout: *layout,
            is_cluster: parameters.cluster.is_some(),
            tiles: vec![TileHeat::default(); tiles],
            controllers: (0..layout.controllers()).map(controller).collect(),
            links: vec![[0; 4]; tiles],
            board: 0,
        }
    }

    /// Columns and rows of tiles.
    pub fn shape(&self) -> (usize, usize) {
        (self.layout.columns(), self.layout.rows())
    }

    /// Counts `times` reads by `core`.
    pub(super) fn read(&mut self, core: CoreId, target: Target, times: u64) {
        let loads = match target {
            Target::Line(_) => Cluster::loads(LINE_BYTES) as u64,
            _ => 1,
        };
        let there = self.access(core, target, false, times);
        let here = self.layout.tile(core);
        if self.is_cluster {
            self.over_engines(here, there, target, loads * times);
        } else {
            self.route(there, here, times);
        }
    }

    /// Counts `times` writes by `core`.
    pub(super) fn write(&mut self, core: CoreId, target: Target, times: u64) {
        let there = self.access(core, target, true, times);
        let here = self.layout.tile(core);
        if self.is_cluster {
            self.over_engines(here, there, target, times);
        } else {
            self.route(here, there, times);
        }
    }

    /// Counts `times` of the reads that a poll has made.
    pub(super) fn poll(&mut self, core: CoreId, sample: &Sample, times: u64) {
        let target = match *sample {
            Sample::Line(at, _) => Target::Line(at),
            Sample::Word(at, _) => Target::Word(at),
            Sample::Counter(..) => Target::Board,
            Sample::Taken(register) => Target::Register(register),
        };
        self.read(core, target, times);
    }

    /// Counts lines of memory that only `core` uses.
    pub(super) fn private(&mut self, core: CoreId, lines: u64, effect: Effect) {
        let controller = self.layout.nearest_controller(core);
        self.controllers[controller].private_lines += lines;
        let (here, there) = (self.layout.tile(core), self.layout.controller_tile(controller));
        match effect {
            _ if self.is_cluster => {}
            Effect::Write => self.route(here, there, lines),
            Effect::Read | Effect::TestAndSet => self.route(there, here, lines),
        }
    }

    /// Counts an access where it goes to; returns the tile.
    fn access(&mut self, core: CoreId, target: Target, is_write: bool, times: u64) -> Tile {
        match target {
            Target::Line(LineAddress::Mpb(line)) => {
                let tile = self.layout.tile(line.core);
                let is_own = tile == self.layout.tile(core);
                let heat = self.tile(tile);
                let count = if is_write { &mut heat.mpb_writes } else { &mut heat.mpb_reads };
                *count += times;
                heat.mpb_own += if is_own { times } else { 0 };
                tile
            }
            Target::Line(LineAddress::Shared(at)) => {
                let heat = self.controller(at);
                let count = if is_write { &mut heat.lines_written } else { &mut heat.lines_read };
                *count += times;
                heat.tile
            }
            Target::Word(at) => {
                let heat = self.controller(at);
                heat.words += times;
                heat.tile
            }
            Target::Register(register) => {
                let tile = self.layout.tile(register);
                self.tile(tile).registers += times;
                tile
            }
            Target::Board => {
                self.board += times;
                if self.is_cluster { self.layout.tile(core) } else { self.layout.board_tile() }
            }
        }
    }

    fn index(&self, tile: Tile) -> usize {
        usize::from(tile.y) * self.layout.columns() + usize::from(tile.x)
    }

    fn tile(&mut self, tile: Tile) -> &mut TileHeat {
        let index = self.index(tile);
        &mut self.tiles[index]
    }

    fn controller(&mut self, at: SharedAddress) -> &mut ControllerHeat {
        let controller = match at.home() {
            Home::Controller(controller) => controller.into(),
            Home::Core(owner) => self.layout.nearest_controller(owner),
        };
        &mut self.controllers[controller]
    }

    /// On a cluster, words go over the engine also within a node, and registers stay in theirs.
    fn over_engines(&mut self, here: Tile, there: Tile, target: Target, packets: u64) {
        let is_mapped = matches!(target, Target::Word(_));
        if here != there || is_mapped {
            self.tile(here).sent += packets;
            self.tile(there).received += packets;
        }
    }

    /// Counts packets on each link of the route from one tile to another.
    fn route(&mut self, from: Tile, to: Tile, packets: u64) {
        if packets == 0 {
            return;
        }
        let mut at = from;
        while at != to {
            let (direction, next) = step_towards(at, to);
            let index = self.index(at);
            self.links[index][direction] += packets;
            at = next;
        }
    }

    /// The map as a table with the columns `place,x,y,what,count`, without what is 0. The first line after the header
    /// has the columns of the mesh, the rows, and the running cores.
    pub fn to_csv(&self) -> String {
        let (columns, rows) = self.shape();
        let kind = if self.is_cluster { "cluster" } else { "mesh" };
        let mut text = format!("place,x,y,what,count\n{kind},{columns},{rows},cores,{}\n", self.layout.cores());
        let mut line = |place: &str, tile: Tile, what: &str, count: u64, always: bool| {
            if count > 0 || always {
                // Writing to a string does not fail.
                let _ = writeln!(text, "{place},{},{},{what},{count}", tile.x, tile.y);
            }
        };
        let tile_at = |index: usize| Tile { x: (index % columns) as u16, y: (index / columns) as u16 };
        for (index, heat) in self.tiles.iter().enumerate() {
            let TileHeat { mpb_reads, mpb_writes, mpb_own, registers, sent, received } = *heat;
            let counts = [
                ("mpb_reads", mpb_reads),
                ("mpb_writes", mpb_writes),
                ("mpb_own", mpb_own),
                ("registers", registers),
                ("sent", sent),
                ("received", received),
            ];
            counts.iter().for_each(|(what, count)| line("tile", tile_at(index), what, *count, false));
        }
        for (index, packets) in self.links.iter().enumerate() {
            DIRECTIONS.iter().zip(packets).for_each(|(what, count)| line("link", tile_at(index), what, *count, false));
        }
        for (index, heat) in self.controllers.iter().enumerate() {
            let place = format!("controller{index}");
            let ControllerHeat { tile, lines_read, lines_written, words, private_lines } = *heat;
            // One without traffic is on the map, too.
            line(&place, tile, "lines_read", lines_read, true);
            line(&place, tile, "lines_written", lines_written, false);
            line(&place, tile, "words", words, false);
            line(&place, tile, "private_lines", private_lines, false);
        }
        line("board", self.layout.board_tile(), "counters", self.board, false);
        text
    }
}
