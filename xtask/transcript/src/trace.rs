//! What ranks have noted, as it comes over the console.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

/// An operation of a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Operations that it is a part of.
    pub depth: u8,
    /// When it began, in moments of the clock.
    pub begin: u64,
    /// When it ended.
    pub end: u64,
    /// The rank that it was about, if there is one.
    pub peer: Option<u32>,
    /// Bytes that it moved.
    pub bytes: u64,
    /// What it is called.
    pub name: Arc<str>,
    /// Whether it is one of the hardware, and not of a protocol.
    pub of_hardware: bool,
}

/// A wait of a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Operations that it is a part of.
    pub depth: u8,
    /// When it began, in moments of the clock.
    pub begin: u64,
    /// When it ended.
    pub end: u64,
    /// Whom it was for.
    pub peer: Option<u32>,
    /// Polls in vain.
    pub polls: u64,
    /// Whether its deadline came first.
    pub is_late: bool,
    /// What it was for.
    pub what: Arc<str>,
    /// Where it looked.
    pub places: Vec<Place>,
    /// What ended it, if that is known.
    pub ender: Option<Ender>,
}

/// The begin of a phase that the program has named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// When it began, in moments of the clock.
    pub begin: u64,
    /// What the program calls it.
    pub name: Arc<str>,
}

/// What an operation or a wait is that was under way when its rank was stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// An operation of a protocol.
    Operation,
    /// An operation of the hardware.
    Hardware,
    /// A wait.
    Wait,
}

/// What had begun and not ended when its rank was stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnderWay {
    /// Operations that it is a part of.
    pub depth: u8,
    /// When it began, in moments of the clock.
    pub begin: u64,
    /// The rank that it was about, if there is one.
    pub peer: Option<u32>,
    /// Bytes that it would have moved.
    pub bytes: u64,
    /// What it is.
    pub kind: Kind,
    /// What it is called, or what the wait was for.
    pub name: Arc<str>,
}

/// Where a rank's core is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Tile {
    /// The row of its tile.
    pub row: u32,
    /// The column of its tile.
    pub column: u32,
    /// Cores that a tile has.
    pub cores: u32,
}

/// A place that a wait looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The number of the place; no two places have the same.
    pub key: u64,
    /// The bytes of the place that are looked at, a bit for each.
    pub mask: u32,
    /// What the place is called.
    pub name: Arc<str>,
}

/// A store to places with neighbouring keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    /// The number of the first place.
    pub key: u64,
    /// Neighbouring places that it changes.
    pub count: u32,
    /// The bytes of each place that it changes, a bit for each.
    pub mask: u32,
    /// When it began.
    pub begin: u64,
    /// When others could see the last of them.
    pub visible: u64,
}

/// The store that ended a wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ender {
    /// The rank that stored.
    pub rank: u32,
    /// When it could be seen.
    pub at: u64,
    /// Where it went.
    pub place: Arc<str>,
}

impl Wait {
    /// Whether it lasted until somebody did something: otherwise that was there before.
    pub fn was_for(&self) -> Option<&Ender> {
        self.ender.as_ref().filter(|ender| (self.begin..self.end).contains(&ender.at))
    }
}

/// What one rank has noted, in the order in which things ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Records {
    /// Records that it had no room for.
    pub lost: u64,
    /// Its operations.
    pub spans: Vec<Span>,
    /// Its waits.
    pub waits: Vec<Wait>,
    /// Phases of the program, each until the next one.
    pub phases: Vec<Phase>,
    /// Its stores.
    pub stores: Vec<Store>,
    /// What had not ended when it was stopped, from the outermost inwards.
    pub under_way: Vec<UnderWay>,
    /// Where its core is, if it has said so.
    pub tile: Option<Tile>,
    /// Places of the wait that comes next.
    places: Vec<Place>,
}

impl Records {
    /// Whether it has no operation and no wait, and so no time.
    pub fn is_empty(&self) -> bool {
        self.times().next().is_none()
    }

    /// When it began to note.
    pub fn begin(&self) -> u64 {
        self.times().map(|(begin, _)| begin).min().unwrap_or(0)
    }

    /// When it was done.
    pub fn end(&self) -> u64 {
        self.times().map(|(_, end)| end).max().unwrap_or(0)
    }

    fn times(&self) -> impl Iterator<Item = (u64, u64)> {
        let spans = self.spans.iter().map(|span| (span.begin, span.end));
        let waits = self.waits.iter().map(|wait| (wait.begin, wait.end));
        spans.chain(waits).chain(self.under_way.iter().map(|open| (open.begin, open.begin)))
    }
}

/// What all ranks have noted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Moments of the clock in a second.
    pub moments_per_second: u64,
    /// The records of each rank.
    pub ranks: BTreeMap<u32, Records>,
    names: HashSet<Arc<str>>,
}

impl Trace {
    /// Takes the words of a line `@trace`; nothing if they mean nothing.
    pub fn take(&mut self, words: &str) -> Option<()> {
        let (rank, record) = words.split_once(' ')?;
        let rank = rank.parse().ok()?;
        let (kind, record) = record.split_once(' ')?;
        match kind {
            "c" => {
                let (moments, lost) = record.split_once(' ')?;
                self.moments_per_second = moments.parse().ok().filter(|moments| *moments > 0)?;
                // All of it comes again if a rank that was asked before is asked at the end.
                self.ranks.insert(rank, Records { lost: lost.parse().ok()?, ..Records::default() });
            }
            "s" | "h" => {
                let ([depth, begin, end, peer, bytes], name) = fields(record)?;
                let (begin, end) = extent(begin, end)?;
                let span = Span {
                    depth: depth.parse().ok()?,
                    begin,
                    end,
                    peer: optional(peer)?,
                    bytes: bytes.parse().ok()?,
                    name: self.name(name),
                    of_hardware: kind == "h",
                };
                self.ranks.get_mut(&rank)?.spans.push(span);
            }
            "w" => {
                let ([depth, begin, end, peer, polls, outcome], what) = fields(record)?;
                let (begin, end) = extent(begin, end)?;
                let wait = Wait {
                    depth: depth.parse().ok()?,
                    begin,
                    end,
                    peer: optional(peer)?,
                    polls: polls.parse().ok()?,
                    is_late: match outcome {
                        "ok" => false,
                        "late" => true,
                        _ => return None,
                    },
                    what: self.name(what),
                    places: std::mem::take(&mut self.ranks.get_mut(&rank)?.places),
                    ender: None,
                };
                self.ranks.get_mut(&rank)?.waits.push(wait);
            }
            "m" => {
                let (begin, name) = record.split_once(' ')?;
                let phase = Phase { begin: begin.parse().ok()?, name: self.name(name) };
                self.ranks.get_mut(&rank)?.phases.push(phase);
            }
            "o" => {
                let ([depth, begin, peer, bytes, kind], name) = fields(record)?;
                let open = UnderWay {
                    depth: depth.parse().ok()?,
                    begin: begin.parse().ok()?,
                    peer: optional(peer)?,
                    bytes: bytes.parse().ok()?,
                    kind: match kind {
                        "s" => Kind::Operation,
                        "h" => Kind::Hardware,
                        "w" => Kind::Wait,
                        _ => return None,
                    },
                    name: self.name(name),
                };
                self.ranks.get_mut(&rank)?.under_way.push(open);
            }
            "l" => {
                let ([column, row], cores) = fields(record)?;
                let (column, row) = (column.parse().ok()?, row.parse().ok()?);
                self.ranks.get_mut(&rank)?.tile = Some(Tile { row, column, cores: cores.parse().ok()? });
            }
            "p" => {
                let ([key, mask], name) = fields(record)?;
                let place = Place { key: hexadecimal(key)?, mask: narrow(mask)?, name: self.name(name) };
                self.ranks.get_mut(&rank)?.places.push(place);
            }
            "t" => {
                let ([key, count, mask, begin], visible) = fields(record)?;
                let store = Store {
                    key: hexadecimal(key)?,
                    count: count.parse().ok()?,
                    mask: narrow(mask)?,
                    begin: begin.parse().ok()?,
                    visible: visible.parse().ok()?,
                };
                self.ranks.get_mut(&rank)?.stores.push(store);
            }
            _ => return None,
        }
        Some(())
    }

    /// Adds what other ranks have noted.
    pub fn add(&mut self, other: Self) {
        self.moments_per_second = self.moments_per_second.max(other.moments_per_second);
        self.ranks.extend(other.ranks);
    }

    /// The last moment of any rank.
    pub fn end(&self) -> u64 {
        self.ranks.values().map(Records::end).max().unwrap_or(0)
    }

    fn name(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.names.get(name) {
            return known.clone();
        }
        let name: Arc<str> = name.into();
        self.names.insert(name.clone());
        name
    }
}

/// The first words, and all that follows them.
fn fields<const N: usize>(mut record: &str) -> Option<([&str; N], &str)> {
    let mut words = [""; N];
    for word in &mut words {
        (*word, record) = record.split_once(' ')?;
    }
    Some((words, record))
}

/// Begin and end, unless the end comes first.
fn extent(begin: &str, end: &str) -> Option<(u64, u64)> {
    let (begin, end) = (begin.parse().ok()?, end.parse().ok()?);
    (begin <= end).then_some((begin, end))
}

fn optional(peer: &str) -> Option<Option<u32>> {
    if peer == "-" { Some(None) } else { peer.parse().ok().map(Some) }
}

fn hexadecimal(number: &str) -> Option<u64> {
    u64::from_str_radix(number, 16).ok()
}

fn narrow(number: &str) -> Option<u32> {
    u32::from_str_radix(number, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read() {
        let mut trace = Trace::default();
        for line in [
            "3 c 1000 7",
            "3 t 205 2 ffffffff 1 4",
            "3 h 1 3 4 7 32 MPB put",
            "3 p 8000000000000001 f0 word of shared memory",
            "3 w 0 1 5 - 2 ok a flag 3",
            "3 m 4 second phase",
            "3 l 4 1 2",
            "3 o 0 9 - 0 s program",
            "3 o 1 11 2 0 w a message",
        ] {
            assert_eq!(trace.take(line), Some(()), "{line}");
        }
        let records = &trace.ranks[&3];
        assert_eq!((trace.moments_per_second, records.lost, records.begin(), records.end()), (1000, 7, 1, 11));
        assert_eq!(records.tile, Some(Tile { row: 1, column: 4, cores: 2 }));
        let (program, message) = (&records.under_way[0], &records.under_way[1]);
        assert_eq!((program.depth, program.kind, program.peer, &*program.name), (0, Kind::Operation, None, "program"));
        assert_eq!((message.begin, message.kind, message.peer, &*message.name), (11, Kind::Wait, Some(2), "a message"));
        assert_eq!(records.stores, [Store { key: 0x205, count: 2, mask: u32::MAX, begin: 1, visible: 4 }]);
        assert_eq!(records.phases, [Phase { begin: 4, name: "second phase".into() }]);
        let (span, wait) = (&records.spans[0], &records.waits[0]);
        assert_eq!((span.peer, span.bytes, &*span.name, span.of_hardware), (Some(7), 32, "MPB put", true));
        assert_eq!((wait.peer, wait.polls, &*wait.what, wait.is_late), (None, 2, "a flag 3", false));
        assert_eq!((wait.places[0].key, wait.places[0].mask), (1 << 63 | 1, 0xf0));
    }

    #[test]
    fn what_a_rank_tells_again_replaces_what_it_has_told() {
        let mut trace = Trace::default();
        for line in ["1 c 10 0", "1 s 0 1 2 - 0 a", "1 o 0 2 - 0 w b", "1 c 10 3", "1 s 0 1 2 - 0 a", "0 c 10 0"] {
            assert_eq!(trace.take(line), Some(()), "{line}");
        }
        let records = &trace.ranks[&1];
        assert_eq!((records.lost, records.spans.len(), records.under_way.len()), (3, 1, 0));
    }

    #[test]
    fn what_is_none_is_refused() {
        let mut trace = Trace::default();
        assert_eq!(trace.take("0 s 1 3 4 7 32 before the clock"), None);
        assert_eq!(trace.take("0 c 1000 0"), Some(()));
        for line in [
            "",
            "0",
            "x c 1 1",
            "0 c 0 0",
            "0 x",
            "0 q 1",
            "0 m 1",
            "0 s 1 3 4 7 x",
            "0 s 1 3 4 7 x y",
            "0 w 0 1 2 - 3 no a",
            "0 s 1 4 3 7 32 ends before it begins",
            "0 w 0 2 1 - 3 ok that too",
            "0 o 0 2 - 0 x nothing of the kind",
            "0 l 1 2",
        ] {
            assert_eq!(trace.take(line), None, "{line}");
        }
    }
}
