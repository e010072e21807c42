//! `hello`: each rank says where it is, and rank 0 how the MPBs are divided.

use crate::{prelude::*, println};

/// Says hello from every rank, in order.
pub struct Hello;

impl Program for Hello {
    const NAME: &'static str = "hello";
    const ABOUT: &'static str = "each rank says where it is";

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let (comm, hal) = (rank.comm, rank.hal());
        let (me, size) = (comm.rank(), comm.size());
        // The word goes round from rank to rank, so that the lines come in order.
        if me > 0 {
            comm.receive(&mut [0], me - 1)?;
        } else {
            println!(rank, "{}", comm.mpb_layout());
        }
        let core = hal.core();
        let tile = hal.layout().tile(core);
        let controller = hal.layout().nearest_controller(core);
        let routers = hal.layout().controller_distance(core, controller);
        println!(
            rank,
            "rank {me} of {size}: {core} on tile ({}, {}), {routers} {} from memory controller {controller}",
            tile.x,
            tile.y,
            if routers == 1 { "router" } else { "routers" }
        );
        if me + 1 < size {
            comm.send(&[0], me + 1)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Hello;
    use crate::launch::{Only, simulate};

    #[test]
    fn all_ranks_say_hello_in_order() {
        let simulation = simulate::<Only<Hello>>("cores=5", &[]);
        assert!(simulation.success, "{}", simulation.console);
        let lines: Vec<_> = simulation.console.lines().filter(|line| !line.starts_with('@')).collect();
        assert_eq!(lines.len(), 6);
        assert!(lines[0].starts_with("MPB of 256 lines for 5 ranks"), "{}", lines[0]);
        assert_eq!(lines[1], "rank 0 of 5: core 0 on tile (0, 0), 1 router from memory controller 0");
        assert!(lines[5].starts_with("rank 4 of 5: core 4 on tile (2, 0), 3 routers"));
        assert!(simulation.console.ends_with("@done ok\n"));
    }
}
