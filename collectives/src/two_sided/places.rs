//! Messages between ranks whose bytes are first and last in words and lines.

use std::vec::Vec;

use hal::sim::Machine;

use crate::Comm;

/// Lengths around those of messages that are in their head, in one line, in two, and in more chunks than one.
const LENS: [usize; 10] = [0, 1, 19, 20, 21, 31, 32, 33, 64, 65];

#[test]
fn messages_find_their_ranks() {
    for ranks in [31, 32, 33, 48] {
        let outcome = Machine::scc(ranks).run(|core| {
            let comm = Comm::world(core, regions::of_a_test()).expect("the machine is small enough");
            let peers = [1, 2, 3, 4, 30, 31, 32, 47, ranks - 1];
            for (peer, len) in peers.into_iter().flat_map(|peer| LENS.map(|len| (peer, len))) {
                let bytes =
                    |from: usize| -> Vec<u8> { (0..len).map(|byte| (from * 37 + byte * 5 + 1) as u8).collect() };
                let mut got = std::vec![0; len];
                match comm.rank() {
                    0 if peer < ranks => {
                        comm.send(&bytes(0), peer).unwrap();
                        comm.receive(&mut got, peer).unwrap();
                        assert_eq!(got, bytes(peer), "{len} bytes from rank {peer} of {ranks}");
                    }
                    rank if rank == peer => {
                        comm.receive(&mut got, 0).unwrap();
                        assert_eq!(got, bytes(0), "{len} bytes to rank {peer} of {ranks}");
                        comm.send(&bytes(peer), 0).unwrap();
                    }
                    _ => {}
                }
            }
        });
        outcome.unwrap();
    }
}
