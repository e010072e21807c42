//! What calls take with their instructions: the simulator's time, which has accesses in it and no instructions, and what the
//! board executes on the critical path, an instruction a cycle. What the emulated board says where it keeps time is not in here.

use crate::bench::{Missing, Rows, table};

/// Clock of a core of the SCC, in cycles of a microsecond.
const CORE_MHZ: f64 = 533.0;

/// What the algorithms of rows end with that are the simulator's.
const SIMULATED: &str = "@scc+ideal";

/// Ranks of a barrier or broadcast.
const RANKS: u64 = 48;

/// Bytes of the broadcast.
const BYTES: u64 = 28;

/// A call, whose time is that of its accesses and that of its instructions.
#[derive(Clone, Copy)]
pub(super) struct Call {
    name: &'static str,
    /// Algorithm, metric, parameter and bytes of the simulator's time.
    accesses: (&'static str, &'static str, u64, u64),
    /// Algorithm and parameter of the instructions, and the metrics of those that execute them one after the other. What
    /// some of them do at the same time counts for each.
    instructions: (&'static str, u64, &'static [&'static str]),
}

/// An origin's empty epoch.
const fn epoch(name: &'static str, class: &'static str, algorithm: &'static str, targets: u64) -> Call {
    Call { name, accesses: (class, "origin", targets, 0), instructions: (algorithm, targets, &["origin"]) }
}

const fn barrier(name: &'static str, of: &'static str, algorithm: &'static str, path: &'static [&'static str]) -> Call {
    Call { name, accesses: (of, "latency", RANKS, 0), instructions: (algorithm, 0, path) }
}

const fn broadcast(
    name: &'static str,
    of: &'static str,
    algorithm: &'static str,
    path: &'static [&'static str],
) -> Call {
    Call { name, accesses: (of, "latency", 0, BYTES), instructions: (algorithm, 0, path) }
}

pub(super) const EPOCHS: [[Call; 2]; 2] = [
    [
        epoch("PSCW, 13 targets: default", "default", "pscw-default", 13),
        epoch("PSCW, 13 targets: scosco", "scosco", "pscw-scosco", 13),
    ],
    [
        epoch("PSCW, 31 targets: default", "default", "pscw-default", 31),
        epoch("PSCW, 31 targets: scosco", "scosco", "pscw-scosco", 31),
    ],
];

/// From the last leaf to the root, and down again.
const TREE: &[&str] = &["others", "inner", "root"];

pub(super) const BARRIER: Call = barrier("barrier: default", "default", "barrier-default", TREE);
pub(super) const DISSEMINATION: Call =
    barrier("barrier: dissemination", "dissemination", "barrier-dissemination", &["others"]);
pub(super) const RCCE: Call =
    barrier("barrier: rcce-linear", "rcce-linear", "barrier-rcce-linear", &["others", "root"]);

pub(super) const BROADCAST: Call =
    broadcast("broadcast of 28 B: default", "default", "broadcast-default", &["root", "others"]);
pub(super) const OC_BCAST: Call = broadcast("broadcast of 28 B: oc-k7", "oc-k7", "broadcast-oc-k7", TREE);

impl Call {
    /// Microseconds of accesses, as the simulator has them.
    fn accesses_us(&self, rows: &Rows) -> Result<f64, Missing> {
        let (algorithm, metric, param, bytes) = self.accesses;
        rows.median(&format!("{algorithm}{SIMULATED}"), metric, param, bytes)
    }

    /// Instructions, one after the other.
    fn instructions(&self, rows: &Rows) -> Result<f64, Missing> {
        let (algorithm, param, path) = self.instructions;
        path.iter().map(|metric| rows.line(algorithm, metric)?.at(param)).sum()
    }

    /// Microseconds of both.
    pub(super) fn time_us(&self, rows: &Rows) -> Result<f64, Missing> {
        Ok(self.accesses_us(rows)? + self.instructions(rows)? / CORE_MHZ)
    }

    /// How many times as long another call takes.
    pub(super) fn times_under(&self, other: &Self, rows: &Rows) -> Result<f64, Missing> {
        Ok(other.time_us(rows)? / self.time_us(rows)?)
    }
}

/// Adds what the simulator's rows are asked for.
pub(super) fn derive(rows: &mut Rows) {
    rows.add_sum_of_medians("origin", &["start", "complete"]);
}

/// What each call takes by either model.
pub(super) fn report(rows: &Rows) -> String {
    let [thirteen, thirty_one] = EPOCHS;
    let calls =
        [thirteen[0], thirteen[1], thirty_one[0], thirty_one[1], BARRIER, DISSEMINATION, RCCE, BROADCAST, OC_BCAST];
    let shown = |value: Result<f64, Missing>, digits: usize| {
        value.map_or_else(|Missing| "-".to_owned(), |value| format!("{value:.digits$}"))
    };
    let line = |call: &Call| {
        let instructions = shown(call.instructions(rows), 0);
        vec![call.name.to_owned(), shown(call.accesses_us(rows), 2), instructions, shown(call.time_us(rows), 2)]
    };
    let title = ["call", "accesses only, us", "instructions", "with instructions, us"];
    table::aligned(&title, calls.iter().map(line), |column| column > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::testing::sample;

    #[test]
    fn time_is_that_of_accesses_and_of_instructions() {
        let mut rows = Rows::pool([
            sample("default@scc+ideal", [48, 13, 0], "start ns", 100),
            sample("default@scc+ideal", [48, 13, 0], "complete ns", 900),
            sample("pscw-default", [48, 13, 0], "origin count", 533),
            sample("default@scc+ideal", [48, 48, 0], "latency ns", 1000),
            sample("barrier-default", [48, 0, 0], "others count", 100),
            sample("barrier-default", [48, 0, 0], "inner count", 133),
            sample("barrier-default", [48, 0, 0], "root count", 300),
        ]);
        derive(&mut rows);
        let [epoch, _] = EPOCHS[0];
        assert_eq!((epoch.time_us(&rows), BARRIER.time_us(&rows)), (Ok(2.0), Ok(2.0)));
        assert_eq!((RCCE.time_us(&rows), epoch.times_under(&BARRIER, &rows)), (Err(Missing), Ok(1.0)));
        let table = report(&rows);
        assert!(table.contains("1.00") && table.contains("533") && table.contains("2.00"), "{table}");
    }
}
