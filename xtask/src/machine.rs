//! Names of simulated machines.

use anyhow::{Result, anyhow, bail, ensure};
use std::{fmt, num::NonZero};

/// The kernel's limit; a simulation with more would only be refused after it was built.
pub(crate) const MOST_CORES: u32 = 4096;

/// A machine the simulator can be: `NAME[+contention][+flat][+domains=D]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Machine {
    pub(crate) kind: Kind,
    /// What is modelled besides.
    pub(crate) variant: Variant,
}

/// What a machine's name begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The Intel SCC, 6×4 tiles with 2 cores, widened when more cores are asked for.
    Scc,
    /// The same with software costs that are fitted to published times.
    SccCalibrated,
    /// A mesh of tiles.
    Mesh { width: u32, height: u32, cores_per_tile: u32 },
    /// The cluster of the scalable-barriers paper, with its FPGA or with the ASIC that it predicts; nodes and cores of
    /// each, unless they are the paper's 64 and 16.
    Cluster { asic: bool, nodes: Option<(u32, u32)> },
}

/// Nodes of the paper's cluster, and cores of each.
const NODES: (u32, u32) = (64, 16);

const FPGA: &str = "cluster-fpga";
const ASIC: &str = "cluster-asic";

/// What a machine's name may end with, each once and in any order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Variant {
    /// `+contention`: ports and links are occupied.
    contention: bool,
    /// `+flat`: all distances are one.
    flat: bool,
    /// `+domains=D`: so many coherence domains of neighbouring cores.
    domains: Option<NonZero<u16>>,
}

impl Variant {
    const CONTENTION: &'static str = "contention";
    const FLAT: &'static str = "flat";
    const DOMAINS: &'static str = "domains=";

    /// Whether there is no suffix.
    pub(crate) fn is_plain(self) -> bool {
        self == Self::default()
    }

    fn of<'s>(suffixes: impl Iterator<Item = &'s str>) -> Result<Self> {
        let mut variant = Self::default();
        for suffix in suffixes {
            if let Some(domains) = suffix.strip_prefix(Self::DOMAINS) {
                let domains = domains
                    .parse()
                    .map_err(|_| anyhow!("`+{suffix}`: a machine has 1 to {} coherence domains", u16::MAX))?;
                ensure!(variant.domains.is_none(), "`+{suffix}` is there after another number of domains");
                variant.domains = Some(domains);
                continue;
            }
            let flag = match suffix {
                Self::CONTENTION => &mut variant.contention,
                Self::FLAT => &mut variant.flat,
                _ => bail!("`+{suffix}` is no suffix of a machine; there are `+contention`, `+flat` and `+domains=D`"),
            };
            ensure!(!*flag, "`+{suffix}` is there twice; a machine has `+contention` and `+flat` at most once each");
            *flag = true;
        }
        Ok(variant)
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (is_there, suffix) in [(self.contention, Self::CONTENTION), (self.flat, Self::FLAT)] {
            if is_there {
                write!(out, "+{suffix}")?;
            }
        }
        if let Some(domains) = self.domains {
            write!(out, "+{}{domains}", Self::DOMAINS)?;
        }
        Ok(())
    }
}

impl std::str::FromStr for Variant {
    type Err = anyhow::Error;

    /// Reads suffixes alone, each with its `+`.
    fn from_str(text: &str) -> Result<Self> {
        let mut parts = text.split('+');
        ensure!(parts.next() == Some(""), "`{text}` has to begin with `+`");
        Self::of(parts)
    }
}

impl Machine {
    /// The SCC as it is by default.
    pub(crate) const SCC: Self =
        Self { kind: Kind::Scc, variant: Variant { contention: false, flat: false, domains: None } };

    /// Number of cores when the user names none.
    pub(crate) fn default_cores(&self) -> u32 {
        match self.kind {
            Kind::Scc | Kind::SccCalibrated => 48,
            Kind::Mesh { width, height, cores_per_tile } => width * height * cores_per_tile,
            Kind::Cluster { nodes, .. } => {
                let (nodes, cores) = nodes.unwrap_or(NODES);
                nodes * cores
            }
        }
    }

    /// Whether it is the SCC, which grows where more cores are asked for.
    pub(crate) fn is_scc(&self) -> bool {
        matches!(self.kind, Kind::Scc | Kind::SccCalibrated)
    }

    /// Its name without the number of cores: machines of one family differ in nothing else.
    pub(crate) fn family(&self) -> String {
        let name = self.to_string();
        format!("{}{}", name.split([':', '+']).next().unwrap_or_default(), self.variant)
    }

    /// The same machine with this suffix.
    pub(crate) fn with_variant(&self, variant: Variant) -> Self {
        Self { variant, ..self.clone() }
    }

    /// The same machine in so many coherence domains, if a number is given.
    ///
    /// # Errors
    ///
    /// When its name gives another number, or it is a cluster, whose nodes are its domains.
    pub(crate) fn with_domains(mut self, domains: Option<NonZero<u16>>) -> Result<Self> {
        if let Some(domains) = domains {
            ensure!(
                !matches!(self.kind, Kind::Cluster { .. }),
                "--domains {domains} is for meshes; each node of {self} is a coherence domain"
            );
            let named = self.variant.domains.replace(domains);
            ensure!(named.is_none_or(|named| named == domains), "--domains {domains} contradicts the machine's name");
        }
        Ok(self)
    }

    /// Checks a number of cores against the machine.
    ///
    /// # Errors
    ///
    /// When the machine has fewer, or more coherence domains.
    pub(crate) fn check(&self, cores: u32) -> Result<()> {
        ensure!((1..=MOST_CORES).contains(&cores), "the simulator takes 1 to {MOST_CORES} cores, not {cores}");
        if !self.is_scc() {
            ensure!(cores <= self.default_cores(), "{self} has only {} cores, not {cores}", self.default_cores());
        }
        check_domains(self.variant.domains, cores)?;
        Ok(())
    }
}

/// A number of coherence domains on the command line.
///
/// # Errors
///
/// When it is none.
pub(crate) fn domains(text: &str) -> Result<NonZero<u16>> {
    text.parse().map_err(|_| anyhow!("`{text}` is not a number of coherence domains from 1 to {}", u16::MAX))
}

/// Checks a number of coherence domains.
///
/// # Errors
///
/// When there are fewer cores.
pub(crate) fn check_domains(domains: Option<NonZero<u16>>, cores: u32) -> Result<()> {
    if let Some(domains) = domains {
        let (count, cores_of) = (domains.get(), crate::cores::cores(cores));
        ensure!(u32::from(count) <= cores, "{cores_of} cannot be {count} coherence domains");
    }
    Ok(())
}

impl fmt::Display for Machine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Scc => out.write_str("scc")?,
            Kind::SccCalibrated => out.write_str("scc-calibrated")?,
            Kind::Mesh { width, height, cores_per_tile } => write!(out, "mesh:{width}x{height}x{cores_per_tile}")?,
            Kind::Cluster { asic, nodes } => {
                out.write_str(if *asic { ASIC } else { FPGA })?;
                if let Some((nodes, cores)) = nodes {
                    write!(out, ":{nodes}x{cores}")?;
                }
            }
        }
        self.variant.fmt(out)
    }
}

impl std::str::FromStr for Machine {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut parts = text.split('+');
        let kind = parts.next().unwrap_or_default().parse()?;
        let variant = Variant::of(parts)?;
        ensure!(
            variant.is_plain() || !matches!(kind, Kind::Cluster { .. }),
            "`{text}`: suffixes are for meshes; the engines of clusters are always occupied, and each node is a coherence domain"
        );
        Ok(Self { kind, variant })
    }
}

impl std::str::FromStr for Kind {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "scc" => return Ok(Self::Scc),
            "scc-calibrated" => return Ok(Self::SccCalibrated),
            _ => {}
        }
        if let Some(cluster) = cluster(text)? {
            return Ok(cluster);
        }
        let sides = text
            .strip_prefix("mesh:")
            .map(|sides| sides.split('x').map(str::parse::<u32>).collect::<Result<Vec<_>, _>>());
        let Some(Ok(sides)) = sides else {
            bail!(
                "`{text}` is no machine; there are `scc`, `scc-calibrated` and `mesh:WxHxC` (tiles wide, tiles high, cores per tile), \
                 each with `+contention`, `+flat` and `+domains=D` behind it or not, and `cluster-fpga[:NxC]` and \
                 `cluster-asic[:NxC]` (nodes, cores of each)"
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

/// The cluster of this name, if it is one.
fn cluster(text: &str) -> Result<Option<Kind>> {
    let (name, sides) = text.split_once(':').map_or((text, None), |(name, sides)| (name, Some(sides)));
    if name != FPGA && name != ASIC {
        return Ok(None);
    }
    let nodes = sides.map(|sides| {
        let (nodes, cores) = sides.split_once('x')?;
        let (nodes, cores) = (nodes.parse::<u32>().ok()?, cores.parse::<u32>().ok()?);
        (1..=MOST_CORES).contains(&nodes.checked_mul(cores)?).then_some((nodes, cores))
    });
    ensure!(
        nodes != Some(None),
        "`{text}` needs two numbers, {name}:NxC (nodes, cores of each), of 1 to {MOST_CORES} cores"
    );
    Ok(Some(Kind::Cluster { asic: name == ASIC, nodes: nodes.flatten() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines() {
        let mesh: Machine = "mesh:64x32x2".parse().unwrap();
        assert_eq!(mesh.kind, Kind::Mesh { width: 64, height: 32, cores_per_tile: 2 });
        assert_eq!((mesh.default_cores(), mesh.to_string().as_str()), (4096, "mesh:64x32x2"));
        assert_eq!(Machine::SCC, "scc".parse().unwrap());
        for name in ["scc", "scc-calibrated", "scc+contention", "scc-calibrated+flat", "scc+contention+flat"] {
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
            "scc+",
            "scc+flats",
            "+flat",
            "scc+flat+flat",
            "scc+domains",
            "scc+domains=0",
            "scc+domains=x",
            "scc+domains=65536",
            "scc+domains=2+domains=2",
            "scc +flat",
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
        assert!(Machine::SCC.check(4096).is_ok() && Machine::SCC.check(4097).is_err());
    }

    #[test]
    fn clusters() {
        for (name, cores) in
            [("cluster-fpga", 1024), ("cluster-asic", 1024), ("cluster-fpga:8x8", 64), ("cluster-asic:4096x1", 4096)]
        {
            let machine: Machine = name.parse().unwrap();
            assert_eq!((machine.default_cores(), machine.to_string().as_str()), (cores, name));
            assert!(machine.check(cores).is_ok() && machine.check(cores + 1).is_err());
        }
        for text in [
            "cluster-fpga:",
            "cluster-fpga:8",
            "cluster-asic:8x",
            "cluster-fpga:0x3",
            "cluster-fpga:4097x1",
            "cluster-asic:2x2x2",
            "cluster-fpga+flat",
            "cluster-fpga:4x4+domains=2",
            "cluster",
        ] {
            let message = text.parse::<Machine>().expect_err(text).to_string();
            assert!(!message.contains('\n') && message.contains("cluster"), "{message}");
        }
    }

    #[test]
    fn families_are_of_any_number_of_cores() {
        let family = |name: &str| name.parse::<Machine>().unwrap().family();
        assert_eq!(["scc", "mesh:4x4x2", "mesh:2x2x2+flat"].map(family), ["scc", "mesh", "mesh+flat"]);
        assert_eq!(["cluster-asic", "cluster-asic:8x8"].map(family), ["cluster-asic"; 2]);
    }

    #[test]
    fn suffixes() {
        let machine: Machine = "mesh:4x4x2+flat+contention".parse().unwrap();
        assert_eq!(machine.to_string(), "mesh:4x4x2+contention+flat");
        assert!(!machine.variant.is_plain() && Machine::SCC.variant.is_plain());
        let contention: Variant = "+contention".parse().unwrap();
        assert_eq!(Machine::SCC.with_variant(contention).to_string(), "scc+contention");
        let domains: Machine = "scc+domains=4+flat".parse().unwrap();
        assert_eq!(domains.to_string(), "scc+flat+domains=4");
        assert!(domains.check(4).is_ok() && domains.check(3).is_err());
        let two = NonZero::new(2);
        assert_eq!(Machine::SCC.with_domains(two).unwrap().to_string(), "scc+domains=2");
        assert!(domains.clone().with_domains(two).is_err() && domains.with_domains(NonZero::new(4)).is_ok());
        let cluster: Machine = "cluster-fpga:4x4".parse().unwrap();
        assert!(cluster.clone().with_domains(two).is_err() && cluster.with_domains(None).is_ok());
        assert!(super::domains("48").is_ok());
        for text in ["0", "x", "65536"] {
            let message = super::domains(text).expect_err(text).to_string();
            assert!(message.contains("coherence domains"), "{message}");
        }
        for text in ["contention", "+", "+x", "+flat+flat"] {
            assert!(text.parse::<Variant>().is_err(), "{text}");
        }
    }
}
