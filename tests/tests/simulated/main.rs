//! What the simulator shows and the suite does not: other machines, other orders, protocols with parts of them taken away, and
//! times. One binary: each would compile the same protocols once more.

#[path = "../common/mod.rs"]
mod common;

mod barriers;
mod broadcasts;
mod caching;
mod cluster;
mod communicators;
mod default_broadcast;
mod defaults;
mod domains;
mod exchanges;
mod fatal;
mod fft;
mod late_ranks;
mod latency;
mod litmus;
mod locks;
mod many_cores;
mod mixed;
mod model;
mod nonblocking;
mod notification;
mod omitted;
mod omitted_barriers;
mod omitted_coherence;
mod omitted_packets;
mod program_lines;
mod ratios;
mod reduction_costs;
mod reductions;
mod register_reach;
mod registers;
mod regressions;
mod skipping;
