//! Equal blocks for other ranks, through few staging lines: in goes.
//!
//! In each go a rank stages the blocks of the next of the ranks below it, for as many of them as there is room: in the lines that the
//! communicator has, and in those that are lent to it. When they are there, each of these gets its block; and before the next go all
//! meet. What is left for the last go mostly fits the communicator's own lines, and then nobody has to wait for others to be done
//! with those that were lent. Blocks of one rank follow each other in its MPB as they do in memory, around the end of the buffer.

use core::ops::Range;

use hal::{LINE_BYTES, Messenger, Mpb, MpbLine, Wait};

use crate::{
    Comm,
    comm::choices::Terms,
    mpb::sequence::{Turn, Writers},
};

/// How many ranks are served in each go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Goes {
    ranks: usize,
    /// Bytes of a block.
    bytes: usize,
    /// The communicator's own lines, and those that are lent to it; and how many ranks' blocks fit either.
    lines: [usize; 2],
    readers: [usize; 2],
}

/// What the goes of an operation have.
pub(super) struct Begun {
    pub(super) turn: Turn,
    /// The first of the communicator's own lines, and of those that are lent to it.
    first: [usize; 2],
}

/// Ranks that are served in a go, by how far they are below the one who stages for them: through the communicator's own lines, and
/// through those that are lent to it.
pub(super) type Distances = [Range<usize>; 2];

impl Goes {
    /// For blocks of `bytes` bytes, through `lines[0]` lines of the communicator's own and `lines[1]` that are lent to it; none if no
    /// block fits.
    pub(super) fn new(ranks: usize, bytes: usize, lines: [usize; 2]) -> Option<Self> {
        // Where blocks go around the end of the buffer, they go on in a new line.
        let lost = usize::from(!bytes.is_multiple_of(LINE_BYTES));
        let readers = lines.map(|lines| lines.saturating_sub(lost) * LINE_BYTES / bytes);
        (readers != [0, 0]).then_some(Self { ranks, bytes, lines, readers })
    }

    /// Through all lines that a communicator of some ranks can have.
    pub(super) fn of(comm: &Comm<'_, impl Mpb + Wait>, bytes: usize) -> Option<Self> {
        let layout = comm.mpb_layout();
        Self::new(comm.size(), bytes, [layout.shared().len(), 2 * layout.buffer_lines()])
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        (self.ranks - 1).div_ceil(self.readers.iter().sum())
    }

    /// Barriers between goes and after them.
    pub(super) fn barriers(&self) -> usize {
        self.count() - 1 + usize::from(self.ends_in_lent_lines())
    }

    /// What barriers take, to which ranks come from reads of each other, if a barrier says in each go that blocks are there.
    pub(super) fn cost(&self, terms: &Terms) -> u64 {
        (self.count() + self.barriers()) as u64 * terms.barrier()
    }

    /// The ranks that are served in each go.
    pub(super) fn distances(&self) -> impl DoubleEndedIterator<Item = Distances> + use<> {
        let ([own, lent], ranks) = (self.readers, self.ranks);
        let ends = move |start: usize| [start, start + own, start + own + lent].map(|end| end.min(ranks));
        (0..self.count())
            .map(move |go| ends(1 + go * (own + lent)))
            .map(|[start, middle, end]| [start..middle, middle..end])
    }

    fn ends_in_lent_lines(&self) -> bool {
        self.distances().next_back().is_some_and(|[_, lent]| !lent.is_empty())
    }

    /// The blocks of the ranks that are so far below `owner`: up to the end of the buffer, and from its begin on.
    fn blocks(&self, owner: usize, distances: &Range<usize>) -> [Range<usize>; 2] {
        let first = (owner + 1 + self.ranks - distances.end) % self.ranks;
        let end = first + distances.len();
        [first..end.min(self.ranks), 0..end.saturating_sub(self.ranks)]
    }

    /// The line, counted from the first, where the second of these blocks begin.
    fn second_line(&self, blocks: &[Range<usize>; 2]) -> usize {
        (blocks[0].len() * self.bytes).div_ceil(LINE_BYTES)
    }

    /// Takes lines of every MPB.
    pub(super) fn begin(&self, comm: &Comm<'_, impl Mpb + Wait>) -> Begun {
        debug_assert!(comm.is_part(), "all ranks have room");
        // Lines that are put to are noted when they are.
        comm.own_staging_turn(0);
        let turn = comm.turn(self.lines[0], Writers::Owner);
        let first = [turn.staging.start, comm.mpb_layout().buffer(0)];
        Begun { turn, first }
    }

    /// What `put` is to put where, blocks of consecutive ranks and a line, so that a go serves these ranks.
    pub(super) fn stage<C: Mpb + Wait>(
        &self,
        comm: &Comm<'_, C>,
        begun: &Begun,
        distances: &Distances,
        mut put: impl FnMut(Range<usize>, MpbLine),
    ) {
        let me = comm.rank();
        for ((first, distances), are_lent) in begun.first.into_iter().zip(distances).zip([false, true]) {
            let blocks = self.blocks(me, distances);
            let lines = [first, first + self.second_line(&blocks)];
            for (blocks, line) in blocks.into_iter().zip(lines).filter(|(blocks, _)| !blocks.is_empty()) {
                if are_lent {
                    comm.first_buffer_is_raw(line + (blocks.len() * self.bytes).div_ceil(LINE_BYTES) - first);
                }
                put(blocks, comm.mpb_line(me, line));
            }
        }
    }

    /// Line and byte where `owner` has staged this rank's block, if it is served in this go.
    pub(super) fn place(
        &self,
        comm: &Comm<'_, impl Mpb + Wait>,
        begun: &Begun,
        distances: &Distances,
        owner: usize,
    ) -> Option<(MpbLine, usize)> {
        let (me, ranks) = (comm.rank(), self.ranks);
        let distance = (owner + ranks - me) % ranks;
        let mut parts = begun.first.into_iter().zip(distances);
        let (first, distances) = parts.find(|(_, distances)| distances.contains(&distance))?;
        let blocks = self.blocks(owner, distances);
        let (line, before) =
            if blocks[0].contains(&me) { (0, me - blocks[0].start) } else { (self.second_line(&blocks), me) };
        let at = before * self.bytes;
        Some((comm.mpb_line(owner, first + line + at / LINE_BYTES), at % LINE_BYTES))
    }

    /// All goes, where every rank has a block for every other one: what is put where, as [`stage`](Self::stage) has it, and from
    /// which rank a block is got, and at which byte of which line it begins.
    pub(super) fn exchange<C: Messenger>(
        &self,
        comm: &Comm<'_, C>,
        mut put: impl FnMut(Range<usize>, MpbLine),
        mut get: impl FnMut(usize, (MpbLine, usize)),
    ) {
        let (me, begun) = (comm.rank(), self.begin(comm));
        for (go, distances) in self.distances().enumerate() {
            if go > 0 {
                comm.meet();
            }
            self.stage(comm, &begun, &distances, &mut put);
            comm.meet();
            for peer in distances.iter().cloned().flatten().map(|distance| (me + distance) % self.ranks) {
                if let Some(place) = self.place(comm, &begun, &distances, peer) {
                    get(peer, place);
                }
            }
        }
    }

    /// Gives the lines back, after this rank has got all that it was to get. Before the last go, or in it, all have met, unless that is in lent lines: then
    /// all meet here.
    pub(super) fn end(&self, comm: &Comm<'_, impl Mpb + Wait>) {
        if self.ends_in_lent_lines() {
            comm.synchronise();
        } else {
            comm.sequence().earlier_complete();
        }
    }
}
