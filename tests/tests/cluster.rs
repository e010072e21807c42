//! Clusters of coherent nodes.

mod common;

use common::run;
use hal::sim::{Description, Machine};
use tests::suite;

fn machine(name: &str) -> Machine {
    Machine::new(Description::parse(name).expect("there is such a machine"))
}

#[test]
fn all() {
    let wanted = std::env::var("WANT").unwrap_or_default();
    for name in suite::NAMES.iter().filter(|n| wanted.split(',').any(|w| n.contains(w))) {
        let t = std::time::Instant::now();
        if let Err(failure) = run(&machine("cluster-fpga:2x4"), |context| suite::run_simulated(name, context)) {
            println!("{name}: {}", failure.lines().take(3).collect::<Vec<_>>().join(" / "));
        } else {
            println!("PASS {name} {:?}", t.elapsed())
        }
    }
}
