//! Names of simulated machines.

use anyhow::{Result, anyhow, bail, ensure};
use machines::MachineFile;
use std::{fmt, num::NonZero, path::Path};

/// The kernel's limit; a simulation with more would only be refused after it was built.
pub const MOST_CORES: u32 = 4096;

/// A machine the simulator can be: `NAME[+contention][+flat][+domains=D]`, and other suffixes of [`Variant`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Which machine it is, without suffixes.
    pub kind: Kind,
    /// What is modelled besides.
    pub variant: Variant,
}

/// What a machine's name begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The Intel SCC, 6×4 tiles with 2 cores, widened when more cores are asked for.
    Scc,
    /// [`Scc`](Self::Scc) with software costs that are fitted to published times.
    SccCalibrated,
    /// A mesh of tiles.
    Mesh {
        /// Tiles wide.
        width: u32,
        /// Tiles high.
        height: u32,
        /// Cores of a tile.
        cores_per_tile: u32,
    },
    /// The cluster of the scalable-barriers paper, with its FPGA or with the ASIC that it predicts; nodes and cores of
    /// each, unless they are the paper's 64 and 16.
    Cluster {
        /// Whether it is the predicted one.
        asic: bool,
        /// Nodes, and cores of each.
        nodes: Option<(u32, u32)>,
    },
    /// Any other machine with a name.
    Named(Box<MachineFile>),
    /// The machine of the file at this path from the root.
    File {
        /// From the root.
        path: String,
        /// What the file says.
        machine: Box<MachineFile>,
    },
}

/// Nodes of the paper's cluster, and cores of each.
const NODES: (u32, u32) = (64, 16);

const FPGA: &str = "cluster-fpga";
const ASIC: &str = "cluster-asic";

/// What a machine's name may end with, each once and in any order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Variant {
    /// By the place in [`SWITCHES`].
    on: [bool; SWITCHES.len()],
    /// `+domains=D`: the number of coherence domains of neighbouring cores.
    domains: Option<NonZero<u16>>,
}

/// Suffixes that say nothing but that they are there, and whether they are for clusters and not for meshes: of accesses
/// to MPBs, packets on links, and accesses to memory controllers that wait for each other; all distances are one; a socket
/// of a cluster has as many loads under way as it has cores; its engines are never occupied.
const SWITCHES: [(&str, bool); 6] = [
    ("ports", false),
    ("links", false),
    ("controllers", false),
    ("flat", false),
    ("unlimited-loads", true),
    ("ideal-engines", true),
];

/// The first of them are [`Variant::CONTENTION`] together.
const KINDS_OF_CONTENTION: usize = 3;

impl Variant {
    /// `+contention`: accesses wait for each other wherever they meet.
    const CONTENTION: &'static str = "contention";
    const DOMAINS: &'static str = "domains=";
    const PLAIN: Self = Self { on: [false; SWITCHES.len()], domains: None };

    /// Whether there is no suffix.
    pub fn is_plain(self) -> bool {
        self == Self::PLAIN
    }

    fn of<'s>(suffixes: impl Iterator<Item = &'s str>) -> Result<Self> {
        let mut variant = Self::PLAIN;
        let mut seen = Vec::new();
        for suffix in suffixes {
            if let Some(domains) = suffix.strip_prefix(Self::DOMAINS) {
                let domains = domains
                    .parse()
                    .map_err(|_| anyhow!("`+{suffix}`: a machine has 1 to {} coherence domains", u16::MAX))?;
                ensure!(variant.domains.is_none(), "`+{suffix}` is there after another number of domains");
                variant.domains = Some(domains);
                continue;
            }
            ensure!(!seen.contains(&suffix), "`+{suffix}` is there twice; a machine has each suffix at most once");
            seen.push(suffix);
            match SWITCHES.iter().position(|(switch, _)| *switch == suffix) {
                Some(place) => variant.on[place] = true,
                None if suffix == Self::CONTENTION => variant.on[..KINDS_OF_CONTENTION].fill(true),
                None => bail!(
                    "`+{suffix}` is no suffix of a machine; there are, for meshes, `+contention` or any of `+ports`, `+links` and \
                     `+controllers`, `+flat` and `+domains=D`, and for clusters `+unlimited-loads` and `+ideal-engines`"
                ),
            }
        }
        Ok(variant)
    }

    /// Whether machines of the other shape have one of the suffixes, or of both shapes none.
    fn fits(self, is_cluster: bool) -> bool {
        let of_others = SWITCHES.iter().zip(self.on).any(|((_, of_clusters), on)| on && *of_clusters != is_cluster);
        !(of_others || is_cluster && self.domains.is_some())
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let everywhere = self.on[..KINDS_OF_CONTENTION].iter().all(|on| *on);
        if everywhere {
            write!(out, "+{}", Self::CONTENTION)?;
        }
        for ((suffix, _), on) in SWITCHES.iter().zip(self.on).skip(if everywhere { KINDS_OF_CONTENTION } else { 0 }) {
            if on {
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
    pub const SCC: Self = Self { kind: Kind::Scc, variant: Variant::PLAIN };

    /// Number of cores when the user names none.
    pub fn default_cores(&self) -> u32 {
        match &self.kind {
            Kind::Scc | Kind::SccCalibrated => 48,
            Kind::Mesh { width, height, cores_per_tile } => width * height * cores_per_tile,
            Kind::Cluster { nodes, .. } => {
                let (nodes, cores) = nodes.unwrap_or(NODES);
                nodes * cores
            }
            // At most 65535.
            Kind::Named(machine) | Kind::File { machine, .. } => machine.cores() as u32,
        }
    }

    fn is_cluster(&self) -> bool {
        match &self.kind {
            Kind::Scc | Kind::SccCalibrated | Kind::Mesh { .. } => false,
            Kind::Cluster { .. } => true,
            Kind::Named(machine) | Kind::File { machine, .. } => machine.is_cluster(),
        }
    }

    /// Whether it is the SCC, which grows where more cores are asked for.
    pub fn is_scc(&self) -> bool {
        matches!(self.kind, Kind::Scc | Kind::SccCalibrated)
    }

    /// Its name without the number of cores: machines of one family differ in nothing else.
    pub fn family(&self) -> String {
        let name = match &self.kind {
            Kind::File { path, .. } => path.clone(),
            kind => kind.to_string(),
        };
        let stem = Path::new(&name).file_stem().unwrap_or_default().to_string_lossy();
        format!("{}{}", stem.split(':').next().unwrap_or_default(), self.variant)
    }

    /// The same machine with this suffix, if machines of its shape have it.
    pub fn with_variant(&self, variant: Variant) -> Option<Self> {
        variant.fits(self.is_cluster()).then(|| Self { variant, ..self.clone() })
    }

    /// This machine in `domains` coherence domains, if a number is given.
    ///
    /// # Errors
    ///
    /// When its name gives another number, or it is a cluster, whose nodes are its domains.
    pub fn with_domains(mut self, domains: Option<NonZero<u16>>) -> Result<Self> {
        if let Some(domains) = domains {
            ensure!(!self.is_cluster(), "--domains {domains} is for meshes; each node of {self} is a coherence domain");
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
    pub fn check(&self, cores: u32) -> Result<()> {
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
pub fn domains(text: &str) -> Result<NonZero<u16>> {
    text.parse().map_err(|_| anyhow!("`{text}` is not a number of coherence domains from 1 to {}", u16::MAX))
}

/// Checks a number of coherence domains.
///
/// # Errors
///
/// When there are fewer cores.
pub fn check_domains(domains: Option<NonZero<u16>>, cores: u32) -> Result<()> {
    if let Some(domains) = domains {
        let (count, cores_of) = (domains.get(), crate::cores::cores(cores));
        ensure!(u32::from(count) <= cores, "{cores_of} cannot be {count} coherence domains");
    }
    Ok(())
}

impl fmt::Display for Machine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}{}", self.kind, self.variant)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scc => out.write_str("scc"),
            Self::SccCalibrated => out.write_str("scc-calibrated"),
            Self::Mesh { width, height, cores_per_tile } => write!(out, "mesh:{width}x{height}x{cores_per_tile}"),
            Self::Cluster { asic, nodes } => {
                out.write_str(if *asic { ASIC } else { FPGA })?;
                match nodes {
                    Some((nodes, cores)) => write!(out, ":{nodes}x{cores}"),
                    None => Ok(()),
                }
            }
            Self::Named(machine) => out.write_str(&machine.name),
            Self::File { path, .. } => out.write_str(path),
        }
    }
}

impl std::str::FromStr for Machine {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let (kind, suffixes) = machines::split(text);
        let machine = Self { kind: kind.parse()?, variant: Variant::of(suffixes.split('+').skip(1))? };
        if machine.is_cluster() {
            ensure!(
                machine.variant.fits(true),
                "`{text}`: of suffixes clusters have `+unlimited-loads` and `+ideal-engines`; their engines are occupied \
                 without these, and each node is a coherence domain"
            );
        }
        ensure!(machine.variant.fits(machine.is_cluster()), "`{text}`: that suffix is for clusters");
        Ok(machine)
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
        if let Some(machine) = MachineFile::built_in(text) {
            return Ok(Self::Named(Box::new(machine)));
        }
        if text.ends_with(machines::EXTENSION) {
            return file(text);
        }
        let sides = text
            .strip_prefix("mesh:")
            .map(|sides| sides.split('x').map(str::parse::<u32>).collect::<Result<Vec<_>, _>>());
        let Some(Ok(sides)) = sides else {
            bail!(
                "`{text}` is no machine; `cargo xtask machines` lists those with names, and there are `FILE.toml`, `mesh:WxHxC` (tiles \
                 wide, tiles high, cores per tile), and `cluster-fpga:NxC` and `cluster-asic:NxC` (nodes, cores of each)"
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

/// The machine of a file.
///
/// # Errors
///
/// When it describes none, or its path cannot be a word of a command line.
fn file(name: &str) -> Result<Kind> {
    let machine = MachineFile::read(Path::new(name))?;
    let path = std::path::absolute(name)?.display().to_string();
    ensure!(!path.contains(char::is_whitespace), "`{path}`: the path of a machine file cannot have spaces in it");
    Ok(Kind::File { path, machine: Box::new(machine) })
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
    fn machines_of_files() {
        for name in ["mesh-1024", "mesh-4096+contention", "mesh-1024+domains=4"] {
            let machine: Machine = name.parse().unwrap();
            assert_eq!((machine.to_string().as_str(), machine.is_scc()), (name, false));
            assert!(machine.default_cores() >= 1024 && machine.check(machine.default_cores()).is_ok());
        }
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("my+own.toml");
        std::fs::write(&path, "base = \"scc\"\n[layout]\nrows = 2").unwrap();
        let name = format!("{}+flat", path.display());
        let machine: Machine = name.parse().unwrap();
        assert_eq!((machine.default_cores(), machine.to_string(), machine.family()), (24, name, "my+own+flat".into()));
        assert!(machine.check(25).is_err());
        std::fs::write(&path, "base = \"scc\"\n[prices]\nhops_ps = 2").unwrap();
        let wrong = [path.display().to_string(), "/no/such/file.toml".into()];
        for (name, key) in wrong.iter().zip(["prices.hops_ps", "cannot read /no/such/file.toml"]) {
            let message = format!("{:#}", name.parse::<Machine>().expect_err(name));
            assert!(message.contains(key) && !message.contains('\n'), "{message}");
        }
        let spaced = directory.path().join("a b.toml");
        std::fs::write(&spaced, "base = \"scc\"").unwrap();
        assert!(spaced.display().to_string().parse::<Machine>().unwrap_err().to_string().contains("spaces"));
        assert!("abacus".parse::<Machine>().unwrap_err().to_string().contains("cargo xtask machines"));
    }

    #[test]
    fn each_contention_by_itself() {
        for name in ["scc+ports", "scc+links+flat", "scc+ports+controllers", "cluster-fpga:2x2+ideal-engines"] {
            assert_eq!(name.parse::<Machine>().unwrap().to_string(), name);
        }
        let all: Machine = "scc+links+controllers+ports".parse().unwrap();
        assert_eq!((all.to_string().as_str(), &all), ("scc+contention", &"scc+contention".parse().unwrap()));
        let both: Machine = "cluster-asic+ideal-engines+unlimited-loads".parse().unwrap();
        assert_eq!(
            (both.to_string().as_str(), both.default_cores()),
            ("cluster-asic+unlimited-loads+ideal-engines", 1024)
        );
        let links: Variant = "+links".parse().unwrap();
        assert_eq!((Machine::SCC.with_variant(links).is_some(), both.with_variant(links)), (true, None));
        for text in ["scc+ideal-engines", "scc+ports+ports", "cluster-fpga+links", "scc+port", "scc+contention=1"] {
            let message = text.parse::<Machine>().expect_err(text).to_string();
            assert!(!message.contains('\n'), "{message}");
        }
    }

    #[test]
    fn suffixes() {
        let machine: Machine = "mesh:4x4x2+flat+contention".parse().unwrap();
        assert_eq!(machine.to_string(), "mesh:4x4x2+contention+flat");
        assert!(!machine.variant.is_plain() && Machine::SCC.variant.is_plain());
        let contention: Variant = "+contention".parse().unwrap();
        assert_eq!(
            Machine::SCC.with_variant(contention).map(|machine| machine.to_string()),
            Some("scc+contention".into())
        );
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
