//! Which blocks for the simulator do what a block for the P54C does.
//!
//! Both sides are made of the same source by the same compiler, which notes the same places of it on both. So a block's counterpart is the
//! one of the same function that has most places in common with it and is as deep in loops. A place counts the more, the fewer blocks have
//! it. Where a function is inlined on one side only, its counterparts are in other functions. Copies of a block are executed instead of each
//! other: each block for the simulator is charged what those of the P54C take in the mean that are copies, and for those that are not, the sum.

use super::{
    assembly::{Function, Place},
    flow::Ways,
};
use std::collections::{HashMap, HashSet};

/// What a block for the simulator is charged, in cycles.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Charge {
    /// All of it.
    pub(super) cycles: f64,
    /// What of it has no counterpart, and is estimated.
    pub(super) estimated: f64,
    /// The numbers of the blocks of the P54C that are executed for it.
    pub(super) counterparts: Vec<usize>,
}

/// How alike counterparts are at least, from 0 to 1.
const ALIKE: f64 = 0.2;
/// How alike copies of one block are.
const COPIES: f64 = 0.8;
/// What reaches this part of the best one is as good.
const AS_GOOD: f64 = 0.9;
/// What a loop more or less around a block leaves of its likeness.
const LOOP: f64 = 0.4;
/// Cycles of an instruction on average, where nothing is known of a function.
const INSTRUCTION: f64 = 1.5;

/// A block and what it is known by.
struct Known<'b, 't> {
    function: &'t str,
    places: &'b HashSet<Place<'t>>,
    depth: u32,
}

/// The blocks of all functions, one behind the other.
fn known<'b, 't>(functions: &'b [Function<'t>]) -> Vec<Known<'b, 't>> {
    let blocks = |function: &'b Function<'t>| {
        let (depths, name) = (Ways::of(function).depths(), function.source_name());
        let known = move |(block, depth): (&'b super::assembly::Block<'t>, u32)| Known {
            function: name,
            places: &block.places,
            depth,
        };
        function.blocks.iter().zip(depths).map(known)
    };
    functions.iter().flat_map(blocks).collect()
}

/// How much places tell.
struct Weights<'t>(HashMap<Place<'t>, f64>);

impl<'t> Weights<'t> {
    fn of<'b>(blocks: impl Iterator<Item = &'b Known<'b, 't>>) -> Self
    where
        't: 'b,
    {
        let mut counts = HashMap::new();
        for place in blocks.flat_map(|block| block.places) {
            *counts.entry(*place).or_insert(0.0) += 1.0;
        }
        Self(counts.into_iter().map(|(place, count): (_, f64)| (place, 1.0 / count)).collect())
    }

    fn of_places<'p>(&self, places: impl Iterator<Item = &'p Place<'t>>) -> f64
    where
        't: 'p,
    {
        let mut weights: Vec<_> = places.map(|place| self.0.get(place).copied().unwrap_or(0.0)).collect();
        // Sums of floating-point numbers depend on their order, and that of sets differs from run to run.
        weights.sort_by(f64::total_cmp);
        weights.iter().sum()
    }

    fn likeness(&self, one: &HashSet<Place<'t>>, other: &HashSet<Place<'t>>) -> f64 {
        let common = self.of_places(one.intersection(other));
        if common == 0.0 {
            return 0.0;
        }
        common / (self.of_places(one.iter()) * self.of_places(other.iter())).sqrt()
    }
}

/// For each block of the own functions, function by function, what it is charged of the counterparts' blocks, which take `cycles` cycles.
pub(super) fn charges(own: &[Function<'_>], counterparts: &[Function<'_>], cycles: &[f64]) -> Vec<Charge> {
    let (hosts, targets) = (known(own), known(counterparts));
    let weights = Weights::of(hosts.iter().chain(&targets));
    let mut by_place: HashMap<Place<'_>, Vec<usize>> = HashMap::new();
    for (number, host) in hosts.iter().enumerate() {
        host.places.iter().for_each(|place| by_place.entry(*place).or_default().push(number));
    }
    let scores: Vec<_> = targets.iter().map(|target| scores(target, &hosts, &by_place, &weights)).collect();
    // How alike the best counterpart of a block for the simulator is.
    let mut best = vec![0.0_f64; hosts.len()];
    for (host, score) in scores.iter().flatten() {
        best[*host] = best[*host].max(*score);
    }
    let mut taken: Vec<Vec<usize>> = vec![Vec::new(); hosts.len()];
    let mut charges = vec![Charge::default(); hosts.len()];
    let (mut of, mut before): (_, Option<usize>) = ("", None);
    // What comes before the first block that has a counterpart.
    let mut waiting = Vec::new();
    for (target, scores) in scores.iter().enumerate() {
        let function = targets[target].function;
        if of != function {
            (of, before, waiting) = (function, None, Vec::new());
        }
        let top = scores.first().copied().filter(|(_, score)| *score >= ALIKE);
        let Some((first, top)) = top else {
            match before {
                Some(host) => charges[host].add_estimate(cycles[target]),
                None => waiting.push(cycles[target]),
            }
            continue;
        };
        let as_good = |(host, score): &&(usize, f64)| *score >= AS_GOOD * top && *score >= AS_GOOD * best[*host];
        taken[first].push(target);
        for (host, _) in scores.iter().filter(as_good).filter(|(host, _)| *host != first) {
            taken[*host].push(target);
        }
        waiting.drain(..).for_each(|cycles| charges[first].add_estimate(cycles));
        before = Some(first);
    }
    for (charge, taken) in charges.iter_mut().zip(&taken) {
        let groups = groups_of_copies(taken, &targets, &weights);
        let mean = |group: &Vec<usize>| group.iter().map(|block| cycles[*block]).sum::<f64>() / group.len() as f64;
        charge.cycles += groups.iter().map(mean).sum::<f64>();
        charge.counterparts = groups.iter().map(|group| group[0]).collect();
    }
    estimate_strangers(own, &hosts, &taken, &mut charges);
    charges
}

impl Charge {
    fn add_estimate(&mut self, cycles: f64) {
        self.cycles += cycles;
        self.estimated += cycles;
    }
}

/// The blocks for the simulator that have anything in common with one for the P54C, those of its own function if there are some that
/// will do; the best first.
fn scores<'t>(
    target: &Known<'_, 't>,
    hosts: &[Known<'_, 't>],
    by_place: &HashMap<Place<'t>, Vec<usize>>,
    weights: &Weights<'t>,
) -> Vec<(usize, f64)> {
    let mut found: Vec<_> = target.places.iter().flat_map(|place| by_place.get(place).into_iter().flatten()).collect();
    found.sort_unstable();
    found.dedup();
    let score = |host: &&usize| {
        let known = &hosts[**host];
        let likeness = weights.likeness(target.places, known.places);
        (**host, likeness * LOOP.powi(target.depth.abs_diff(known.depth) as i32))
    };
    let sorted = |mut scores: Vec<(usize, f64)>| {
        scores.sort_by(|(one, first), (other, second)| second.total_cmp(first).then(one.cmp(other)));
        scores
    };
    let (own, others): (Vec<_>, Vec<_>) = found.iter().partition(|host| hosts[***host].function == target.function);
    let own = sorted(own.iter().map(score).collect());
    if own.first().is_some_and(|(_, score)| *score >= ALIKE) {
        return own;
    }
    sorted(others.iter().map(score).collect())
}

/// Blocks, of which those that are copies of each other are together.
fn groups_of_copies(taken: &[usize], targets: &[Known<'_, '_>], weights: &Weights<'_>) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for &block in taken {
        let is_copy =
            |group: &&mut Vec<usize>| weights.likeness(targets[group[0]].places, targets[block].places) >= COPIES;
        match groups.iter_mut().find(is_copy) {
            Some(group) => group.push(block),
            None => groups.push(vec![block]),
        }
    }
    groups
}

/// Functions nothing of which has a counterpart are estimated by their instructions.
fn estimate_strangers(own: &[Function<'_>], hosts: &[Known<'_, '_>], taken: &[Vec<usize>], charges: &mut [Charge]) {
    let names: HashSet<_> =
        hosts.iter().zip(taken).filter(|(_, taken)| !taken.is_empty()).map(|(host, _)| host.function).collect();
    let blocks = own.iter().flat_map(|function| &function.blocks);
    for ((block, host), charge) in blocks.zip(hosts).zip(charges) {
        if !names.contains(host.function) {
            charge.add_estimate(INSTRUCTION * block.instructions.len() as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::priced::assembly::functions;

    /// Lines of a block, and to which one of its function it may jump.
    type Lines<'l> = (&'l [u32], Option<usize>);

    /// Functions of such blocks.
    fn file(functions: &[(&str, &[Lines<'_>])]) -> String {
        let mut text = "\t.text\n\t.file 1 \"a.c\"\n".to_owned();
        let mut first = 0;
        for (name, blocks) in functions {
            text.push_str(&format!("\t.type\t{name}, @function\n{name}:\n"));
            for (number, (lines, jump)) in blocks.iter().enumerate() {
                text.push_str(&format!(".L{}:\n", first + number));
                lines.iter().for_each(|line| text.push_str(&format!("\t.loc 1 {line} 1\n\tnop\n")));
                jump.iter().for_each(|to| text.push_str(&format!("\tjne\t.L{}\n", first + to)));
            }
            first += blocks.len();
        }
        text
    }

    fn charged(own: &str, counterparts: &str, cycles: &[f64]) -> Vec<[f64; 2]> {
        let charges = charges(&functions(own), &functions(counterparts), cycles);
        charges.iter().map(|charge| [charge.cycles, charge.estimated]).collect()
    }

    #[test]
    fn blocks_find_their_counterparts() {
        let one = file(&[("f", &[(&[1, 2], None), (&[3, 4], Some(1)), (&[5], None)])]);
        assert_eq!(charged(&one, &one, &[10.0, 7.0, 2.0]), [[10.0, 0.0], [7.0, 0.0], [2.0, 0.0]]);
        // The P54C has the loop in two blocks, and something before it that no block has here.
        let other = file(&[("f", &[(&[1, 2], None), (&[9], None), (&[3], None), (&[4], Some(2)), (&[5], None)])]);
        let found = charged(&one, &other, &[10.0, 1.0, 3.0, 4.0, 2.0]);
        assert_eq!(found, [[11.0, 1.0], [7.0, 0.0], [2.0, 0.0]]);
    }

    #[test]
    fn a_block_in_a_loop_is_none_before_it() {
        let own = file(&[("f", &[(&[1, 3], None), (&[3], Some(1))])]);
        let other = file(&[("f", &[(&[1], None), (&[3], Some(1))])]);
        assert_eq!(charged(&own, &other, &[5.0, 8.0]), [[5.0, 0.0], [8.0, 0.0]]);
    }

    #[test]
    fn copies_take_the_mean_and_what_is_inlined_is_found() {
        // Here the loop is there once, on a P54C twice.
        let own = file(&[("f", &[(&[1], None), (&[3, 4], Some(1))])]);
        let other = file(&[("f", &[(&[1], None), (&[3, 4], Some(1)), (&[3, 4], Some(2))])]);
        assert_eq!(charged(&own, &other, &[1.0, 8.0, 6.0]), [[1.0, 0.0], [7.0, 0.0]]);
        // `g` is inlined here, and called there.
        let own = file(&[("f", &[(&[1], None), (&[7, 8], None), (&[2], None)])]);
        let other = file(&[("g", &[(&[7, 8], None)]), ("f", &[(&[1], None), (&[2], None)])]);
        assert_eq!(charged(&own, &other, &[9.0, 1.0, 2.0]), [[1.0, 0.0], [9.0, 0.0], [2.0, 0.0]]);
    }

    #[test]
    fn what_has_no_counterpart_is_estimated() {
        let own = file(&[("f", &[(&[1, 2], None)])]);
        let other = file(&[("h", &[(&[30], None)])]);
        assert_eq!(charged(&own, &other, &[4.0]), [[2.0 * INSTRUCTION, 2.0 * INSTRUCTION]]);
        // What another function has is not charged to the next one.
        let own = file(&[("f", &[(&[1, 2], None)])]);
        let other = file(&[("h", &[(&[30], None)]), ("f", &[(&[1, 2], None)])]);
        assert_eq!(charged(&own, &other, &[4.0, 3.0]), [[3.0, 0.0]]);
    }
}
