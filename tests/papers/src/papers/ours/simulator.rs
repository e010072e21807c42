//! How fast the simulator itself is, and how much fits: host time, not virtual time. What a run costs is told by the
//! simulator's process when it is given `work=NAME`: accesses one by one, without polls that were skipped, and the time
//! for which the process had a processor. That depends on the host and on what else it does, so that the numbers differ
//! from run to run.

use crate::{
    bench::{Bench, Column, Machine, Missing, Rows, Samples, Setting, Sweep, on_scc},
    xtask,
};
use anyhow::Result;
use host::workspace;

/// Accesses in a second of the host's.
const RATE: &str = "accesses-per-second";

/// What is measured of a program in C, plain and under the checker: its own loads and stores, to memory that others reach.
const HEAT: [(&str, &str); 2] = [("sim", "heat"), ("check", "heat-checked")];

/// Its steps, each with five loads or stores of 2000 elements on each rank.
const HEAT_STEPS: u32 = 10;

/// The simulator's speed and size.
pub(crate) const SIMULATOR: Bench = Bench {
    name: "simulator",
    about: "what simulations cost the host: accesses per second, and memory, also under the coherence checker",
    runs: &[
        Sweep(
            "bench-broadcast",
            &[
                "work=broadcast-1mib {|machine=+contention|machine=scc priced} algorithm=oc-k7 sizes=1048576 modes=separated repetitions=1",
            ],
        ),
        // Under the coherence checker.
        Sweep(
            "bench-broadcast",
            &[
                "work=broadcast-1mib-checked check_coherence algorithm=oc-k7 sizes=1048576 modes=separated repetitions=1",
            ],
        ),
        Sweep("bench-barrier", &["work=barriers machine=mesh:64x32x2+ideal algorithm=default repetitions=20"]),
        Sweep(
            "bench-broadcast",
            &["work=short-broadcasts machine=mesh:64x32x2+ideal sizes=32,1024 modes=separated repetitions=2"],
        ),
    ],
    columns: &[
        Column("accesses", "accesses", 0),
        Column("skipped polls", "skipped-polls", 0),
        Column("host (us)", "host-us", 0),
        Column("accesses/s", RATE, 0),
        Column("peak (KiB)", "peak-kib", 0),
    ],
    measure: Some(measure),
    derive: |rows: &mut Rows| {
        rows.add_from_medians(RATE, None, &["accesses", "host-us"], |medians| {
            (medians[0] * 1e6 / medians[1].max(1.0)).round()
        });
    },
    claims: &[
        on_scc("OC-Bcast of 1 MiB on 48 cores: at least 5 million accesses in a second of one host core").at_least(
            5.0,
            "M/s",
            |rows| Ok(of(rows, "broadcast-1mib", RATE)? / 1e6),
        ),
        on_scc("the same with contention and everything priced: at least 2 million")
            .at_least(2.0, "M/s", |rows| Ok(of(rows, "broadcast-1mib@scc-priced", RATE)? / 1e6)),
        on_scc("two OC-Bcasts of 1 MiB on 48 cores, and checking what has come: less than 10 s").at_most(
            10.0,
            "s",
            |rows| seconds(rows, "broadcast-1mib"),
        ),
        on_scc("the same with contention").at_most(10.0, "s", |rows| seconds(rows, "broadcast-1mib+contention")),
        on_scc("the same under the coherence checker, in processor time of a plain run").at_most(
            10.0,
            "times",
            |rows| Ok(seconds(rows, "broadcast-1mib-checked")? / seconds(rows, "broadcast-1mib")?),
        ),
        on_scc("its memory, in that of a plain run").at_most(2.0, "times", |rows| {
            Ok(of(rows, "broadcast-1mib-checked", "peak-kib")? / of(rows, "broadcast-1mib", "peak-kib")?)
        }),
        on_scc(
            "a program in C that does little but load from and store to windows, under the coherence checker, likewise",
        )
        .at_most(20.0, "times", |rows| Ok(seconds(rows, "heat-checked")? / seconds(rows, "heat")?)),
        on_scc("barriers on 4096 cores: less than a minute")
            .at_most(60.0, "s", |rows| seconds(rows, "barriers@mesh+ideal")),
        on_scc("short broadcasts on 4096 cores: less than a minute")
            .at_most(60.0, "s", |rows| seconds(rows, "short-broadcasts@mesh+ideal")),
        on_scc("4096 cores fit in 4 GiB").at_most(4.0, "GiB", |rows| {
            let [barriers, broadcasts] =
                ["barriers@mesh+ideal", "short-broadcasts@mesh+ideal"].map(|name| of(rows, name, "peak-kib"));
            Ok(barriers?.max(broadcasts?) / f64::from(1 << 20))
        }),
    ],
    ..Bench::PLAIN
};

/// The runs that are listed, and those of the program in C.
fn measure(setting: &Setting<'_>) -> Result<Vec<Samples>> {
    let mut all = setting.run_all(&Bench { measure: None, ..SIMULATOR })?;
    let Machine::Simulated(machine) = setting.machine else { return Ok(all) };
    let source = workspace::root().join("tests/papers/src/papers/ours/simulator/heat.c");
    for (tool, name) in HEAT {
        let tool = [tool, &format!("--work={name}"), &format!("--machine={machine}")];
        all.extend(xtask::run_c(&tool, &source, setting.cores, &[HEAT_STEPS.to_string()], setting.limit)?.samples);
    }
    Ok(all)
}

fn of(rows: &Rows, name: &str, metric: &str) -> Result<f64, Missing> {
    rows.line(name, metric)?.at(0)
}

fn seconds(rows: &Rows, name: &str) -> Result<f64, Missing> {
    Ok(of(rows, name, "host-us")? / 1e6)
}
