//! Machines.

use descriptions::{
    Costs, Value,
    machines::{MachineFile, Simulated},
};

use crate::{are_wrong, parse};

#[test]
fn nothing_that_costs_a_whole_operation_is_fitted_for_the_scc() {
    let fitted = |name: &str| {
        let machine = MachineFile::built_in(name).expect("it is built in");
        let fitted = machine.values.parameters().filter(|parameter| parameter.source.kind == "fitted");
        fitted.map(|parameter| parameter.key.name).collect::<Vec<_>>()
    };
    assert_eq!(fitted("scc"), ["contention.mpb_port_ps", "contention.input_flits"]);
    assert_eq!(fitted("scc-calibrated"), ["prices.packet_ps", "contention.mpb_port_ps", "contention.input_flits"]);
}

#[test]
fn named_machines_have_their_cores() {
    let cores = |name| MachineFile::built_in(name).expect("it is built in").cores();
    // The files are parsed when they are asked for.
    let counts: Vec<_> = MachineFile::names().map(|name| (name, cores(name))).collect();
    let expected = [("scc", 48), ("scc-calibrated", 48), ("scc-2x2", 8), ("mesh-1024", 1024), ("mesh-4096", 4096)];
    assert_eq!(counts[..5], expected);
    assert_eq!(counts[5..], [("cluster-fpga", 1024), ("cluster-asic", 1024)]);
}

#[test]
fn costs_of_the_scc_are_known_without_a_reader_of_files() {
    assert_eq!(Costs::SCC, MachineFile::built_in("scc").expect("it is built in").costs());
}

#[test]
fn a_file_says_what_differs() {
    let scc = MachineFile::built_in("scc").expect("it is built in");
    let text =
        "base = \"scc\"\n[prices]\n# chosen: slow\nhop_ps = 20_000\n[contention]\non = [\"links\"]\n[layout]\nrows = 8";
    let machine: MachineFile = parse(text).unwrap();
    assert_eq!((machine.values.number("prices.hop_ps"), machine.values.number("prices.mpb_ps")), (20_000, 126_000));
    assert_eq!((machine.cores(), machine.is_cluster()), (96, false));
    assert!(machine.values.has_word("contention.on", "links") && !machine.values.has_word("contention.on", "ports"));
    assert!(["ports", "links", "controllers"].iter().all(|kind| scc.values.has_word("contention.on", kind)));
    let of = |name: &str| machine.values.parameters().find(|parameter| parameter.key.name == name).unwrap().clone();
    assert_eq!((of("prices.hop_ps").from.as_str(), of("prices.hop_ps").source.text.as_str()), ("my.toml", "slow"));
    assert_eq!((of("prices.mpb_ps").from.as_str(), of("contention.on").source.kind.as_str()), ("scc", ""));
    let differ =
        scc.values.parameters().filter(|parameter| machine.values.get(parameter.key.name) != Some(&parameter.value));
    assert_eq!(differ.count(), 3);
    assert!(parse::<Simulated>("base = \"scc\"").unwrap().values.parameters().eq(scc.values.parameters()));
}

#[test]
fn who_changes_the_shape_inherits_what_both_have() {
    let cluster = parse::<Simulated>("base = \"cluster-fpga\"\n[layout]\nnodes = 3").unwrap();
    assert_eq!((cluster.cores(), cluster.values.get("contention.link_ps")), (48, None));
    assert!(cluster.values.has_word("cluster.on", "loads"));
    let error = parse::<Simulated>("base = \"scc\"\n[layout]\nnodes = 2\ncores_per_node = 2").unwrap_err();
    assert!(error.contains("cluster.sockets is missing"), "{error}");
    let mesh =
        parse::<Simulated>("base = \"cluster-asic\"\n[layout]\ncolumns = 2\nrows = 2\ncores_per_tile = 1").unwrap_err();
    assert!(mesh.contains("prices.word_cycles is missing"), "{mesh}");
}

#[test]
fn what_is_wrong_is_said_in_a_line_with_its_key() {
    are_wrong::<Simulated>(&[
        ("", "layout.columns"),
        ("base = 3", "base"),
        ("base = \"abacus\"", "scc-calibrated"),
        ("prices", "line 1"),
        ("base = \"scc\"\n\n[prices", "line 3"),
        ("base = \"scc\"\nhop_ps = 3", "hop_ps"),
        ("base = \"scc\"\n[price]\nhop_ps = 3", "price.hop_ps"),
        ("base = \"scc\"\n[prices]\nhops_ps = 3", "prices.hops_ps"),
        ("base = \"scc\"\n[prices]\nhop_ps = -3", "prices.hop_ps"),
        ("base = \"scc\"\n[prices]\nhop_ps = 3.5", "prices.hop_ps"),
        ("base = \"scc\"\n[prices]\nhop_ps = \"3\"", "prices.hop_ps"),
        ("base = \"scc\"\n[prices]\nhop_ps = 4_294_967_296", "prices.hop_ps"),
        ("base = \"scc\"\n[prices]\ncounter_ps = 1_000_000_000_001", "prices.counter_ps"),
        ("base = \"scc\"\n[prices]\ncore_mhz = 0", "prices.core_mhz"),
        ("base = \"scc\"\n[prices]\nword_cycles = [[1, 2]]", "prices.word_cycles"),
        ("base = \"scc\"\n[prices]\nword_cycles = [[1, 9], [3, 8], [4, 9], [5, 9]]", "prices.word_cycles"),
        // Cycles that are less than the hops of which they are made.
        ("base = \"scc\"\n[prices]\nhop_ps = 40_000", "prices.word_cycles"),
        ("base = \"scc\"\n[prices]\nword_cycles = [[4, 9], [5, 90], [6, 90], [7, 90]]", "prices.word_cycles"),
        ("base = \"scc\"\n[contention]\ncontroller_ps = 180_000", "prices.word_cycles"),
        ("base = \"scc\"\n[contention]\ncontroller_ps = 214_000", "contention.controller_ps"),
        ("base = \"scc\"\n[contention]\nmpb_port_ps = 131_001", "contention.mpb_port_ps"),
        ("base = \"scc\"\n[contention]\nmpb_port_write_ps = 131_001", "contention.mpb_port_write_ps"),
        ("base = \"scc\"\n[layout]\ncolumns = 0", "layout.columns"),
        ("base = \"scc\"\n[layout]\ncolumns = 9000", "cores"),
        ("base = \"scc\"\n[layout]\ncontrollers = []", "layout.controllers"),
        ("base = \"scc\"\n[layout]\ncontrollers = [[6, 0]]", "layout.controllers"),
        ("base = \"scc\"\n[layout]\ncontrollers = [[1]]", "layout.controllers"),
        ("base = \"scc\"\n[layout]\ndomains = 49", "layout.domains"),
        ("base = \"scc\"\n[layout]\nflat = 1", "layout.flat"),
        ("base = \"scc\"\n[layout]\nrows = 2\nnodes = 2", "layout.nodes"),
        ("base = \"scc\"\n[cluster]\nsockets = 2", "cluster.sockets"),
        ("base = \"cluster-fpga\"\n[contention]\nlink_ps = 2", "contention.link_ps"),
        ("base = \"scc\"\n[contention]\non = [\"port\"]", "contention.on"),
        ("base = \"scc\"\n[contention]\non = true", "contention.on"),
    ]);
}

#[test]
fn pairs_are_shown_in_order() {
    assert_eq!(Value::Pairs(vec![[1, 97], [3, 105]]).to_string(), "1: 97, 3: 105");
}
