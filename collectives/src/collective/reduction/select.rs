//! Which algorithm is the fastest: by what each costs, counted in its calls and lines.
//!
//! Estimates decide between algorithms and nothing else; where they are wrong by some percent, so is the size from which
//! the other algorithm is used. All ranks come to the same decision, which depends on the machine, on sizes and on the
//! number of ranks only.

use bytemuck::Pod;
use hal::{LINE_BYTES, Mpb, Wait};

use super::{
    Kind, Reduction, Scan,
    chain::chunk_lines,
    pieces::{Pieces, Room},
    short::{PULLING, delay_for},
    tree::Tree,
};
use crate::{
    Comm,
    collective::broadcast,
    comm::choices::{Operation, Terms},
    mpb::tagged::tagged_lines,
};

/// Who gets the result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Spread {
    /// One rank gets all of it.
    One,
    /// All ranks get all of it.
    All,
    /// Each rank gets a block of it.
    Blocks,
}

/// How a reduction is carried out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    Tree,
    Blocks,
    /// Up the tree to one rank, and from there by a broadcast to all.
    TreeAndBroadcast,
    TwoSided,
}

/// The algorithm that is meant.
pub(super) fn reduction<T: Pod>(named: Reduction, comm: &Comm<'_, impl Mpb + Wait>, len: usize, spread: Spread) -> Way {
    match named {
        Reduction::Default => {}
        Reduction::Tree => return Way::Tree,
        Reduction::Blocks => return Way::Blocks,
        Reduction::TwoSided => return Way::TwoSided,
    }
    let operation = match spread {
        Spread::One => Operation::Reduce,
        Spread::All => Operation::Allreduce,
        Spread::Blocks => Operation::ReduceScatter,
    };
    let bytes = len * size_of::<T>();
    let answer = comm.choices().fastest(operation, (bytes, size_of::<T>()), |terms| {
        let room = &Room::of(comm);
        let tree = |spread| tree::<T>(terms, len, room, spread);
        let lines = bytes.div_ceil(LINE_BYTES);
        let and_broadcast = (spread == Spread::All).then(|| {
            let broadcast = broadcast::by_domains(comm, terms, bytes).into_iter().flatten().min()?;
            // It has all lines after a barrier, as the next operation has those of the tree, which it clears.
            let taking_turns = terms.meeting() + clearing(terms, cut::<T>(terms, len, room)?.slot_lines());
            Some(tree(Spread::One)? + broadcast + taking_turns)
        });
        [
            tree(spread),
            Some(blocks(terms, lines as u64, spread) + coming_together(terms, lines > room.own)),
            and_broadcast.flatten(),
        ]
    });
    [Way::Tree, Way::Blocks, Way::TreeAndBroadcast][answer]
}

/// The algorithm that is meant.
pub(super) fn scan<T: Pod>(named: Scan, comm: &Comm<'_, impl Mpb + Wait>, len: usize, kind: Kind) -> Scan {
    if named != Scan::Default {
        return named;
    }
    let bytes = len * size_of::<T>();
    let operation = if kind == Kind::Inclusive { Operation::Scan } else { Operation::Exscan };
    let answer = comm.choices().fastest(operation, (bytes, size_of::<T>()), |terms| {
        let doubling = doubling::<T>(terms, len, &Room::of(comm), kind);
        [doubling, Some(chain(terms, bytes.div_ceil(LINE_BYTES)))]
    });
    [Scan::Doubling, Scan::Chain][answer]
}

/// What it costs if lines are lent for data without tags: all come together at the end.
fn coming_together(terms: &Terms, are_lent: bool) -> u64 {
    if are_lent { terms.meeting() } else { 0 }
}

/// What it costs if lines are lent `times` times for tagged data, for which they mostly are clear: each time all come together before
/// others write to them, and who leaves that barrier last begins late.
fn coming_first(terms: &Terms, are_lent: bool, times: u64) -> u64 {
    if are_lent { times * terms.barrier() } else { 0 }
}

/// What clearing `lines` lines for tagged data costs, which all ranks have to have done.
fn clearing(terms: &Terms, lines: usize) -> u64 {
    terms.put() + lines as u64 * terms.own() + terms.meeting()
}

/// The tree of a vector, and the pieces that go up it.
struct Cut {
    tree: Tree,
    pieces: Pieces,
}

impl Cut {
    /// Lines that they take in every MPB: for each child, and for the result.
    fn slot_lines(&self) -> usize {
        (self.tree.most_children() + 1) * self.pieces.lines
    }
}

/// How a vector is cut; not at all if elements are too large.
fn cut<T>(terms: &Terms, len: usize, room: &Room) -> Option<Cut> {
    let (ranks, lines) = (terms.ranks as usize, tagged_lines(len * size_of::<T>()));
    let tree = Tree::new(ranks, delay_for(lines, room.most, |delay| Tree::new(ranks, delay).most_children()));
    let pieces = Pieces::new::<T>(len, room.slot_lines(tree.most_children())).ok()?;
    Some(Cut { tree, pieces })
}

/// Up the tree, in steps of its delay, and the result to where it is wanted; none if elements are too large.
fn tree<T>(terms: &Terms, len: usize, room: &Room, spread: Spread) -> Option<u64> {
    let (bytes, ranks) = (len * size_of::<T>(), terms.ranks as usize);
    let cut = cut::<T>(terms, len, room)?;
    let are_lent = cut.slot_lines() > room.tagged;
    let Cut { tree, pieces } = cut;
    let (pieces, lines) = (pieces.iter().count() as u64, tagged_lines(bytes) as u64);
    // Where all get the result, the next piece needs no barrier.
    let lent = coming_first(terms, are_lent, if spread == Spread::All { 1 } else { pieces });
    let memory_lines = bytes.div_ceil(LINE_BYTES) as u64;
    let result = |lines: u64| lines * terms.memory_write();
    // Lines are taken while later ones are put.
    let put = pieces * (terms.put() + terms.own());
    let to_parent = put + lines * (terms.own() + terms.combine());
    let steps = tree.tenths_of_steps(ranks) as u64 * to_parent / (10 * tree.delay() as u64);
    let up = memory_lines * terms.memory_read() + steps + terms.between_domains();
    Some(
        lent + match spread {
            Spread::One => up + result(memory_lines),
            Spread::Blocks => {
                let own_lines = lines.min(lines.div_ceil(terms.ranks) + 1);
                let pulled = pieces * terms.put() + lines * terms.own() + own_lines * terms.line_for(terms.ranks - 1);
                up + pulled + result(memory_lines.div_ceil(terms.ranks))
            }
            Spread::All => pulled(terms, lines, up, put) + result(memory_lines),
        },
    )
}

/// Until the last rank has pulled the lines of the result, which is there at `up`: each level puts it for the next one.
///
/// Ranks whose parents are in another domain look there from the begin, by polls that take long; what comes during one is
/// seen when it ends.
fn pulled(terms: &Terms, lines: u64, up: u64, put: u64) -> u64 {
    let readers = (terms.ranks - 1).min(PULLING as u64);
    let level = |line_ns: u64| put + terms.seen() + lines * line_ns;
    let (near, far) = pulling_levels(terms.ranks, terms.members);
    if !terms.has_nodes() {
        return up + (near + far) * level(terms.line_for(readers));
    }
    let there = up + near * level(terms.within_a_domain().line_for(readers));
    // All who pull from a domain's ranks meet at its engine.
    let poll_ns = terms.line_for((terms.ranks - terms.members).min(terms.members * readers));
    there.next_multiple_of(poll_ns) + far * level(poll_ns) - poll_ns
}

/// How often the result is put for others to pull: those of their own domain, and those of another one.
fn pulling_levels(ranks: u64, members: u64) -> (u64, u64) {
    let (mut rank, mut near, mut far) = (ranks - 1, 0, 0);
    while rank > 0 {
        let from = (rank - 1) / PULLING as u64;
        *if from / members == rank / members { &mut near } else { &mut far } += 1;
        rank = from;
    }
    (near, far)
}

/// Everybody's operands put, a part combined of all ranks' operands, and the parts got.
fn blocks(terms: &Terms, lines: u64, spread: Spread) -> u64 {
    let part = lines.div_ceil(terms.ranks);
    let others = terms.ranks - 1;
    let staged = terms.put() + lines * (terms.memory_read() + terms.own());
    let combined = terms.barrier() + others * (terms.get() + part * terms.combine()) + terms.lines_of_all(part);
    let parts = lines.min(terms.ranks) * terms.get() + lines * terms.memory_write();
    let spread = match spread {
        Spread::Blocks => part * terms.memory_write(),
        Spread::One => terms.barrier() + parts + lines * terms.line(),
        Spread::All => terms.barrier() + parts + terms.lines_of_all(lines - part) / others,
    };
    staged + combined + spread
}

/// Rounds of lines put, taken and combined. A rank takes what it finds after it has put its own lines; but who puts nothing
/// any more takes lines as they come, as all do in the last round. With so few ranks that those who put then have taken nothing in
/// the round before, they begin early, and one round more is taken as it comes.
fn doubling<T>(terms: &Terms, len: usize, room: &Room, kind: Kind) -> Option<u64> {
    let (bytes, rounds) = (len * size_of::<T>(), terms.rounds());
    let pieces = Pieces::new::<T>(len, room.most / (rounds as usize).max(1)).ok()?;
    let are_lent = rounds as usize * pieces.lines > room.tagged;
    let (pieces, lines) = (pieces.iter().count() as u64, tagged_lines(bytes) as u64);
    let lent = coming_first(terms, are_lent, pieces);
    let early = u64::from(4 * terms.ranks <= 3 << rounds);
    let put = pieces * (terms.put() + terms.own()) + lines * terms.write();
    let take = |pieces: u64, lines: u64| pieces * (terms.get() + terms.seen()) + lines * terms.own();
    let taken = rounds.saturating_sub(1 + early) * take(pieces, lines) + take(1, 1);
    let combined = match kind {
        Kind::Inclusive => rounds.saturating_sub(early),
        // Without the own operands ranks combine twice in each round, but in the first and in the last one.
        Kind::Exclusive => (2 * rounds).saturating_sub(2 + 2 * early),
    };
    let memory = bytes.div_ceil(LINE_BYTES) as u64 * (terms.memory_read() + terms.memory_write());
    let between = lines * terms.crossings() * terms.receive() + terms.between_domains();
    Some(lent + rounds * put + taken + combined * lines * terms.combine() + memory + between)
}

/// Until the last rank has its first chunk, and until it has all of them.
fn chain(terms: &Terms, lines: usize) -> u64 {
    let (chunk, lines) = (chunk_lines(lines, terms.ranks as usize) as u64, lines as u64);
    let hop = |terms: &Terms| {
        let calls = terms.signal() + terms.seen() + terms.get() + terms.put();
        calls + chunk * (terms.own() + terms.line() + terms.combine())
    };
    let (near, far) = terms.neighbours();
    let each = hop(terms) + terms.signal() + chunk * (terms.memory_read() + terms.memory_write());
    near * hop(&terms.within_a_domain()) + far * hop(terms) + lines.div_ceil(chunk) * each
}
