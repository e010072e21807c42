//! Which store ended which wait.
//!
//! Waits name the places that they look at, and stores those that they change. A wait is ended by the last store of
//! another rank to one of its places that it could see before its end. Where places have several writers, a store of
//! the rank that was missing last counts first: another one may have come between that and the wait's end. Interrupts
//! end waits, too, and are named if no store explains the end. A wait for what was there already has an ender from
//! before its begin.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};
use transcript::trace::{Ender, Place, Trace, Wait};

/// Begins the keys of interrupts of cores.
const INTERRUPTS: u64 = 1 << 60;

/// Begins the keys of test-and-set registers.
const REGISTERS: u64 = 1 << 62;

/// Where a shared line's key begins; it may have any other bit.
const SHARED: u64 = 1 << 63;

#[derive(Clone, Copy)]
struct Seen {
    at: u64,
    rank: u32,
    mask: u32,
}

/// Finds the ender of every wait, as far as it was noted.
pub(super) fn find(mut trace: Trace) -> Trace {
    let stores = stores(&trace);
    for (rank, records) in &mut trace.ranks {
        for wait in records.waits.iter_mut().filter(|wait| !wait.is_late) {
            wait.ender = ender(&stores, *rank, wait);
        }
    }
    trace
}

/// Stores to places that somebody waits for, in the order in which they could be seen.
fn stores(trace: &Trace) -> HashMap<u64, Vec<Seen>> {
    let waits = trace.ranks.values().flat_map(|records| &records.waits);
    let mut awaited: HashSet<u64> = waits.flat_map(|wait| &wait.places).map(|place| place.key).collect();
    awaited.extend(trace.ranks.keys().map(|rank| interrupt_of(*rank)));
    let mut stores: HashMap<u64, Vec<Seen>> = HashMap::new();
    for (rank, records) in &trace.ranks {
        for store in &records.stores {
            let took = store.visible.saturating_sub(store.begin);
            for index in 0..u64::from(store.count) {
                let key = store.key + index;
                if awaited.contains(&key) {
                    // Of a run only the time of the last is known.
                    let at = store.begin + took * (index + 1) / u64::from(store.count);
                    stores.entry(key).or_default().push(Seen { at, rank: *rank, mask: store.mask });
                }
            }
        }
    }
    stores.values_mut().for_each(|stores| stores.sort_by_key(|store| store.at));
    stores
}

fn ender(stores: &HashMap<u64, Vec<Seen>>, rank: u32, wait: &Wait) -> Option<Ender> {
    let last = |place: &Place, from: u64, by: &dyn Fn(u32) -> bool| {
        let stores = stores.get(&place.key)?;
        let visible = &stores[..stores.partition_point(|store| store.at <= wait.end)];
        let fits = |store: &&Seen| store.mask & place.mask != 0 && store.rank != rank && by(store.rank);
        let found = visible.iter().rev().take_while(|store| store.at >= from).find(fits)?;
        Some(Ender { rank: found.rank, at: found.at, place: place.name.clone() })
    };
    let last_of = |from, by: &dyn Fn(u32) -> bool| {
        wait.places.iter().filter_map(|place| last(place, from, by)).max_by_key(|ender| ender.at)
    };
    // The peer of a wait for a register is the core whose register it is, whoever holds it.
    let of_register = wait.places.iter().any(|place| place.key & (SHARED | REGISTERS) == REGISTERS);
    let peer = wait.peer.filter(|_| !of_register);
    let by_peer = |other| Some(other) == peer;
    let interrupt = Place { key: interrupt_of(rank), mask: u32::MAX, name: Arc::from("an interrupt") };
    last_of(wait.begin, &by_peer)
        .or_else(|| last_of(wait.begin, &|_| true))
        .or_else(|| last(&interrupt, wait.begin, &|_| true))
        .or_else(|| last_of(0, &by_peer))
        .or_else(|| last_of(0, &|_| true))
}

fn interrupt_of(rank: u32) -> u64 {
    INTERRUPTS | u64::from(rank)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(lines: &[&str]) -> Trace {
        let mut trace = Trace::default();
        for rank in 0..4 {
            trace.take(&format!("{rank} c 1 0")).unwrap();
        }
        lines.iter().for_each(|line| trace.take(line).unwrap());
        find(trace)
    }

    fn ender_of(lines: &[&str]) -> Option<(u32, u64)> {
        let trace = trace(lines);
        let ender = trace.ranks[&0].waits[0].ender.as_ref()?;
        Some((ender.rank, ender.at))
    }

    #[test]
    fn the_last_store_to_a_place_counts() {
        let wait = ["0 p 5 ffffffff flag", "0 w 0 10 20 - 3 ok it"];
        let with = |stores: &[&'static str]| ender_of(&[&wait[..], stores].concat());
        assert_eq!(with(&[]), None);
        assert_eq!(with(&["1 t 5 1 1 1 12", "2 t 5 1 2 1 15", "3 t 5 1 4 1 21", "0 t 5 1 8 1 16"]), Some((2, 15)));
        assert_eq!(with(&["1 t 6 1 1 1 12", "2 t 4 1 1 1 12"]), None);
        // A run of lines of which the second is awaited.
        assert_eq!(with(&["1 t 4 4 ffffffff 10 14"]), Some((1, 12)));
        assert_eq!(with(&["1 t 1000000000000000 1 ffffffff 1 12"]), Some((1, 12)));
        assert_eq!(with(&["1 t 5 1 1 1 2"]), Some((1, 2)));
    }

    #[test]
    fn who_was_missing_counts_first() {
        let wait = ["0 p 5 ffffffff flag", "0 w 0 10 20 1 3 ok it"];
        let with = |stores: &[&'static str]| ender_of(&[&wait[..], stores].concat());
        assert_eq!(with(&["1 t 5 1 1 1 12", "2 t 5 1 2 1 15"]), Some((1, 12)));
        assert_eq!(with(&["1 t 5 1 1 1 2", "2 t 5 1 2 1 15"]), Some((2, 15)));
        assert_eq!(with(&["1 t 5 1 1 1 2", "2 t 5 1 2 1 5"]), Some((1, 2)));
        let register = ["0 p 4000000000000001 ffffffff register", "0 w 0 10 20 1 3 ok it"];
        let frees = ["1 t 4000000000000001 1 ffffffff 1 12", "2 t 4000000000000001 1 ffffffff 1 15"];
        assert_eq!(ender_of(&[register, frees].concat()), Some((2, 15)));
    }

    #[test]
    fn other_bytes_and_late_waits_do_not_count() {
        assert_eq!(ender_of(&["0 p 5 f0 word", "0 w 0 10 20 1 3 ok it", "1 t 5 1 f 1 12"]), None);
        assert_eq!(ender_of(&["0 p 5 f0 word", "0 w 0 10 20 1 3 late it", "1 t 5 1 f0 1 12"]), None);
    }
}
