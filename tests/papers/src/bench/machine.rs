//! Where benches run.

use super::claims::On;
use anyhow::{Result, anyhow, ensure};
use host::{
    cores,
    machine::{self, Variant},
};
use std::{fmt, fs, thread};

/// What names of rows end with whose runs were on the emulated board, in benches of another machine.
pub(crate) const BOARD: &str = "@scc-board";

/// The machine on which papers are compared with: no access waits for another one. Where it does, benches say so.
pub(crate) const PAPERS_MACHINE: &str = "scc+ideal";

/// Where a bench can run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Machine {
    /// In the simulator, which has virtual time.
    Simulated(machine::Machine),
    /// In QEMU, whose clock counts instructions of all cores together: only counters mean anything.
    Qemu,
    /// On the emulated board with an SCC, which executes and prices each instruction.
    Board,
    /// On threads of the host, whose time is real.
    Threads(Memory),
}

/// What threads of the host have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Memory {
    /// Caches that are emulated.
    Cached,
    /// The host's memory as it is.
    Coherent,
    /// Caches that are emulated, above lines that are written back and invalidated by instructions.
    WriteBack,
}

impl Memory {
    const ALL: [Self; 3] = [Self::Cached, Self::Coherent, Self::WriteBack];

    /// What the name of the machine ends with.
    fn suffix(self) -> &'static str {
        match self {
            Self::Cached => "",
            Self::Coherent => "+coherent",
            Self::WriteBack => "+write-back",
        }
    }

    /// The option of `xtask run`.
    pub(crate) fn option(self) -> Option<&'static str> {
        match self {
            Self::Cached => None,
            Self::Coherent => Some("--coherent"),
            Self::WriteBack => Some("--write-back"),
        }
    }
}

impl Machine {
    pub(super) fn default_cores(&self) -> u32 {
        match self {
            Self::Simulated(machine) => machine.default_cores(),
            Self::Qemu | Self::Board => 48,
            Self::Threads(_) => processors() as u32,
        }
    }

    pub(super) fn check(&self, count: u32) -> Result<()> {
        match self {
            Self::Simulated(machine) => machine::check(machine, count),
            Self::Qemu | Self::Threads(_) => cores::number(&count.to_string()).map(drop),
            Self::Board => {
                ensure!((1..=48).contains(&count), "{count} cores: the board has 1 to 48");
                Ok(())
            }
        }
    }

    pub(super) fn has_time(&self) -> bool {
        !matches!(self, Self::Qemu)
    }

    /// Whether it is this host, so that what runs at the same time is in the way.
    pub(super) fn is_host(&self) -> bool {
        matches!(self, Self::Threads(_))
    }

    pub(super) fn is_no_scc(&self) -> bool {
        self.is_host() || matches!(self, Self::Simulated(machine) if !machine.is_scc())
    }

    /// Whether the user has chosen a variant of a machine, so that a bench does not. What benches choose from is a mesh as
    /// papers see it, `+ideal`.
    pub(super) fn is_variant(&self) -> bool {
        let Self::Simulated(machine) = self else { return false };
        if machine.is_cluster() { !machine.variant.is_plain() } else { machine.variant != Variant::IDEAL }
    }

    /// The machine of a run that asks for this variant; that of the user where he has chosen one himself. Nothing where
    /// there is no such variant, on a cluster and under QEMU.
    pub(super) fn with_variant(&self, variant: Variant) -> Option<Self> {
        match self {
            _ if variant.is_plain() || self.is_variant() => Some(self.clone()),
            Self::Simulated(machine) => machine.with_variant(machine.variant.with(variant)).map(Self::Simulated),
            Self::Qemu | Self::Board | Self::Threads(_) => None,
        }
    }

    pub(super) fn is_in(&self, on: On) -> bool {
        match on {
            On::Every => true,
            On::VirtualTime => matches!(self, Self::Simulated(_)),
            On::Scc => self.is_in(On::VirtualTime) && !self.is_no_scc() && !self.is_variant(),
        }
    }
}

impl Default for Machine {
    fn default() -> Self {
        Self::Simulated(machine::Machine { variant: Variant::IDEAL, ..machine::Machine::SCC })
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Simulated(machine) => machine.fmt(out),
            Self::Qemu => out.write_str("qemu"),
            Self::Board => out.write_str("scc-board"),
            Self::Threads(memory) => write!(out, "threads{}", memory.suffix()),
        }
    }
}

impl std::str::FromStr for Machine {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let of_threads = |memory: &Memory| text.strip_prefix("threads") == Some(memory.suffix());
        if let Some(memory) = Memory::ALL.into_iter().find(of_threads) {
            return Ok(Self::Threads(memory));
        }
        match text {
            "qemu" => Ok(Self::Qemu),
            "scc-board" => Ok(Self::Board),
            text => text.parse().map(Self::Simulated).map_err(|why| anyhow!("{why} (or `qemu`, or `threads`)")),
        }
    }
}

/// Processors of this host.
pub(crate) fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// This host, in a line: the model of its processors, their number, and how many programs have wanted one during the last
/// minute.
pub(super) fn host_name() -> String {
    let read = |file: &str| fs::read_to_string(file).unwrap_or_default();
    let cpus = read("/proc/cpuinfo");
    let model = cpus.lines().find_map(|line| Some(line.strip_prefix("model name")?.split_once(": ")?.1));
    let load = read("/proc/loadavg");
    let load = load.split(' ').next().filter(|load| !load.is_empty());
    let load = load.map_or(String::new(), |load| format!(", load average {load}"));
    let count = processors();
    let processors = if count == 1 { "processor" } else { "processors" };
    format!("host: {}, {count} {processors}{load}", model.unwrap_or("a processor whose model is not told"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines() {
        for name in [
            "scc",
            "scc-calibrated",
            "mesh:8x8x2",
            "scc+contention",
            "qemu",
            "scc-board",
            "threads",
            "threads+coherent",
            "threads+write-back",
        ] {
            assert_eq!(name.parse::<Machine>().unwrap().to_string(), name);
        }
        assert_eq!(Machine::default(), "scc+ideal".parse().unwrap());
        let message = format!("{:#}", "abacus".parse::<Machine>().unwrap_err());
        assert!(
            message.contains("`qemu`") && message.contains("`threads`") && message.contains("mesh:WxHxC"),
            "{message}"
        );
        let is_in =
            |name: &str| [On::Every, On::VirtualTime, On::Scc].map(|on| name.parse::<Machine>().unwrap().is_in(on));
        assert_eq!(is_in("scc-calibrated+ideal"), [true, true, true]);
        assert_eq!(["mesh:8x8x2", "scc", "scc+ideal+flat"].map(is_in), [[true, true, false]; 3]);
        assert_eq!(["qemu", "scc-board", "threads"].map(is_in), [[true, false, false]; 3]);
        assert!(
            Machine::Qemu.check(255).is_ok() && Machine::Qemu.check(256).is_err() && Machine::Qemu.check(0).is_err()
        );
    }

    #[test]
    fn a_run_may_ask_for_a_variant() {
        let with = |name: &str, variant: &str| {
            let machine: Machine = name.parse().unwrap();
            machine.with_variant(variant.parse().unwrap()).map(|machine| machine.to_string())
        };
        assert_eq!(with("scc+ideal", "+contention").unwrap(), "scc+contention");
        assert_eq!(with("scc+ideal", "+flat").unwrap(), "scc+ideal+flat");
        assert_eq!(with("mesh:2x2x2+ideal", "+flat+contention").unwrap(), "mesh:2x2x2+contention+flat");
        assert_eq!(
            [with("scc+flat", "+contention"), with("scc", "+flat")],
            ["scc+flat", "scc"].map(|name| Some(name.into()))
        );
        assert_eq!([with("qemu", "+contention"), with("cluster-fpga", "+contention")], [None, None]);
        assert_eq!(Machine::Qemu.with_variant(Variant::default()), Some(Machine::Qemu));
    }

    #[test]
    fn the_host_is_named() {
        let name = host_name();
        assert!(name.starts_with("host: ") && name.contains(" processor") && !name.contains('\n'), "{name}");
    }
}
