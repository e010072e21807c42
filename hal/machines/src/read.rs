//! Reads a machine file, and checks it.

use std::{fs, path::Path};

use crate::{Error, Given, KEYS, Key, MOST_CORES, MachineFile, Shape};

/// The keys outside of sections.
const TEXTS: [&str; 2] = ["base", "about"];

/// The machines that have names.
const BUILT_IN: [(&str, &str); 7] = [
    ("scc", include_str!("../scc.toml")),
    ("scc-calibrated", include_str!("../scc-calibrated.toml")),
    ("scc-2x2", include_str!("../scc-2x2.toml")),
    ("mesh-1024", include_str!("../mesh-1024.toml")),
    ("mesh-4096", include_str!("../mesh-4096.toml")),
    ("cluster-fpga", include_str!("../cluster-fpga.toml")),
    ("cluster-asic", include_str!("../cluster-asic.toml")),
];

/// The names of the machines that have one.
pub fn names() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|(name, _)| *name)
}

impl MachineFile {
    /// The machine with this name, if there is one. Tests see to it that its file is right.
    pub fn built_in(name: &str) -> Option<Self> {
        let (name, text) = BUILT_IN.iter().find(|(built_in, _)| *built_in == name)?;
        Self::parse(name, text).ok()
    }

    /// The machine that a file describes.
    ///
    /// # Errors
    /// If it cannot be read, or does not describe one; the error is one line that names the file and the key.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        let text = fs::read_to_string(path).map_err(|error| Error(format!("cannot read {name}: {error}")))?;
        Self::parse(&name, &text)
    }

    /// The machine that the text of a file with this name describes.
    ///
    /// # Errors
    /// If it does not; the error is one line that names the file and the key.
    pub fn parse(name: &str, text: &str) -> Result<Self, Error> {
        parse(name, text).map_err(|message| Error(format!("{name}: {message}")))
    }
}

fn parse(name: &str, text: &str) -> Result<MachineFile, String> {
    let Given { mut texts, parameters: given } = Given::parse("machine", KEYS, &TEXTS, name, text)?;
    let (base, about) = (texts.remove("base"), texts.remove("about"));
    let inherited =
        match base {
            None => None,
            Some(base) => Some(MachineFile::built_in(&base).ok_or_else(|| {
                format!("base names no machine: there are {}", names().collect::<Vec<_>>().join(", "))
            })?),
        };
    let about = about.or_else(|| inherited.as_ref().map(|base| format!("like {}: {}", base.name, base.about)));
    let was_cluster = inherited.as_ref().is_some_and(MachineFile::is_cluster);
    let mut parameters = inherited.map(|base| base.parameters).unwrap_or_default();
    let gives = |names: &[&str]| given.values().find(|parameter| names.contains(&parameter.key.name));
    let node = gives(&["layout.nodes", "layout.cores_per_node"]);
    let tile = gives(&["layout.columns", "layout.rows", "layout.cores_per_tile"]);
    if let (Some(node), Some(tile)) = (node, tile) {
        let (node, tile) = (node.key.name, tile.key.name);
        return Err(format!("{tile} is for meshes and {node} for clusters; a machine is one or the other"));
    }
    let shape = if node.is_some() || was_cluster && tile.is_none() { Shape::Cluster } else { Shape::Mesh };
    if let Some(other) = given.values().find(|given| !fits(given.key, shape)) {
        let kinds = if shape == Shape::Mesh { "clusters, and this is a mesh" } else { "meshes, and this is a cluster" };
        return Err(format!("{} is for {kinds}", other.key.name));
    }
    parameters.extend(given);
    parameters.retain(|_, parameter| fits(parameter.key, shape));
    let is_missing =
        |place: &usize| KEYS[*place].required && fits(&KEYS[*place], shape) && !parameters.contains_key(place);
    if let Some(missing) = (0..KEYS.len()).find(is_missing) {
        let key = &KEYS[missing];
        return Err(format!("{} is missing ({}), and there is no base that says it", key.name, key.about));
    }
    let machine = MachineFile { name: name.into(), about: about.unwrap_or_default(), parameters };
    check(&machine)?;
    Ok(machine)
}

fn fits(key: &Key, shape: Shape) -> bool {
    key.shape == Shape::Any || key.shape == shape
}

/// What concerns several parameters, or the parts of one.
fn check(machine: &MachineFile) -> Result<(), String> {
    if machine.cores() > MOST_CORES {
        return Err(format!("layout: {} cores are more than {MOST_CORES}", machine.cores()));
    }
    if machine.number("layout.domains") > machine.cores() {
        return Err(format!("layout.domains: {} cores cannot be more domains", machine.cores()));
    }
    let (columns, rows) = (machine.number("layout.columns"), machine.number("layout.rows"));
    let outside = |[x, y]: &&[u64; 2]| *x >= columns || *y >= rows;
    if let Some([x, y]) = machine.pairs("layout.controllers").unwrap_or_default().iter().find(outside) {
        return Err(format!("layout.controllers: there is no tile [{x}, {y}] among {columns} x {rows}"));
    }
    let points = machine.pairs("prices.word_cycles").unwrap_or_default();
    let in_range = |[routers, cycles]: &[u64; 2]| *routers <= MOST_CORES && *cycles <= 1_000_000_000;
    let ascend = points.windows(2).all(|pair| pair[0][0] < pair[1][0] && pair[0][1] <= pair[1][1]);
    if !(ascend && points.iter().all(in_range)) {
        return Err("prices.word_cycles: routers have to ascend, and cycles must not descend".into());
    }
    if machine.is_cluster() { Ok(()) } else { check_services(machine, points) }
}

/// What an access meets is busy with it before the way back begins: both are part of the access's price, at each
/// distance.
fn check_services(machine: &MachineFile, points: &[[u64; 2]]) -> Result<(), String> {
    let number = |key: &str| machine.number(key);
    let (hop_ps, mhz) = (number("prices.hop_ps"), number("prices.core_mhz"));
    for (service, price) in [
        ("contention.mpb_port_ps", "prices.mpb_ps"),
        ("contention.mpb_port_write_ps", "prices.mpb_ps"),
        ("contention.controller_ps", "prices.memory_read_ps"),
        ("contention.controller_ps", "prices.memory_write_ps"),
    ] {
        // The nearest is a router away, there and back.
        if number(service) > number(price) + hop_ps {
            return Err(format!("{service} is part of what an access takes, and longer than {price} and a hop"));
        }
    }
    let service_ps = number("contention.controller_ps");
    // Nearer than the first of them, each router less takes two hops less.
    let first = points.first().filter(|[routers, _]| *routers > 1);
    let nearest = first.map(|[routers, cycles]| (1, *cycles, 2 * (routers - 1) * hop_ps));
    let measured = points.iter().map(|[routers, cycles]| (*routers, *cycles, 0));
    for (routers, cycles, nearer_ps) in measured.chain(nearest) {
        let least_ps = routers * hop_ps + nearer_ps + service_ps;
        if cycles * 1_000_000 / mhz < least_ps {
            return Err(format!(
                "prices.word_cycles: {cycles} cycles are less than the way back over {routers} hops and \
                 contention.controller_ps; they contain both"
            ));
        }
    }
    Ok(())
}
