//! How fast the simulator itself is, and how much fits: host time, not virtual time. What a run costs is told by the
//! simulator's process when it is given `work=NAME`: accesses one by one, without polls that were skipped, and the time
//! for which the process had a processor. That depends on the host and on what else it does, so that the numbers differ
//! from run to run.

use crate::bench::{Bench, Claim, Column, Finding, On, Rows, Run};

/// Accesses in a second of the host's.
const RATE: &str = "accesses-per-second";

/// The simulator's speed and size.
pub(crate) const SIMULATOR: Bench = Bench {
    name: "simulator",
    about: "what simulations cost the host: accesses per second, and memory",
    runs: &[
        Run {
            program: "bench-broadcast",
            words: &["work=broadcast-1mib", "algorithm=oc-k7", "sizes=1048576", "modes=separated", "repetitions=1"],
        },
        Run {
            program: "bench-broadcast",
            words: &[
                "work=broadcast-1mib",
                "machine=+contention",
                "algorithm=oc-k7",
                "sizes=1048576",
                "modes=separated",
                "repetitions=1",
            ],
        },
        Run {
            program: "bench-barrier",
            words: &["work=barriers", "machine=mesh:64x32x2", "algorithm=default", "repetitions=20"],
        },
        Run {
            program: "bench-broadcast",
            words: &[
                "work=short-broadcasts",
                "machine=mesh:64x32x2",
                "sizes=32,1024",
                "modes=separated",
                "repetitions=2",
            ],
        },
    ],
    columns: &[
        Column { title: "accesses", metric: "accesses", bytes: 0 },
        Column { title: "skipped polls", metric: "skipped-polls", bytes: 0 },
        Column { title: "host (us)", metric: "host-us", bytes: 0 },
        Column { title: "accesses/s", metric: RATE, bytes: 0 },
        Column { title: "peak (KiB)", metric: "peak-kib", bytes: 0 },
    ],
    derive: |rows: &mut Rows| {
        rows.add_from_medians(RATE, None, &["accesses", "host-us"], |medians| {
            (medians[0] * 1e6 / medians[1].max(1.0)).round()
        });
    },
    claims: &[
        Claim {
            text: "OC-Bcast of 1 MiB on 48 cores: at least 5 million accesses in a second of one host core",
            on: On::Scc,
            check: |rows| Ok(Finding::at_least(rows.line("broadcast-1mib", RATE)?.at(0)? / 1e6, 5.0, "M/s")),
        },
        Claim {
            text: "two OC-Bcasts of 1 MiB on 48 cores, and checking what has come: less than 10 s",
            on: On::Scc,
            check: |rows| Ok(Finding::at_most(rows.line("broadcast-1mib", "host-us")?.at(0)? / 1e6, 10.0, "s")),
        },
        Claim {
            text: "the same with contention",
            on: On::Scc,
            check: |rows| {
                Ok(Finding::at_most(rows.line("broadcast-1mib+contention", "host-us")?.at(0)? / 1e6, 10.0, "s"))
            },
        },
        Claim {
            text: "barriers on 4096 cores: less than a minute",
            on: On::Scc,
            check: |rows| Ok(Finding::at_most(rows.line("barriers@mesh", "host-us")?.at(0)? / 1e6, 60.0, "s")),
        },
        Claim {
            text: "short broadcasts on 4096 cores: less than a minute",
            on: On::Scc,
            check: |rows| Ok(Finding::at_most(rows.line("short-broadcasts@mesh", "host-us")?.at(0)? / 1e6, 60.0, "s")),
        },
        Claim {
            text: "4096 cores fit in 4 GiB",
            on: On::Scc,
            check: |rows| {
                let peaks = ["barriers@mesh", "short-broadcasts@mesh"].map(|name| rows.line(name, "peak-kib")?.at(0));
                let [barriers, broadcasts] = peaks;
                Ok(Finding::at_most(barriers?.max(broadcasts?) / f64::from(1 << 20), 4.0, "GiB"))
            },
        },
    ],
    ..Bench::PLAIN
};
