//! Names of machines: `NAME[:SHAPE][+FEATURE…]`, read and written.

use super::{MOST_CORES, MachineFile};
use crate::{EXTENSION, Error};
use std::{fmt, num::NonZero, path::Path, str::FromStr};

/// A machine the simulator can be, by its name: a file with a name, `FILE.toml`, `mesh:WxHxC` for W × H tiles of C cores
/// at the prices of the SCC, or `cluster-fpga` or `cluster-asic` with `:NxC` behind it for N nodes of C cores; and behind
/// it the suffixes of a [`Variant`].
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
    /// [`Scc`](Self::Scc) with a software cost that is fitted to published times.
    SccCalibrated,
    /// A mesh of tiles.
    Mesh {
        /// Tiles wide.
        width: u16,
        /// Tiles high.
        height: u16,
        /// Cores of a tile.
        cores_per_tile: u16,
    },
    /// The cluster of the scalable-barriers paper, with its FPGA or with the ASIC that it predicts; nodes and cores of
    /// each, unless they are the paper's 64 and 16.
    Cluster {
        /// Whether it is the predicted one.
        asic: bool,
        /// Nodes, and cores of each.
        nodes: Option<(u16, u16)>,
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

const SCC: &str = "scc";
const SCC_CALIBRATED: &str = "scc-calibrated";
const FPGA: &str = "cluster-fpga";
const ASIC: &str = "cluster-asic";

/// What a machine's name may end with, each once and in any order: [`Feature`]s, `+contention` for all those of accesses
/// that wait for each other, and `+domains=D`. A mesh whose name says nothing of contention has all that its file switches
/// on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Variant {
    /// By the place in [`FEATURES`].
    on: [bool; FEATURES.len()],
    /// `+domains=D`: the number of coherence domains of neighbouring cores.
    domains: Option<NonZero<u16>>,
}

/// A suffix that says nothing but that it is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// Accesses to MPBs wait for each other.
    Ports,
    /// Packets on links wait for each other.
    Links,
    /// Accesses to memory controllers wait for each other.
    Controllers,
    /// Accesses never wait for each other.
    Ideal,
    /// All distances are one.
    Flat,
    /// A socket of a cluster has as many loads under way as it has cores.
    UnlimitedLoads,
    /// The engines of a cluster are never occupied.
    IdealEngines,
}

/// Their suffixes, in the order of the features, and whether they are for clusters and not for meshes.
const FEATURES: [(&str, bool); 7] = [
    ("ports", false),
    ("links", false),
    ("controllers", false),
    ("ideal", false),
    ("flat", false),
    ("unlimited-loads", true),
    ("ideal-engines", true),
];

/// The first of them are [`Variant::CONTENTION`] together, and the one behind them is their absence.
const KINDS_OF_CONTENTION: usize = 3;

impl Variant {
    /// `+contention`: accesses wait for each other wherever they meet.
    const CONTENTION: &'static str = "contention";
    const DOMAINS: &'static str = "domains=";
    /// `+ideal`: accesses never wait for each other, as in papers' formulas.
    pub const IDEAL: Self = {
        let mut on = [false; FEATURES.len()];
        on[Feature::Ideal as usize] = true;
        Self { on, domains: None }
    };
    const PLAIN: Self = Self { on: [false; FEATURES.len()], domains: None };

    /// Whether there is no suffix.
    pub fn is_plain(self) -> bool {
        self == Self::PLAIN
    }

    /// Whether it has a feature.
    pub fn has(self, feature: Feature) -> bool {
        self.on[feature as usize]
    }

    /// Which kinds of contention the name says there are: ports, links and controllers. Nothing if it says nothing.
    pub fn contention(self) -> Option<[bool; KINDS_OF_CONTENTION]> {
        let kinds = [Feature::Ports, Feature::Links, Feature::Controllers].map(|kind| self.has(kind));
        (self.has(Feature::Ideal) || kinds.contains(&true)).then_some(kinds)
    }

    /// This one with the suffixes of another one: what that says of contention and of domains counts.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        let mut both = self;
        if other.contention().is_some() {
            both.on[..=KINDS_OF_CONTENTION].fill(false);
        }
        both.on.iter_mut().zip(other.on).for_each(|(on, other)| *on |= other);
        Self { domains: other.domains.or(self.domains), ..both }
    }

    /// The number of coherence domains, where one is given.
    pub fn domains(self) -> Option<NonZero<u16>> {
        self.domains
    }

    /// Reads suffixes, each with its `+`.
    fn parse(text: &str) -> Result<Self, String> {
        let mut variant = Self::PLAIN;
        let mut seen = Vec::new();
        for suffix in text.split('+').skip(1) {
            if let Some(domains) = suffix.strip_prefix(Self::DOMAINS) {
                let domains = domains.parse();
                let domains =
                    domains.map_err(|_| format!("`+{suffix}`: a machine has 1 to {} coherence domains", u16::MAX))?;
                if variant.domains.replace(domains).is_some() {
                    return Err(format!("`+{suffix}` is there after another number of domains"));
                }
                continue;
            }
            if seen.contains(&suffix) {
                return Err(format!("`+{suffix}` is there twice; a machine has each suffix at most once"));
            }
            seen.push(suffix);
            match FEATURES.iter().position(|(feature, _)| *feature == suffix) {
                Some(place) => variant.on[place] = true,
                None if suffix == Self::CONTENTION => variant.on[..KINDS_OF_CONTENTION].fill(true),
                None => {
                    return Err(format!(
                        "`+{suffix}` is no suffix of a machine; there are, for meshes, `+ideal` or any of `+ports`, \
                         `+links` and `+controllers`, `+flat` and `+domains=D`, and for clusters `+unlimited-loads` and \
                         `+ideal-engines`"
                    ));
                }
            }
        }
        if variant.has(Feature::Ideal) && variant.contention() != Some([false; KINDS_OF_CONTENTION]) {
            return Err("`+ideal` is a machine without contention, and another suffix asks for some".into());
        }
        Ok(variant)
    }

    /// Whether machines of this shape have all of the suffixes.
    fn fits(self, is_cluster: bool) -> bool {
        let of_others = FEATURES.iter().zip(self.on).any(|((_, of_clusters), on)| on && *of_clusters != is_cluster);
        !(of_others || is_cluster && self.domains.is_some())
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let everywhere = self.on[..KINDS_OF_CONTENTION].iter().all(|on| *on);
        if everywhere {
            write!(out, "+{}", Self::CONTENTION)?;
        }
        for ((suffix, _), on) in FEATURES.iter().zip(self.on).skip(if everywhere { KINDS_OF_CONTENTION } else { 0 }) {
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

impl FromStr for Variant {
    type Err = Error;

    /// Reads suffixes alone, each with its `+`.
    fn from_str(text: &str) -> Result<Self, Error> {
        if !text.starts_with('+') {
            return Err(Error(format!("`{text}` has to begin with `+`")));
        }
        Self::parse(text).map_err(Error)
    }
}

impl Machine {
    /// The SCC as it is by default, with contention.
    pub const SCC: Self = Self { kind: Kind::Scc, variant: Variant::PLAIN };

    /// Number of cores when the user names none.
    pub fn default_cores(&self) -> u32 {
        match &self.kind {
            Kind::Mesh { width, height, cores_per_tile } => {
                u32::from(*width) * u32::from(*height) * u32::from(*cores_per_tile)
            }
            Kind::Cluster { nodes: Some((nodes, cores)), .. } => u32::from(*nodes) * u32::from(*cores),
            // At most 65535.
            kind => kind.file().cores() as u32,
        }
    }

    /// Whether it is a cluster of nodes, and not a mesh.
    pub fn is_cluster(&self) -> bool {
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

    /// The machine's name without the number of cores: machines of one family differ in nothing else.
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

    /// This mesh in `domains` coherence domains, unless its name gives another number.
    pub fn with_domains(mut self, domains: NonZero<u16>) -> Option<Self> {
        let named = self.variant.domains.replace(domains);
        (!self.is_cluster() && named.is_none_or(|named| named == domains)).then_some(self)
    }
}

impl Kind {
    /// The values of the machine's parameters, except for the shape that its name gives.
    ///
    /// # Panics
    /// If a file of this crate is wrong, which tests rule out.
    pub fn file(&self) -> MachineFile {
        let built_in = |name| MachineFile::built_in(name).expect("a test reads all machines that have names");
        match self {
            Self::Scc | Self::Mesh { .. } => built_in(SCC),
            Self::SccCalibrated => built_in(SCC_CALIBRATED),
            Self::Cluster { asic, .. } => built_in(if *asic { ASIC } else { FPGA }),
            Self::Named(machine) | Self::File { machine, .. } => (**machine).clone(),
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}{}", self.kind, self.variant)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scc => out.write_str(SCC),
            Self::SccCalibrated => out.write_str(SCC_CALIBRATED),
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

impl FromStr for Machine {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (kind, suffixes) = split(text);
        let machine = Self { kind: kind.parse()?, variant: Variant::parse(suffixes).map_err(Error)? };
        let is_cluster = machine.is_cluster();
        if machine.variant.fits(is_cluster) {
            return Ok(machine);
        }
        Err(Error(if is_cluster {
            format!(
                "`{text}`: of suffixes clusters have `+unlimited-loads` and `+ideal-engines`; their engines are occupied \
                 without these, and each node is a coherence domain"
            )
        } else {
            format!("`{text}`: that suffix is for clusters")
        }))
    }
}

/// A machine's name without its suffixes, and these, the first one with its `+`. A file's path may contain a `+`, too.
fn split(name: &str) -> (&str, &str) {
    let file = name.match_indices(EXTENSION).map(|(at, _)| at + EXTENSION.len());
    let end = file.filter(|end| name.len() == *end || name[*end..].starts_with('+')).last();
    name.split_at(end.or_else(|| name.find('+')).unwrap_or(name.len()))
}

impl FromStr for Kind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        if text.ends_with(EXTENSION) {
            return file(text);
        }
        let (name, shape) = text.split_once(':').map_or((text, None), |(name, shape)| (name, Some(shape)));
        let sides = shape.map(sides);
        match (name, sides.as_ref().map(|sides| sides.as_deref())) {
            (SCC, None) => Ok(Self::Scc),
            (SCC_CALIBRATED, None) => Ok(Self::SccCalibrated),
            (FPGA | ASIC, None) => Ok(Self::Cluster { asic: name == ASIC, nodes: None }),
            (FPGA | ASIC, Some(Some(&[nodes, cores]))) => {
                Ok(Self::Cluster { asic: name == ASIC, nodes: Some((nodes, cores)) })
            }
            (FPGA | ASIC, Some(_)) => Err(Error(format!(
                "`{text}` needs two numbers, {name}:NxC (nodes, cores of each), of 1 to {MOST_CORES} cores"
            ))),
            ("mesh", Some(Some(&[width, height, cores_per_tile]))) => Ok(Self::Mesh { width, height, cores_per_tile }),
            ("mesh", Some(_)) => Err(Error(format!(
                "`{text}` needs three numbers, mesh:WxHxC (tiles wide, tiles high, cores per tile), of 1 to {MOST_CORES} \
                 cores"
            ))),
            _ => MachineFile::built_in(text).map(|machine| Self::Named(Box::new(machine))).ok_or_else(|| {
                Error(format!(
                    "`{text}` is no machine; there are {}, which `cargo xtask machines` describes, `FILE.toml`, \
                     `mesh:WxHxC` (tiles wide, tiles high, cores per tile), and `cluster-fpga:NxC` and \
                     `cluster-asic:NxC` (nodes, cores of each)",
                    MachineFile::known()
                ))
            }),
        }
    }
}

/// The numbers of a shape, if it is one of some cores that can be.
fn sides(shape: &str) -> Option<Vec<u16>> {
    let sides: Vec<u16> = shape.split('x').map(|side| side.parse().ok()).collect::<Option<_>>()?;
    let cores = sides.iter().fold(1_u64, |cores, side| cores.saturating_mul((*side).into()));
    (1..=MOST_CORES).contains(&cores).then_some(sides)
}

/// The machine of a file.
fn file(name: &str) -> Result<Kind, Error> {
    let machine = MachineFile::read(Path::new(name))?;
    let path = std::path::absolute(name).map_err(|error| Error(format!("`{name}`: {error}")))?.display().to_string();
    if path.contains(char::is_whitespace) {
        return Err(Error(format!("`{path}`: the path of a machine file cannot have spaces in it")));
    }
    Ok(Kind::File { path, machine: Box::new(machine) })
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
        for name in
            ["scc", "scc-calibrated", "scc+contention", "scc+ideal", "scc-calibrated+flat", "scc+contention+flat"]
        {
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
            "scc+ideal+ports",
            "scc+contention+ideal",
            "cluster-fpga+ideal",
            "scc +flat",
        ] {
            let message = text.parse::<Machine>().expect_err(text).to_string();
            assert!(!message.contains('\n'), "{message}");
        }
        assert!("mesh:256x256x2".parse::<Machine>().unwrap_err().to_string().contains("65535"));
        assert!("mesh:4294967295x4294967295x4294967295".parse::<Machine>().is_err());
    }

    #[test]
    fn clusters() {
        for (name, cores) in
            [("cluster-fpga", 1024), ("cluster-asic", 1024), ("cluster-fpga:8x8", 64), ("cluster-asic:4096x1", 4096)]
        {
            let machine: Machine = name.parse().unwrap();
            assert_eq!((machine.default_cores(), machine.to_string().as_str()), (cores, name));
        }
        for text in [
            "cluster-fpga:",
            "cluster-fpga:8",
            "cluster-asic:8x",
            "cluster-fpga:0x3",
            "cluster-fpga:65536x1",
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
            assert!(machine.default_cores() >= 1024);
        }
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("my+own.toml");
        std::fs::write(&path, "base = \"scc\"\n[layout]\nrows = 2").unwrap();
        let name = format!("{}+flat", path.display());
        let machine: Machine = name.parse().unwrap();
        assert_eq!((machine.default_cores(), machine.to_string(), machine.family()), (24, name, "my+own+flat".into()));
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
        let kinds = ["scc", "scc+ideal", "scc+ports+flat", "scc+contention"].map(|name| {
            let machine: Machine = name.parse().unwrap();
            machine.variant.contention()
        });
        assert_eq!(kinds, [None, Some([false; 3]), Some([true, false, false]), Some([true; 3])]);
        for text in ["scc+ideal-engines", "scc+ports+ports", "cluster-fpga+links", "scc+port", "scc+contention=1"] {
            let message = text.parse::<Machine>().expect_err(text).to_string();
            assert!(!message.contains('\n'), "{message}");
        }
    }

    #[test]
    fn suffixes_are_behind_the_file() {
        assert_eq!(split("scc+flat+ports"), ("scc", "+flat+ports"));
        assert_eq!(split("scc"), ("scc", ""));
        assert_eq!(split("/c++/my.toml+flat"), ("/c++/my.toml", "+flat"));
        assert_eq!(split("a.toml.d/my.toml"), ("a.toml.d/my.toml", ""));
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
        let with = |one: &str, other: &str| one.parse::<Variant>().unwrap().with(other.parse().unwrap()).to_string();
        assert_eq!([with("+ideal", "+flat"), with("+ideal+flat", "+contention")], ["+ideal+flat", "+contention+flat"]);
        assert_eq!([with("+links", "+ideal"), with("+domains=2", "+domains=3")], ["+ideal", "+domains=3"]);
        let domains: Machine = "scc+domains=4+flat".parse().unwrap();
        assert_eq!(domains.to_string(), "scc+flat+domains=4");
        let two = NonZero::new(2).unwrap();
        assert_eq!(Machine::SCC.with_domains(two).unwrap().to_string(), "scc+domains=2");
        assert_eq!((domains.clone().with_domains(two), domains.variant.domains()), (None, NonZero::new(4)));
        assert!(domains.with_domains(NonZero::new(4).unwrap()).is_some());
        assert_eq!("cluster-fpga:4x4".parse::<Machine>().unwrap().with_domains(two), None);
        for text in ["contention", "+", "+x", "+flat+flat"] {
            assert!(text.parse::<Variant>().is_err(), "{text}");
        }
    }
}
