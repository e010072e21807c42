//! Clusters of coherent nodes: what needs no test-and-set register of another node works on them as anywhere.

use crate::common::run;
use collectives::{Class, Error, Window};
use hal::{
    CoreId, Topology,
    sim::{Description, Machine},
};
use tests::{check_eq, suite};

fn machine(name: &str) -> Machine {
    Machine::new(Description::parse(name).expect("there is such a machine"))
}

/// Tests in which no rank allocates but rank 0, and none locks or updates elements atomically. Others that need no register of
/// another node say so in the suite.
const WITHOUT_REGISTERS: [&str; 5] = [
    "window::uneven_parts",
    "window::views_come_back",
    "window::classes_differ",
    "window::elements_differ",
    "litmus::message_passing",
];

#[test]
fn what_needs_no_register_works_between_nodes() {
    for name in ["cluster-fpga:3x2", "cluster-asic:1x5"] {
        for test in WITHOUT_REGISTERS {
            let result = run(&machine(name), |context| suite::run_simulated(test, context));
            assert_eq!(result, Ok(()), "{test} on {name}");
        }
    }
}

#[test]
fn communicators_and_windows_span_up_to_64_nodes() {
    for name in ["cluster-fpga:1x1", "cluster-fpga:2x1", "cluster-asic:47x1", "cluster-fpga:64x2"] {
        let result = run(&machine(name), |context| {
            let (rank, size) = (context.rank(), context.size());
            let (window, view) = Window::<'_, _, u32>::create(context.comm, context.caches, 9)?;
            let fenced = window.fence(view, context.caches, Default::default())?;
            fenced.put_value((rank + 1) % size, 8, rank as u32)?;
            let view = fenced.close(context.caches, Default::default());
            check_eq!(view.load(8), ((rank + size - 1) % size) as u32, "what the rank before has put");
            // Each part lies in the node of its rank.
            let (layout, home) = (context.hal().layout(), view.region().start().controller());
            check_eq!(home, Some(layout.nearest_controller(CoreId::new(rank))), "the home of the part");
            window.free(view, context.caches)?;
            let made = Window::<'_, _, u32>::with_class(context.comm, context.caches, 9, Class::TriggerOnly);
            let is_refused = matches!(made.as_ref().err(), Some(Error::RegisterOutOfReach { .. }));
            check_eq!(is_refused, layout.domains() > 1, "match vectors are refused");
            Ok(())
        });
        assert_eq!(result, Ok(()), "{name}");
    }
}
