//! Which broadcast is the fastest: by what each takes until the last rank has all of the message.

use hal::{LINE_BYTES, Mpb, Wait};

use crate::{
    Comm,
    comm::choices::{Operation, Terms},
    mpb::{
        sequence::TURNS,
        tagged::{TAGGED_BYTES, tagged_lines},
    },
};

use super::{super::OcBcast, rotation::Slots, short::MOST_LINES, tree::Tree};

/// What the default is for a length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fastest {
    Short,
    Long,
    /// One rank of each coherence domain gets the message, and the others get it from there.
    ByDomains(OcBcast),
}

/// The fastest broadcast of `len` bytes.
pub(super) fn fastest<C: Mpb + Wait>(comm: &Comm<'_, C>, tree: &Tree, len: usize) -> Fastest {
    let room = comm.shared_staging_lines() / 2;
    let answer = comm.choices().fastest(Operation::Broadcast, (len, 1), |terms| {
        let long = if terms.has_nodes() && !tree.is_flat() { long_past_nodes } else { long };
        let [flat, deep] = by_domains(comm, terms, len);
        [Some(short(terms, tree, len)), Some(long(terms, tree, len, room)), flat, deep]
    });
    match answer {
        0 => Fastest::Short,
        1 => Fastest::Long,
        place => Fastest::ByDomains(domains_tree(degrees(comm.choices().terms())[place - 2])),
    }
}

/// Children in trees of domains that may be the fastest: with one level, and with as few as two levels take.
fn degrees(terms: &Terms) -> [u64; 2] {
    let others = terms.domains - 1;
    [others, others.isqrt() + 1]
}

/// OC-Bcast between domains.
fn domains_tree(degree: u64) -> OcBcast {
    OcBcast { straight_leaves: true, shared_tiles: true, ..OcBcast::with_degree(degree as usize) }
}

/// A put of a line from the cache, and the poll that finds it, which on average began half a poll before.
fn passed_on(terms: &Terms, line_ns: u64) -> u64 {
    terms.put() + terms.own() + line_ns * 3 / 2
}

/// In a tree of one level, readers take a poll for each tagged line, and a line of memory for each 32 bytes, and
/// operations have room for several lines. With more levels each line is an operation, in which those that have children
/// put it on before they keep it; and operations take turns, of which all are through when a barrier was entered.
fn short(terms: &Terms, tree: &Tree, len: usize) -> u64 {
    let readers = tree.degree() as u64;
    let (near, far) = tree.levels(terms.members as usize);
    let (near_ns, far_ns) = (terms.within_a_domain().line_for(readers), terms.line_for(readers));
    let slowest_ns = if far > 0 { far_ns } else { near_ns };
    let (tagged, lines) = (tagged_lines(len) as u64, len.div_ceil(LINE_BYTES) as u64);
    let operations = tagged.div_ceil(if tree.is_flat() { MOST_LINES as u64 } else { 1 });
    let first = terms.memory_read() + near * passed_on(terms, near_ns) + far * passed_on(terms, far_ns) + terms.get();
    let meetings = (operations - 1) / u64::from(TURNS) * terms.meeting();
    let each = passed_on(terms, slowest_ns);
    if tree.is_flat() {
        let rest = (tagged - 1) * slowest_ns + (operations - 1) * each;
        return first + rest + lines * terms.memory_write() + meetings;
    }
    let kept = terms.memory_write() * TAGGED_BYTES as u64 / LINE_BYTES as u64;
    first + (operations - 1) * (each + kept) + terms.memory_write() + meetings
}

/// Readers get each line and keep it, and take a poll and a call for each piece. With more levels, those that have
/// children also put the lines on, and tell of each piece; behind them their children get the last piece.
fn long(terms: &Terms, tree: &Tree, len: usize, room: usize) -> u64 {
    let line_ns = terms.line_for(tree.degree() as u64);
    let (pieces, largest) = Slots::pieces(len, room).shape();
    let (pieces, largest, lines) = (pieces as u64, largest as u64, len.div_ceil(LINE_BYTES) as u64);
    let first = lines.min(2) * (terms.memory_read() + terms.own()) + terms.put() + passed_on(terms, line_ns);
    let get = |lines: u64| terms.get() + lines * (line_ns + terms.memory_write());
    if tree.is_flat() {
        return first + get(lines) + (pieces - 1) * (line_ns + terms.get());
    }
    let each = line_ns + terms.get() + 2 * terms.put() + terms.own();
    let passed = lines * (line_ns + terms.memory_write() + terms.own()) + pieces * each;
    first + passed + line_ns * 3 / 2 + get(largest)
}

/// What a tree takes that takes no notice of domains. Most siblings share one, and with it what is put for them. But a
/// rank whose siblings are in another domain gets their share of the lines from there, and a rank whose parent is in
/// another one looks there for each piece, while its neighbours do. What is below has to wait for that.
fn long_past_nodes(terms: &Terms, tree: &Tree, len: usize, room: usize) -> u64 {
    let (degree, (near, far)) = (tree.degree() as u64, tree.levels(terms.members as usize));
    let (pieces, largest) = Slots::pieces(len, room).shape();
    let (pieces, largest, lines) = (pieces as u64, largest as u64, len.div_ceil(LINE_BYTES) as u64);
    let within = &terms.within_a_domain();
    let first = lines.min(2) * (terms.memory_read() + terms.own()) + terms.put();
    let passed = first + passed_on(terms, within.line_for(degree));
    let crossed = pieces * terms.line_for(degree) + lines * (degree - 1) / degree * terms.line();
    near * passed + far * crossed + terms.get() + largest * (within.line() + terms.memory_write())
}

/// What the broadcasts by domains take, if there are domains of several ranks: those with these [`degrees`]. The leader of each
/// domain gets chunks from another one, passes them on, and keeps them; the others get them from it.
pub(crate) fn by_domains<C: Mpb + Wait>(comm: &Comm<'_, C>, terms: &Terms, len: usize) -> [Option<u64>; 2] {
    let lines = len.div_ceil(LINE_BYTES).max(1) as u64;
    let chunk = lines.min(comm.mpb_layout().buffer_lines() as u64);
    let last = (lines - 1) % chunk + 1;
    let (within, mates) = (&terms.within_a_domain(), terms.members - 1);
    let staged = terms.put() + chunk * (terms.memory_read() + terms.own());
    let kept = (lines - last) * terms.memory_write();
    // A leader says that it has the chunk, and before it stores to its own domain that has been answered.
    let answered = 2 * terms.signal();
    let got = terms.get() + last * (within.line() + terms.memory_write());
    let below = kept + answered + told(within, mates) + got;
    degrees(terms).map(|degree| {
        // Children are told by children, and those in the root's own domain, who are the last, by some in other ones.
        let told_back = mates.min(degree + 2) * terms.receive();
        let read_ns = terms.line_of_leaders(degree, 0);
        let (held_up, line_ns) = (terms.line_of_leaders(degree, told_back) - read_ns, read_ns + terms.own());
        let level = told(terms, degree) + terms.get() + held_up + chunk * line_ns;
        let levels = if degree + 1 < terms.domains { 2 } else { 1 };
        terms.has_nodes().then_some(staged + levels * level + (lines - chunk) * line_ns + below)
    })
}

/// Until the last of `children` children is told of a chunk, each by the parent or another child.
fn told(terms: &Terms, children: u64) -> u64 {
    u64::from((children + 1).ilog2()) * (terms.signal() + terms.seen())
}
