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
        let by_domains = terms.has_nodes().then(|| by_domains(terms, len));
        [Some(short(terms, tree, len)), Some(long(terms, tree, len, room)), by_domains]
    });
    match answer {
        0 => Fastest::Short,
        1 => Fastest::Long,
        _ => Fastest::ByDomains(domains_tree(comm.choices().terms(), comm.choices().most_readers())),
    }
}

/// OC-Bcast between domains, with as few levels as readers of one MPB allow.
fn domains_tree(terms: &Terms, most_readers: usize) -> OcBcast {
    let others = (terms.domains - 1) as usize;
    let k = if others <= most_readers { others } else { others.isqrt() + 1 };
    OcBcast { straight_leaves: true, shared_tiles: true, ..OcBcast::with_degree(k) }
}

/// A put of a line from the cache, and the poll that finds it, which on average began half a poll before.
fn passed_on(terms: &Terms, line_ns: u64) -> u64 {
    terms.put() + terms.own() + line_ns * 3 / 2
}

/// In a tree of one level, readers take a poll for each tagged line, and a line of memory for each 32 bytes, and
/// operations have room for several lines. With more levels each line is an operation, in which those that have children
/// put it on before they keep it; and operations take turns, of which all are through when a barrier was entered.
fn short(terms: &Terms, tree: &Tree, len: usize) -> u64 {
    let line_ns = terms.line_for(tree.degree() as u64);
    let (tagged, lines) = (tagged_lines(len) as u64, len.div_ceil(LINE_BYTES) as u64);
    let operations = tagged.div_ceil(if tree.is_flat() { MOST_LINES as u64 } else { 1 });
    let first = terms.memory_read() + passed_on(terms, line_ns) + terms.get();
    let meetings = (operations - 1) / u64::from(TURNS) * terms.meeting();
    let each = passed_on(terms, line_ns);
    if tree.is_flat() {
        let rest = (tagged - 1) * line_ns + (operations - 1) * each;
        return first + rest + lines * terms.memory_write() + meetings;
    }
    let kept = terms.memory_write() * TAGGED_BYTES as u64 / LINE_BYTES as u64;
    first + each + (operations - 1) * (each + kept) + terms.memory_write() + meetings
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

/// Leaders get each line from another domain, one in each at a time, and tell the others of their domain, who get it to
/// memory.
pub(crate) fn by_domains(terms: &Terms, len: usize) -> u64 {
    let lines = len.div_ceil(LINE_BYTES) as u64;
    let within = terms.within_a_domain();
    let staged = terms.put() + lines * (terms.memory_read() + terms.own());
    let told = terms.signal() + terms.seen();
    let copied = terms.get() + lines * (terms.line() + terms.own());
    let kept = terms.get() + lines * (within.line() + terms.memory_write());
    staged + 2 * told + copied + told + kept
}
