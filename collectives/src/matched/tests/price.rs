//! What tags cost.

use std::vec;

use hal::{Clock, sim::Machine};

use super::super::{Source, Tag};
use crate::testing::run;

/// How a message of the comparison below goes.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Tagged,
    Untagged,
    /// By RCCE's protocol.
    Rcce,
}

/// Half a round trip between distant cores, beside that of messages without tags, which wait for their receive, and of RCCE's.
#[test]
fn tags_cost_little_on_short_messages_and_less_on_long_ones() {
    const LENS: [usize; 15] = [1, 8, 16, 17, 32, 48, 64, 128, 240, 241, 512, 1024, 8192, 32_768, 131_072];
    let times = run(&Machine::scc(48), |world| {
        let messages = world.open_messages().unwrap();
        let times = LENS.map(|len| {
            let (mut buffer, other) = (vec![1_u8; len], 30);
            let mut half_a_round_trip = |way: Way| {
                world.barrier();
                let before = world.hal().now();
                for (from, to) in [(0, other), (other, 0)].into_iter().cycle().take(8) {
                    match (world.rank(), way) {
                        (rank, Way::Tagged) if rank == from => world.send_tagged(&buffer, to, 1).unwrap(),
                        (rank, Way::Untagged) if rank == from => world.send(&buffer, to).unwrap(),
                        (rank, Way::Rcce) if rank == from => {
                            world.send_within(crate::mpb::tagged::Source::Memory, &buffer, to).unwrap();
                        }
                        (rank, Way::Tagged) if rank == to => {
                            world.receive_tagged(&mut buffer, Source::Rank(from), Tag::Is(1)).unwrap();
                        }
                        (rank, Way::Untagged) if rank == to => world.receive(&mut buffer, from).unwrap(),
                        (rank, Way::Rcce) if rank == to => world.receive_within(&mut buffer, from).unwrap(),
                        _ => {}
                    }
                }
                (world.hal().now() - before) / 8
            };
            half_a_round_trip(Way::Tagged);
            [Way::Tagged, Way::Untagged, Way::Rcce].map(half_a_round_trip)
        });
        messages.close().unwrap();
        times
    });
    for (len, [tagged, untagged, rcce]) in LENS.into_iter().zip(times[0]) {
        std::println!("{len} bytes: {untagged} ns, with tags {tagged} ns, RCCE's {rcce} ns");
        let [beside_untagged, beside_rcce] = [untagged, rcce].map(|other| tagged as f64 / other as f64);
        let most = match len {
            // It comes with the look that finds it.
            0..=16 => 0.75,
            17..=240 => 1.3,
            241..=1024 => 1.2,
            _ => 1.05,
        };
        assert!(beside_untagged <= most, "{len} bytes: {tagged} ns, without tags {untagged}");
        assert!(beside_rcce <= 1.0, "{len} bytes: {tagged} ns, RCCE's {rcce}");
    }
}
