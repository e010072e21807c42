//! Thousands of cores.

use descriptions::{Value, machines::MachineFile};

use super::*;
use crate::{Mpb, MpbCoherence, Place, Reason, Topology, Wait};

/// A dissemination barrier over flags of one byte each.
fn barrier(core: &SimCore) {
    let (me, all) = (core.core().index(), core.layout().cores());
    let mut distance = 1;
    let mut round = 1;
    while distance < all {
        core.store(line((me + distance) % all, 1), round, &[1]);
        core.drain();
        let reason = Reason::new("round").number(round as u32).from(CoreId::new((me + all - distance) % all));
        core.wait(&[Place::Line(line(me, 1))], reason, |poll| (poll.line(0).0[round] == 1).then_some(()));
        distance *= 2;
        round += 1;
    }
}

#[test]
fn four_thousand_cores_meet() {
    let machine = Machine::new(Description::parse("mesh:64x32x2").unwrap());
    assert_eq!(machine.layout().cores(), 4096);
    let outcome = machine.run(barrier).unwrap();
    assert_eq!(outcome.cores.len(), 4096);
    let expected_at_least = 12 * (69_000 + 136_000 + 131_000);
    assert!(outcome.time_ps > expected_at_least, "{}", outcome.time_ps);
}

#[test]
fn four_thousand_cores_meet_by_chance() {
    let machine = Machine::scc(4099).with_seed(5);
    assert!(machine.run(barrier).is_ok());
}

#[test]
fn descriptions_are_parsed_or_refused_in_one_line() {
    assert_eq!(Description::parse("scc").unwrap().layout.cores(), 48);
    assert_eq!(Description::parse("scc-calibrated").unwrap().name, "scc-calibrated");
    assert_eq!(Description::parse("mesh:3x5x1").unwrap().layout.cores(), 15);
    for wrong in [
        "",
        "SCC",
        "mesh:",
        "mesh:3x4",
        "mesh:0x4x2",
        "mesh:-1x4x2",
        "mesh:300x300x1",
        "mesh:3x4x5x6",
        "mesh:99999x1x1",
        "scc+",
        "scc+flats",
        "scc+flat+flat",
        "scc+contention+flat+contention",
        "+flat",
        "cluster-fpga:",
        "cluster-fpga:8",
        "cluster-asic:8x0",
        "cluster-asic:8x8x8",
        "cluster-asic:256x256",
        "cluster-fpga+flat",
        "cluster-fpga:8x8+contention",
        "cluster-fpga+ports",
        "cluster-fpga+ideal-engines+ideal-engines",
        "scc+unlimited-loads",
        "scc+links+links",
        "scc+flat=1",
        "scc:48",
        "mesh-1024:2x2x2",
        "cluster",
    ] {
        let error = Description::parse(wrong).unwrap_err().to_string();
        assert!(error.lines().count() == 1 && error.starts_with('`'), "{error}");
    }
    let cluster = Description::parse("cluster-fpga").unwrap();
    assert_eq!((cluster.layout.cores(), cluster.layout.domains(), cluster.layout.controllers()), (1024, 64, 64));
    let cluster = Description::parse("cluster-asic:5x3").unwrap();
    assert_eq!((cluster.layout.cores(), cluster.layout.domains(), cluster.layout.rows()), (15, 5, 2));
    assert_eq!(cluster.parameters, Description::parse("cluster-asic").unwrap().parameters);
    let variant = |name| {
        let description = Description::parse(name).unwrap();
        assert_eq!(description.name, name);
        (description.parameters.contention, description.parameters.flat)
    };
    assert_eq!(variant("scc"), (Some(Contention::scc()), false));
    assert_eq!(variant("scc+ideal"), (None, false));
    assert_eq!(variant("mesh:3x5x1+ideal+flat"), (None, true));
    assert_eq!(variant("scc-calibrated+contention"), (Some(Contention::scc()), false));
    assert_eq!(variant("scc+flat+contention"), (Some(Contention::scc()), true));
}

#[test]
fn each_contention_is_switched_by_itself() {
    let contention = |name| Description::parse(name).unwrap().parameters.contention;
    let scc = Contention::scc();
    let none = Contention { mpb_port_ps: 0, mpb_port_write_ps: 0, link_ps: 0, controller_ps: 0, ..scc };
    let ports = Contention { mpb_port_ps: scc.mpb_port_ps, mpb_port_write_ps: scc.mpb_port_write_ps, ..none };
    assert_eq!(contention("scc+ports"), Some(ports));
    assert_eq!(contention("scc+flat+links"), Some(Contention { link_ps: scc.link_ps, ..none }));
    assert_eq!(contention("mesh:2x2x2+controllers"), Some(Contention { controller_ps: scc.controller_ps, ..none }));
    assert_eq!(contention("scc+controllers+ports"), Some(Contention { controller_ps: scc.controller_ps, ..ports }));
    for all in ["scc", "scc+contention", "scc+links+controllers+ports", "scc+ports+contention"] {
        assert_eq!(contention(all), Some(scc), "{all}");
    }
    let port_ns = |name| Description::parse(name).unwrap().layout.prices().port_ns;
    assert_eq!(["scc+ideal", "scc+links", "scc+ports", "scc+contention", "scc"].map(port_ns), [0, 0, 10, 10, 10]);
}

#[test]
fn machines_of_files_are_as_the_files_say() {
    for name in MachineFile::names() {
        let (description, file) = (Description::parse(name).unwrap(), MachineFile::built_in(name).unwrap());
        assert_eq!(description.layout.cores() as u64, file.cores(), "{name}");
        assert_eq!(description.parameters.costs, file.costs(), "{name}");
        let contention = (!file.is_cluster()).then(|| Contention::of(&file.values));
        assert_eq!((description.parameters.contention, description.parameters.flat), (contention, false), "{name}");
    }
    let scc = Description::parse("scc").unwrap();
    assert_eq!(Description::parse("scc+ideal").unwrap(), Description::scc());
    let named = Description::parse("scc+contention").unwrap();
    assert_eq!((named.layout, &named.parameters), (scc.layout, &scc.parameters));
    assert_eq!(scc.layout, crate::Layout::scc());
    assert_eq!(Description::parse("mesh:6x4x2").unwrap().parameters, scc.parameters);
    let mesh = Description::parse("mesh-4096").unwrap().layout;
    assert_eq!((mesh.controllers(), mesh.controller_distance(CoreId::new(4095), 7)), (8, 4));
    let path = std::env::temp_dir().join(format!("atoll+{}.toml", std::process::id()));
    let text = "base = \"scc\"\n[layout]\nrows = 2\ndomains = 4\nflat = true\n[contention]\non = [\"links\"]\n\
                [prices]\nmpb_ps = 252_000\n";
    std::fs::write(&path, text).unwrap();
    let parse = |suffix| Description::parse(&format!("{}{suffix}", path.display()));
    let (plain, more) = (parse("").unwrap(), parse("+controllers"));
    let wrong = [parse("+flats"), Description::parse("none.toml")].map(|error| error.unwrap_err().to_string());
    std::fs::remove_file(&path).unwrap();
    assert_eq!((plain.layout.cores(), plain.layout.domains(), plain.parameters.flat), (24, 4, true));
    assert_eq!((plain.parameters.costs.mpb_ps, plain.layout.prices().own_poll_ns), (252_000, 262));
    let link_ps = Contention::scc().link_ps;
    assert_eq!(plain.parameters.contention.map(|on| (on.link_ps, on.controller_ps)), Some((link_ps, 0)));
    let controller_ps = Contention::scc().controller_ps;
    assert_eq!(more.unwrap().parameters.contention.map(|on| (on.link_ps, on.controller_ps)), Some((0, controller_ps)));
    assert!(
        wrong[0].contains("`+flats` is no") && wrong[0].contains("`+flat`") && wrong[1].contains("none.toml"),
        "{wrong:?}"
    );
}

#[test]
fn every_number_of_a_file_changes_the_machine() {
    let path = std::env::temp_dir().join(format!("atoll-{}.toml", std::process::id()));
    for base in ["scc", "cluster-fpga"] {
        let parse = |name: &str| {
            let Description { layout, parameters, .. } = Description::parse(name).unwrap();
            (layout, parameters)
        };
        let plain = parse(base);
        for parameter in MachineFile::built_in(base).unwrap().values.parameters() {
            let (key, Value::Number(number)) = (parameter.key, &parameter.value) else { continue };
            let (section, name) = key.name.split_once('.').unwrap();
            if section == "hardware" && name != "l2_cycles" {
                // Prices for the emulated board alone (`tests/emulator`); the simulator has those of whole calls.
                continue;
            }
            std::fs::write(&path, format!("base = \"{base}\"\n[{section}]\n{name} = {}\n", number + 1)).unwrap();
            assert!(parse(path.to_str().unwrap()) != plain, "{} of {base}", key.name);
        }
    }
    std::fs::remove_file(&path).unwrap();
}
