//! Traces of ranks, told to the host: by the word `trace_kib=N`, the memory that each rank may fill, when programs are over;
//! by the word `failure_trace_kib=N` only after a failure, with what was under way then.

use hal::{Core, trace};

use crate::{Console, Failure, args};

const KEY: &str = "trace_kib";
const FAILURE_KEY: &str = "failure_trace_kib";

/// The most that a rank can be given, in KiB: a gibibyte.
const MOST_KIB: usize = 1 << 20;

/// Whether traces are told in any case.
pub(super) fn is_on(line: &str) -> bool {
    args::value(line, KEY).is_some()
}

/// Begins the trace of a rank, if the command line says so.
pub(super) fn start(hal: &impl Core, line: &str) -> Result<(), Failure> {
    let given = |key| args::value(line, key).map(|kib| (key, kib));
    if let Some((key, kib)) = given(KEY).or_else(|| given(FAILURE_KEY)) {
        let kib = kib.parse::<usize>().ok().filter(|kib| *kib <= MOST_KIB).ok_or_else(|| {
            Failure::new(format_args!("option `{key}={kib}`: not a number up to {MOST_KIB}")).on_all_ranks()
        })?;
        hal.start_trace(kib * 1024);
    }
    Ok(())
}

/// Tells the host [all that was traced](trace::tell), if it is to be told in any case.
pub(super) fn tell(hal: &impl Core, line: &str, console: &dyn Console) {
    if is_on(line) {
        trace::tell(hal, true, &mut |line| console.write(line));
    }
}

/// Tells the host what was traced until something failed, and what was under way, unless it was told already.
#[cfg(not(target_os = "none"))]
pub(super) fn tell_until_failure(hal: &impl Core, console: &dyn Console) {
    trace::tell(hal, false, &mut |line| console.write(line));
}

#[cfg(test)]
mod tests {
    use std::{
        collections::BTreeMap,
        string::{String, ToString},
        vec::Vec,
    };

    use hal::Core;

    use crate::{
        Failure, Program, Rank,
        launch::{Only, Simulation, simulate},
    };

    /// Some of everything: messages, a broadcast, barriers, a late rank, a lock.
    struct Busy;

    impl Program for Busy {
        const NAME: &'static str = "busy";
        const ABOUT: &'static str = "does some of everything";

        fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
            let (comm, hal) = (rank.comm, rank.hal());
            let (me, size) = (comm.rank(), comm.size());
            if me == 2 {
                hal.compute(100_000);
            }
            comm.barrier();
            let mut message = [me as u8; 5000];
            comm.broadcast(&mut message, size - 1)?;
            if me > 0 {
                comm.send(&message[..100], me - 1)?;
            }
            if me + 1 < size {
                comm.receive(&mut message[..100], me + 1)?;
            }
            if hal.layout().registers_reach_everywhere() {
                drop(hal.lock(comm.core_of(0), "everybody's register"));
            }
            comm.barrier();
            Ok(())
        }
    }

    fn run(words: &str) -> Simulation {
        let simulation = simulate::<Only<Busy>>(words, &[]);
        assert!(simulation.success, "{}", simulation.console);
        simulation
    }

    /// Records by rank, as words.
    fn records(simulation: &Simulation) -> BTreeMap<usize, Vec<Vec<&str>>> {
        let mut records: BTreeMap<usize, Vec<Vec<&str>>> = BTreeMap::new();
        for line in simulation.console.lines().filter_map(|line| line.strip_prefix("@trace ")) {
            let (rank, record) = line.split_once(' ').unwrap();
            records.entry(rank.parse().unwrap()).or_default().push(record.split(' ').collect());
        }
        records
    }

    /// Depth, begin and end of an operation or a wait.
    fn extent(record: &[&str]) -> Option<(usize, u64, u64)> {
        let number = |index: usize| record[index].parse::<u64>().unwrap();
        ["s", "h", "w"].contains(&record[0]).then(|| (number(1) as usize, number(2), number(3)))
    }

    #[test]
    fn tracing_changes_neither_times_nor_counters() {
        let kept = |simulation: &Simulation| -> String {
            simulation
                .console
                .lines()
                .filter(|line| !line.starts_with("@trace"))
                .map(|line| line.to_string() + "\n")
                .collect()
        };
        for machine in
            ["cores=5", "cores=48", "cores=12 machine=scc+contention", "cores=6 seed=7", "machine=cluster-fpga:4x4"]
        {
            let traced = run(&std::format!("{machine} trace_kib=4096"));
            assert_eq!(kept(&run(machine)), kept(&traced), "{machine}");
            assert_eq!(traced.console, run(&std::format!("{machine} trace_kib=4096")).console, "{machine}");
            assert!(!run(machine).console.contains("@trace"));
        }
    }

    #[test]
    fn every_rank_is_traced_and_spans_nest() {
        for cores in [1, 2, 3, 5, 16, 47] {
            let simulation = run(&std::format!("cores={cores} trace_kib=4096"));
            let records = records(&simulation);
            assert_eq!(records.len(), cores);
            for records in records.values() {
                assert_eq!(records[0], ["c", "1000000000000", "0"]);
                let mut inside: Vec<(usize, u64, u64)> = Vec::new();
                for (depth, begin, end) in records.iter().filter_map(|record| extent(record)) {
                    assert!(begin <= end);
                    // What was within this came before it, one level deeper.
                    while let Some(within) = inside.pop_if(|within| within.0 > depth) {
                        assert!(within.0 == depth + 1 && begin <= within.1 && within.2 <= end, "{within:?} in {depth}");
                    }
                    inside.push((depth, begin, end));
                }
                assert!(inside.iter().all(|span| span.0 == 0), "all is in something");
                let has = |name: &str| records.iter().any(|record| record[0] == "s" && record[6..].join(" ") == name);
                assert!(has("world") && has("program") && has("barrier") && has("broadcast"));
            }
        }
    }

    #[test]
    fn waits_name_places_that_somebody_stored_to() {
        let simulation = run("cores=5 trace_kib=4096");
        let records = records(&simulation);
        let stored = |rank: usize, key: u64, until: u64| {
            records.iter().filter(|(writer, _)| **writer != rank).any(|(_, records)| {
                let mut stores = records.iter().filter(|record| record[0] == "t");
                stores.any(|store| {
                    let (first, count): (_, u64) = (key_of(store), store[2].parse().unwrap());
                    (first..first + count).contains(&key) && store[5].parse::<u64>().unwrap() <= until
                })
            })
        };
        let mut waits = 0;
        for (rank, records) in &records {
            let mut places = Vec::new();
            for record in records {
                match record[0] {
                    "p" => places.push(key_of(record)),
                    "w" => {
                        let until = record[3].parse().unwrap();
                        let is_register = |place: &u64| place >> 62 == 1;
                        let has_failed = record[5] != "0";
                        let ended = places.iter().any(|place| stored(*rank, *place, until));
                        assert!(ended || !has_failed && places.iter().all(is_register), "{record:?}");
                        places.clear();
                        waits += 1;
                    }
                    _ => {}
                }
            }
        }
        assert!(waits > 40, "{waits}");
    }

    fn key_of(record: &[&str]) -> u64 {
        u64::from_str_radix(record[1], 16).unwrap()
    }

    #[test]
    fn a_small_trace_says_what_it_lost() {
        let simulation = run("cores=2 trace_kib=1");
        let records = records(&simulation);
        assert!(records.values().all(|records| records[0][2] != "0" && records.len() < 40));
        // The end of the program is what is kept.
        assert!(records.values().all(|records| records.last().unwrap().last() == Some(&"program")));
        for wrong in ["x", "-1", "1048577", "99999999999999999"] {
            let refused = simulate::<Only<Busy>>(&std::format!("cores=2 trace_kib={wrong}"), &[]);
            let message = std::format!("option `trace_kib={wrong}`");
            assert!(!refused.success && refused.console.contains(&message), "{}", refused.console);
        }
    }
}
