//! What benches have measured, for those who ask for the rows of several: each bench runs once on each machine, when it
//! is first asked for.

use super::{Machine, Rows, find, measure, setting::Setting};
use anyhow::{Context, Result, anyhow};
use std::{collections::HashMap, time::Duration};

/// Rows by bench and machine, all of this process's own runs, or why there are none: what has failed fails again.
pub(crate) struct Evidence {
    limit: Duration,
    measured: HashMap<(&'static str, String), Result<Rows, String>>,
}

impl Evidence {
    /// Nothing yet; each run of a bench may take this long.
    pub(crate) fn new(limit: Duration) -> Self {
        Self { limit, measured: HashMap::new() }
    }

    /// The rows of a bench on all cores of a simulated machine, as `cargo xtask bench BENCH --machine MACHINE` would
    /// measure them, but for the runs on the emulated board: what papers publish is compared with the simulator.
    pub(crate) fn rows(&mut self, bench: &str, machine: &str) -> Result<&Rows> {
        let bench = find(bench)?;
        let key = (bench.name, machine.to_owned());
        if !self.measured.contains_key(&key) {
            let machine: Machine = machine.parse()?;
            // Nothing is installed for a simulation.
            let (cores, yes) = (machine.default_cores(), false);
            let setting =
                Setting { machine: &machine, cores, words: &[], limit: self.limit, board: false, yes, flame: None };
            let rows = measure(bench, &setting).with_context(|| format!("bench {}", bench.name));
            self.measured.insert(key.clone(), rows.map_err(|why| format!("{why:#}")));
        }
        self.measured[&key].as_ref().map_err(|why| anyhow!(why.clone()))
    }
}
