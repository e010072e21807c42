//! Names of simulated machines.

use anyhow::{Result, bail, ensure};
use std::fmt;

/// The kernel's limit; a simulation with more would only be refused after it was built.
pub(crate) const MOST_CORES: u32 = 4096;

/// A machine the simulator can be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Machine {
    /// The Intel SCC, 6×4 tiles with 2 cores, widened when more cores are asked for.
    Scc,
    /// The same with software costs that are fitted to published times.
    SccCalibrated,
    /// A mesh of tiles.
    Mesh { width: u32, height: u32, cores_per_tile: u32 },
}

impl Machine {
    /// Number of cores when the user names none.
    pub(crate) fn default_cores(&self) -> u32 {
        match self {
            Self::Scc | Self::SccCalibrated => 48,
            Self::Mesh { width, height, cores_per_tile } => width * height * cores_per_tile,
        }
    }

    /// Checks a number of cores against the machine.
    ///
    /// # Errors
    ///
    /// When the machine has fewer.
    pub(crate) fn check(&self, cores: u32) -> Result<()> {
        ensure!((1..=MOST_CORES).contains(&cores), "the simulator takes 1 to {MOST_CORES} cores, not {cores}");
        if let Self::Mesh { .. } = self {
            ensure!(cores <= self.default_cores(), "{self} has only {} cores, not {cores}", self.default_cores());
        }
        Ok(())
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scc => out.write_str("scc"),
            Self::SccCalibrated => out.write_str("scc-calibrated"),
            Self::Mesh { width, height, cores_per_tile } => write!(out, "mesh:{width}x{height}x{cores_per_tile}"),
        }
    }
}

impl std::str::FromStr for Machine {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "scc" => return Ok(Self::Scc),
            "scc-calibrated" => return Ok(Self::SccCalibrated),
            _ => {}
        }
        let sides = text
            .strip_prefix("mesh:")
            .map(|sides| sides.split('x').map(str::parse::<u32>).collect::<Result<Vec<_>, _>>());
        let Some(Ok(sides)) = sides else {
            bail!(
                "`{text}` is no machine; there are `scc`, `scc-calibrated` and `mesh:WxHxC` (tiles wide, tiles high, cores per tile)"
            );
        };
        let [width, height, cores_per_tile] = sides[..] else {
            bail!("`{text}` needs three numbers: mesh:WxHxC (tiles wide, tiles high, cores per tile)");
        };
        let cores =
            u64::from(width).checked_mul(height.into()).and_then(|tiles| tiles.checked_mul(cores_per_tile.into()));
        ensure!(
            cores.is_some_and(|cores| (1..=u64::from(MOST_CORES)).contains(&cores)),
            "`{text}` has no core or more than {MOST_CORES}"
        );
        Ok(Self::Mesh { width, height, cores_per_tile })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines() {
        let mesh: Machine = "mesh:64x32x2".parse().unwrap();
        assert_eq!(mesh, Machine::Mesh { width: 64, height: 32, cores_per_tile: 2 });
        assert_eq!((mesh.default_cores(), mesh.to_string().as_str()), (4096, "mesh:64x32x2"));
        for name in ["scc", "scc-calibrated"] {
            let machine: Machine = name.parse().unwrap();
            assert_eq!((machine.default_cores(), machine.to_string().as_str()), (48, name));
        }
    }

    #[test]
    fn wrong_machines() {
        for text in [
            "",
            "SCC",
            "mesh",
            "mesh:",
            "mesh:4x4",
            "mesh:4x4x",
            "mesh:0x4x1",
            "mesh:4x4x2x1",
            "mesh:-1x2x3",
            "mesh:99999x99999x9",
            "scc:48",
        ] {
            let message = text.parse::<Machine>().expect_err(text).to_string();
            assert!(!message.contains('\n'), "{message}");
        }
        assert!("mesh:64x64x2".parse::<Machine>().unwrap_err().to_string().contains("4096"));
        assert!("mesh:4294967295x4294967295x4294967295".parse::<Machine>().is_err());
    }

    #[test]
    fn cores_must_fit() {
        let mesh: Machine = "mesh:2x2x2".parse().unwrap();
        assert!(mesh.check(8).is_ok() && mesh.check(9).is_err() && mesh.check(0).is_err());
        assert!(Machine::Scc.check(4096).is_ok() && Machine::Scc.check(4097).is_err());
    }
}
