//! Proofs of schedules, by carrying them out, that they are barriers.
//!
//! Flags are only ever set, and setting one waits for nothing. So whatever the order of actions, the same ones become
//! possible: one order in which all come to their end shows that there is no deadlock in any, and what a rank has heard
//! of in that order through the flags that it awaited, it has heard of in all.

use std::{collections::HashMap, string::String, vec::Vec};

use hal::{CoreId, LINE_BYTES, Layout};

use super::{
    Barrier,
    algorithm::Algorithm,
    party::Party,
    schedule::{Action, Schedule},
};

const NAMES: [&str; 24] = [
    "default",
    "central-push",
    "rcce-linear",
    "butterfly",
    "dissemination",
    "dissemination-1-pull",
    "dissemination-2",
    "dissemination-3",
    "dissemination-3-pull",
    "dissemination-7",
    "dissemination-500",
    "tree-k1-pull",
    "tree-k2-push",
    "tree-k3-pull",
    "tree-k8-push",
    "tree-k40-pull",
    "tree-k100-polled",
    "tree-k2-polled",
    "tournament",
    "hierarchical",
    "hierarchical-k1",
    "hierarchical-k2",
    "hierarchical-k100",
    "flat",
];

/// Sets of positions.
type Heard = Vec<u64>;

fn schedules(algorithm: Algorithm, party: &Party) -> Vec<Schedule> {
    (0..party.len()).map(|position| algorithm.schedule(position, party)).collect()
}

fn looks_at_domains(name: &str) -> bool {
    name.starts_with("hierarchical") || ["default", "flat"].contains(&name)
}

/// The flags that an action awaits: slots, and who is said to set them.
fn awaited(schedule: &Schedule, line: usize, mask: u32, writers: usize) -> impl Iterator<Item = (usize, usize)> {
    let slots = (0..LINE_BYTES).filter(move |slot| mask >> slot & 1 == 1).map(move |slot| line * LINE_BYTES + slot);
    slots.zip(schedule.writers()[writers..].iter().map(|writer| usize::from(*writer)))
}

/// Whether these schedules, with the given number of flags each, are a barrier.
fn check(schedules: &[Schedule], slots: usize) -> Result<(), String> {
    let len = schedules.len();
    let mut heard: Vec<Heard> = (0..len)
        .map(|position| {
            let mut own = std::vec![0; len.div_ceil(64)];
            own[position / 64] |= 1 << (position % 64);
            own
        })
        .collect();
    let mut flags: HashMap<(usize, usize), (usize, Heard)> = HashMap::new();
    let mut waiting: HashMap<(usize, usize), Vec<usize>> = HashMap::new();
    let mut next = std::vec![0; len];
    let mut ready: Vec<usize> = (0..len).collect();
    while let Some(me) = ready.pop() {
        while let Some(action) = schedules[me].actions().get(next[me]) {
            match *action {
                Action::Set { position, slot } => {
                    if slot >= slots || position >= len {
                        return Err(std::format!("{me} sets flag {slot} of {position}, which there is not"));
                    }
                    if let Some((other, _)) = flags.insert((position, slot), (me, heard[me].clone())) {
                        return Err(std::format!("{me} sets flag {slot} of {position}, which {other} has set"));
                    }
                    ready.extend(waiting.remove(&(position, slot)).unwrap_or_default());
                }
                Action::Await { position, line, mask, writers } => {
                    let unset = awaited(&schedules[me], line, mask, writers)
                        .find(|(slot, _)| !flags.contains_key(&(position, *slot)));
                    if let Some((slot, _)) = unset {
                        waiting.entry((position, slot)).or_default().push(me);
                        break;
                    }
                    for (slot, named) in awaited(&schedules[me], line, mask, writers) {
                        let (writer, told) = &flags[&(position, slot)];
                        if *writer != named {
                            return Err(std::format!("{me} awaits {named}, but it is {writer} who sets {slot}"));
                        }
                        heard[me].iter_mut().zip(told).for_each(|(own, told)| *own |= told);
                    }
                }
            }
            next[me] += 1;
        }
    }
    for me in 0..len {
        if next[me] < schedules[me].actions().len() {
            return Err(std::format!("{me} waits for ever in action {}", next[me]));
        }
        let heard_of = heard[me].iter().map(|word| word.count_ones() as usize).sum::<usize>();
        if heard_of < len {
            return Err(std::format!("{me} leaves when {heard_of} of {len} have come"));
        }
    }
    Ok(())
}

/// Machines on which `len` ranks are all cores: each its own domain, several in a domain, all in one.
fn parties(len: usize) -> Vec<Party> {
    let layout = Layout::mesh(1, 1, 1).with_cores(len);
    let domains = [1, 2, 3, 8, 16, 50, 5000];
    domains.map(|cores| Party::new((0..len).map(CoreId::new), &layout.with_domains_of(cores))).into()
}

fn on(name: &str, party: &Party) -> Algorithm {
    let barrier: Barrier = name.parse().unwrap();
    barrier.algorithm(party, &Layout::scc())
}

#[test]
fn all_are_barriers_for_all_numbers() {
    for len in 1..=130 {
        for (index, party) in parties(len).into_iter().enumerate() {
            for name in NAMES.into_iter().filter(|name| index == 0 || looks_at_domains(name)) {
                let algorithm = on(name, &party);
                let outcome = check(&schedules(algorithm, &party), algorithm.slots(&party));
                assert_eq!(outcome, Ok(()), "{name} of {party:?}");
            }
        }
    }
}

#[test]
fn all_are_barriers_of_very_many() {
    for len in [255, 1024, 4096] {
        let layout = Layout::mesh(1, 1, 1).with_cores(len).with_domains_of(16);
        let party = Party::new((0..len).map(CoreId::new), &layout);
        for name in NAMES {
            let algorithm = on(name, &party);
            // With each of 4096 telling all others there is nothing left to prove.
            if len < 4096 || !["dissemination-500", "tree-k1-pull", "hierarchical-k1"].contains(&name) {
                assert_eq!(check(&schedules(algorithm, &party), algorithm.slots(&party)), Ok(()), "{name} of {len}");
            }
        }
    }
}

/// Domains of which some members, or none, are in the group.
#[test]
fn groups_need_not_have_whole_domains() {
    let layout = Layout::mesh(8, 4, 2).with_domains_of(8);
    for group in [std::vec![3, 4, 5, 40, 63], std::vec![1, 9, 17, 25, 33, 41, 49, 57], (7..60).step_by(3).collect()] {
        let party = Party::new(group.iter().copied().map(CoreId::new), &layout);
        for name in NAMES {
            let algorithm = on(name, &party);
            let outcome = check(&schedules(algorithm, &party), algorithm.slots(&party));
            assert_eq!(outcome, Ok(()), "{name} of {group:?}");
        }
    }
}

#[test]
fn what_is_no_barrier_is_found() {
    let party = &parties(9)[0];
    let without = |name: &str, victim: usize, what: fn(&Action) -> bool| {
        let algorithm = on(name, party);
        let mut all = schedules(algorithm, party);
        let kept: Vec<Action> = all[victim].actions().iter().copied().filter(|action| !what(action)).collect();
        all[victim] = all[victim].with_actions(kept);
        check(&all, algorithm.slots(party)).expect_err(name)
    };
    let is_set = |action: &Action| matches!(action, Action::Set { .. });
    let is_await = |action: &Action| matches!(action, Action::Await { .. });
    assert_eq!(without("tree-k3-pull", 4, is_set), "0 waits for ever in action 0");
    assert_eq!(without("tree-k3-pull", 4, is_await), "4 leaves when 1 of 9 have come");
    assert!(without("dissemination", 4, is_await).contains("have come"));
    let algorithm = on("butterfly", party);
    let mut all = schedules(algorithm, party);
    all[3] = all[2].clone();
    assert!(check(&all, algorithm.slots(party)).is_err());
}

/// Flags count barriers and are never reset: a rank that looks for one finds it at the number of its own barrier or the
/// next one, in whatever order ranks go on.
#[test]
fn nobody_is_further_ahead_than_one_barrier() {
    for len in [1, 2, 3, 5, 8, 13, 33] {
        for party in &parties(len)[..3] {
            for name in NAMES {
                let all = schedules(on(name, party), party);
                for favourite in 0..len {
                    run_ahead(&all, favourite).unwrap_or_else(|problem| panic!("{name} of {len}: {problem}"));
                }
            }
        }
    }
}

/// Three barriers, in which a rank does nothing while another can, beginning with `favourite`.
fn run_ahead(schedules: &[Schedule], favourite: usize) -> Result<(), String> {
    const BARRIERS: u8 = 3;
    let len = schedules.len();
    let mut flags: HashMap<(usize, usize), u8> = HashMap::new();
    let mut at = std::vec![(1u8, 0); len];
    let mut stuck = 0;
    let mut me = favourite;
    while stuck < len {
        let (mut number, mut next) = at[me];
        while number <= BARRIERS {
            match schedules[me].actions().get(next) {
                None => (number, next) = (number + 1, 0),
                Some(&Action::Set { position, slot }) => {
                    flags.insert((position, slot), number);
                    next += 1;
                }
                Some(&Action::Await { position, line, mask, writers }) => {
                    let values: Vec<u8> = awaited(&schedules[me], line, mask, writers)
                        .map(|(slot, _)| flags.get(&(position, slot)).copied().unwrap_or(0))
                        .collect();
                    if let Some(ahead) = values.iter().find(|value| **value > number + 1) {
                        return Err(std::format!("{me} in barrier {number} finds flags of barrier {ahead}"));
                    }
                    if values.iter().any(|value| *value < number) {
                        break;
                    }
                    next += 1;
                }
            }
        }
        stuck = if at[me] == (number, next) { stuck + 1 } else { 0 };
        at[me] = (number, next);
        me = (me + 1) % len;
    }
    let behind = at.iter().position(|(number, _)| *number <= BARRIERS);
    behind
        .map_or(Ok(()), |me| Err(std::format!("{me} waits for ever in {:?}", at[me])))
        .map_err(|error| error.to_string())
}

/// Flags that each rank sets and lines that it polls at least, as the modules say.
#[test]
fn ranks_do_what_is_documented() {
    let counts = |name: &str, len: usize, domain: u16| {
        let layout = Layout::mesh(1, 1, 1).with_cores(len).with_domains_of(domain);
        let party = Party::new((0..len).map(CoreId::new), &layout);
        let count = |schedule: &Schedule| {
            let sets = schedule.actions().iter().filter(|action| matches!(action, Action::Set { .. })).count();
            (sets, schedule.actions().len() - sets)
        };
        schedules(on(name, &party), &party).iter().map(count).collect::<Vec<_>>()
    };
    for len in 2..=100 {
        let others = len - 1;
        let linear = counts("rcce-linear", len, 1);
        assert_eq!(linear[0], (1 + others, others));
        assert!(linear[1..].iter().all(|rank| *rank == (1, 1)));
        let central = counts("central-push", len, 1);
        assert_eq!(central[0], (others, others.div_ceil(LINE_BYTES)));
        assert!(central[1..].iter().all(|rank| *rank == (1, 1)));
        let rounds = len.next_power_of_two().ilog2() as usize;
        assert!(counts("dissemination", len, 1).iter().all(|rank| *rank == (rounds, rounds)));
        assert!(counts("dissemination-1-pull", len, 1).iter().all(|rank| *rank == (rounds, rounds)));
        let three = (0..).take_while(|rounds| 4usize.pow(*rounds) < len).count();
        assert!(counts("dissemination-3", len, 1).iter().all(|rank| rank.0 <= 3 * three && rank.1 <= three + 1));
        let pulled = counts("dissemination-3-pull", len, 1);
        assert!(pulled.iter().all(|rank| rank.0 == three && rank.1 <= 3 * three));
        let (core, floor) = (1 << len.ilog2(), len.ilog2() as usize);
        for (position, rank) in counts("butterfly", len, 1).into_iter().enumerate() {
            let folding = usize::from(position < len - core);
            assert_eq!(rank, if position < core { (floor + folding, floor + folding) } else { (1, 1) });
        }
        let tournament = counts("tournament", len, 1);
        assert_eq!(tournament.iter().map(|rank| rank.0).sum::<usize>(), 2 * others);
        assert_eq!(tournament[0], (rounds, rounds));
        for (name, sets) in [("tree-k4-push", 2 * others), ("tree-k4-pull", others + others.div_ceil(4))] {
            assert_eq!(counts(name, len, 1).iter().map(|rank| rank.0).sum::<usize>(), sets, "{name} of {len}");
        }
        // Everybody has a master above, but one; a release for each domain, which others push but to the first.
        let domains = len.div_ceil(5);
        let own = usize::from(len > 1);
        for name in ["hierarchical", "flat"] {
            let sets = counts(name, len, 5).iter().map(|rank| rank.0).sum::<usize>();
            assert_eq!(sets, others + domains - 1 + own, "{name} of {len}");
        }
    }
}
