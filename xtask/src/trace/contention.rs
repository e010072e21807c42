//! Where ranks meet, as counters over time: how many access the MPBs of a tile or wait for its registers, and how many of all
//! wait.

use std::collections::BTreeMap;
use transcript::trace::{Kind, Records, Trace};

/// Begins the names of places that are test-and-set registers.
const REGISTER: &str = "test-and-set register of core ";

/// What is counted, where, by the tile's number, or nothing for the whole machine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Counter {
    /// Accesses to the MPBs of a tile that are under way.
    Mpbs(usize),
    /// Ranks that wait for test-and-set registers of a tile.
    Registers(usize),
    /// Ranks that wait for anything.
    Waits,
}

impl Counter {
    /// What it is called.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Mpbs(_) => "accesses to MPBs",
            Self::Registers(_) => "waits for registers",
            Self::Waits => "waiting ranks",
        }
    }

    /// The tile whose it is, if it is one's.
    pub(super) fn tile(self) -> Option<usize> {
        match self {
            Self::Mpbs(tile) | Self::Registers(tile) => Some(tile),
            Self::Waits => None,
        }
    }
}

/// Moments and values of each counter, in the order of time. `tile_of` gives a rank's tile.
pub(super) fn count(trace: &Trace, tile_of: impl Fn(u32) -> Option<usize>) -> BTreeMap<Counter, Vec<(u64, i64)>> {
    let mut steps: BTreeMap<Counter, Vec<(u64, i64)>> = BTreeMap::new();
    let end = trace.end();
    for (rank, records) in &trace.ranks {
        stretches(*rank, records, end, &tile_of, &mut |counter, begin, end| {
            steps.entry(counter).or_default().extend([(begin, 1), (end, -1)]);
        });
    }
    steps.into_iter().map(|(counter, steps)| (counter, sums(steps))).collect()
}

fn stretches(
    rank: u32,
    records: &Records,
    last: u64,
    tile_of: impl Fn(u32) -> Option<usize>,
    add: &mut dyn FnMut(Counter, u64, u64),
) {
    let is_mpb = |name: &str| name.starts_with("MPB ");
    for span in records.spans.iter().filter(|span| span.of_hardware && is_mpb(&span.name)) {
        if let Some(tile) = tile_of(span.peer.unwrap_or(rank)) {
            add(Counter::Mpbs(tile), span.begin, span.end);
        }
    }
    for wait in records.waits.iter().filter(|wait| wait.polls > 0) {
        add(Counter::Waits, wait.begin, wait.end);
        let registers = wait.places.iter().filter_map(|place| place.name.strip_prefix(REGISTER)?.parse().ok());
        for tile in registers.filter_map(&tile_of) {
            add(Counter::Registers(tile), wait.begin, wait.end);
        }
    }
    for open in &records.under_way {
        match open.kind {
            Kind::Wait => add(Counter::Waits, open.begin, last),
            Kind::Hardware if is_mpb(&open.name) => {
                if let Some(tile) = tile_of(open.peer.unwrap_or(rank)) {
                    add(Counter::Mpbs(tile), open.begin, last);
                }
            }
            _ => {}
        }
    }
}

/// The value after each moment at which it changes.
fn sums(mut steps: Vec<(u64, i64)>) -> Vec<(u64, i64)> {
    steps.sort_unstable();
    let mut values: Vec<(u64, i64)> = Vec::new();
    let mut value = 0;
    for (at, step) in steps {
        value += step;
        match values.last_mut() {
            Some((last, sum)) if *last == at => *sum = value,
            _ => values.push((at, value)),
        }
    }
    values.dedup_by_key(|(_, value)| *value);
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_and_waits_are_counted_where_they_meet() {
        let mut trace = Trace::default();
        for line in [
            "0 c 1000 0",
            "1 c 1000 0",
            "2 c 1000 0",
            "0 h 1 10 20 2 32 MPB put",
            "1 h 1 15 30 2 32 MPB get",
            "2 h 1 20 25 - 32 MPB get",
            "0 p 4000000000000001 ffffffff test-and-set register of core 1",
            "0 w 1 30 40 1 3 ok a lock",
            "1 w 1 35 40 - 0 ok what was there",
            "1 o 0 38 2 0 w a message",
            "2 h 0 0 50 - 0 compute",
        ] {
            trace.take(line).unwrap();
        }
        let counters = count(&trace, |rank| Some(rank as usize / 2));
        let expected = [
            (Counter::Mpbs(1), vec![(10, 1), (15, 2), (25, 1), (30, 0)]),
            (Counter::Registers(0), vec![(30, 1), (40, 0)]),
            (Counter::Waits, vec![(30, 1), (38, 2), (40, 1), (50, 0)]),
        ];
        assert_eq!(counters.into_iter().collect::<Vec<_>>(), expected);
    }
}
