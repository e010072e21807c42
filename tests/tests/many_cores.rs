//! Thousands of cores: the collectives work beyond what QEMU boots.

mod common;

use collectives::OcBcast;
use common::run;
use hal::sim::{Description, Machine};
use tests::{check_eq, suite};

#[test]
fn a_barrier_and_a_broadcast_on_4096_cores() {
    let machine = Machine::new(Description::parse("mesh:64x32x2").expect("a mesh"));
    let result = run(&machine, |context| {
        context.comm.barrier();
        let mut message = [if context.rank() == 4095 { 7 } else { 0 }; 100];
        OcBcast::default().broadcast(context.comm, &mut message, 4095)?;
        check_eq!(message, [7; 100], "the message");
        Ok(())
    });
    assert_eq!(result, Ok(()));
}

#[test]
fn windows_on_1024_cores() {
    assert_eq!(run(&Machine::scc(1024), |context| suite::run("window::neighbours_ring", context)), Ok(()));
}

#[test]
fn the_suites_barriers_broadcasts_and_windows_on_255_cores() {
    let tests = ["barrier::", "broadcast::all_sizes", "window::neighbours_ring", "window::early_post"];
    for name in suite::NAMES.iter().filter(|name| tests.iter().any(|test| name.starts_with(test))) {
        assert_eq!(run(&Machine::scc(255), |context| suite::run(name, context)), Ok(()), "{name}");
    }
}
