//! What of a list is needed, by trying: delta debugging (Zeller and Hildebrandt, *Simplifying and Isolating Failure-Inducing Input*).

use super::super::Deviation;

/// Takes away all that is not needed. `fails` says whether a part of the list is still wrong, or nothing if there is no time left to try
/// it. Returns what is left, and whether none of that can be left out.
pub(super) fn shrink<T: Clone>(mut all: Vec<T>, mut fails: impl FnMut(&[T]) -> Option<bool>) -> (Vec<T>, bool) {
    let mut parts = 2;
    while !all.is_empty() {
        parts = parts.min(all.len());
        let (mut at, mut smaller) = (0, false);
        for part in 0..parts {
            // Parts become shorter, while others are taken away, but not fewer.
            let end = all.len() - (parts - 1 - part) * (all.len() - at) / (parts - part);
            let rest = [&all[..at], &all[end..]].concat();
            match fails(&rest) {
                None => return (all, false),
                Some(true) => (all, smaller) = (rest, true),
                Some(false) => at = end,
            }
        }
        match (smaller, parts >= all.len()) {
            (true, _) => {}
            (false, true) => break,
            (false, false) => parts *= 2,
        }
    }
    (all, true)
}

/// Lets cores become slow as late as they may, which is nearer to what goes wrong then. `lasts` is the number of accesses of each core.
pub(super) fn delay(all: &mut Vec<Deviation>, lasts: &[u32], mut fails: impl FnMut(&[Deviation]) -> Option<bool>) {
    for index in 0..all.len() {
        let Deviation::Behind { core, from, level } = all[index] else { continue };
        let (mut good, mut bad) = (from, lasts.get(core.index()).map_or(from, |last| last + 1));
        while bad - good > 1 {
            let middle = good + (bad - good) / 2;
            let mut later = all.clone();
            later[index] = Deviation::Behind { core, from: middle, level };
            match fails(&later) {
                None => return,
                Some(true) => (good, *all) = (middle, later),
                Some(false) => bad = middle,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CoreId;

    #[test]
    fn what_is_needed_is_left_and_nothing_else() {
        for needed in [vec![], vec![0], vec![99], vec![3, 57], vec![0, 1, 2, 98, 99], (0..100).collect()] {
            let mut tries = 0;
            let fails = |part: &[i32]| {
                tries += 1;
                Some(needed.iter().all(|item| part.contains(item)))
            };
            assert_eq!(shrink((0..100).collect(), fails), (needed.clone(), true));
            assert!(tries < 300, "{tries} for {needed:?}");
        }
        // One of two is enough.
        let (left, _) = shrink((0..100).collect(), |part: &[i32]| Some(part.contains(&7) || part.contains(&8)));
        assert_eq!(left.len(), 1);
        let mut left = 10;
        let out_of_time = shrink((0..100).collect(), |part: &[i32]| {
            left -= 1;
            (left > 0).then(|| part.contains(&7))
        });
        assert!(out_of_time.0.contains(&7) && !out_of_time.1);
    }

    #[test]
    fn a_core_becomes_slow_as_late_as_it_may() {
        let behind = |from| Deviation::Behind { core: CoreId::new(0), from, level: 1 };
        let mut all = vec![behind(0)];
        let is_early = |all: &[Deviation]| Some(all.iter().all(|one| *one <= behind(17)));
        delay(&mut all, &[100], is_early);
        assert_eq!(all, [behind(17)]);
    }
}
