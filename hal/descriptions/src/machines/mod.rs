//! Machines of the simulator: their layout, what everything costs, and their names.
//!
//! A file with the key `layout.nodes` describes a cluster, others a mesh of tiles; who is based on a machine of the other
//! shape inherits what both have.

mod check;
mod keys;
mod name;

pub use self::{
    keys::{KEYS, MOST_CORES},
    name::{Feature, Kind, Machine, Variant},
};

use crate::{Costs, Described, Given, Hardware, Key, Parameter, Shape, Subject, Values};

/// A machine as its file describes it.
pub type MachineFile = Described<Simulated>;

/// A machine of the simulator, of which nothing follows but what its file says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Simulated;

impl Subject for Simulated {
    const NAME: &'static str = "machine";
    const KEYS: &'static [Key] = KEYS;
    const TEXTS: &'static [&'static str] = &["base", "about"];
    const FILES: &'static [(&'static str, &'static str)] = &[
        ("scc", include_str!("../../machines/scc.toml")),
        ("scc-calibrated", include_str!("../../machines/scc-calibrated.toml")),
        ("scc-2x2", include_str!("../../machines/scc-2x2.toml")),
        ("mesh-1024", include_str!("../../machines/mesh-1024.toml")),
        ("mesh-4096", include_str!("../../machines/mesh-4096.toml")),
        ("cluster-fpga", include_str!("../../machines/cluster-fpga.toml")),
        ("cluster-asic", include_str!("../../machines/cluster-asic.toml")),
    ];

    /// Not that there is none: `mesh:4x4x2` is one.
    fn unknown(name: &str) -> String {
        format!("`{name}` has no file")
    }

    fn shape(given: &Given, base: Option<Shape>) -> Result<Shape, String> {
        let gives = |names: &[&str]| given.keys().map(|key| key.name).find(|name| names.contains(name));
        let node = gives(&["layout.nodes", "layout.cores_per_node"]);
        let tile = gives(&["layout.columns", "layout.rows", "layout.cores_per_tile"]);
        match (node, tile) {
            (Some(node), Some(tile)) => {
                Err(format!("{tile} is for meshes and {node} for clusters; a machine is one or the other"))
            }
            (Some(_), None) => Ok(Shape::Cluster),
            (None, Some(_)) => Ok(Shape::Mesh),
            (None, None) => Ok(base.unwrap_or(Shape::Mesh)),
        }
    }

    fn taken_over(_: &Given, _: Shape) -> Result<Vec<(usize, Parameter)>, String> {
        Ok(Vec::new())
    }

    fn of(values: &Values) -> Result<Self, String> {
        check::values(values)?;
        Ok(Self)
    }
}

impl MachineFile {
    /// Whether it is a cluster of nodes, and not a mesh.
    pub fn is_cluster(&self) -> bool {
        self.values.shape() == Shape::Cluster
    }

    /// Cores of the machine.
    pub fn cores(&self) -> u64 {
        cores(&self.values)
    }

    /// What single accesses take without software, on a mesh.
    pub fn hardware(&self) -> Option<Hardware> {
        (!self.is_cluster()).then(|| Hardware::of(&self.values, "prices.core_mhz"))
    }

    /// The prices of the machine's operations, where accesses to its MPBs wait for each other.
    pub fn costs(&self) -> Costs {
        Costs::of(|key| self.values.word(key))
    }
}

fn cores(values: &Values) -> u64 {
    let product = |keys: &[&str]| keys.iter().map(|key| values.number(key)).product();
    match values.shape() {
        Shape::Cluster => product(&["layout.nodes", "layout.cores_per_node"]),
        Shape::Mesh | Shape::Pc => product(&["layout.columns", "layout.rows", "layout.cores_per_tile"]),
    }
}
