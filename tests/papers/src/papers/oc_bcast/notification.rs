//! Notifications of ranks that compute: the last paragraph of the OC-Bcast paper.

use crate::bench::{Bench, Claim, Finding, On, Run};

/// Interrupts against looking now and then.
pub(crate) const NOTIFICATION: Bench = Bench {
    name: "notification",
    about: "messages to ranks that compute, by interrupts and by looking now and then (OC-Bcast, section 7)",
    runs: &[Run { program: "bench-notification", words: &[] }],
    shown: &[8, 512],
    claims: &[
        Claim {
            text: "by interrupts the last rank has a message sooner than by a look every 100 us",
            on: On::VirtualTime,
            check: |rows| {
                Finding::below(&rows.line("interrupts", "latency")?, &rows.line("polling-flat-100us", "latency")?)
            },
        },
        Claim {
            text: "the default tree is the fastest for a message in the doorbell, of those measured",
            on: On::VirtualTime,
            check: |rows| {
                let of = |algorithm| rows.line(algorithm, "latency")?.at(8);
                let others = [of("interrupts-k1")?, of("interrupts-k2")?, of("interrupts-k3")?, of("interrupts-k7")?];
                let fastest = others.into_iter().fold(f64::INFINITY, f64::min);
                Ok(Finding::at_most(of("interrupts")? / fastest, 1.0, "of the next"))
            },
        },
        Claim {
            text: "a message of 8 bytes holds a rank up for less than looks every 10 us do in a millisecond",
            on: On::VirtualTime,
            check: |rows| {
                let of = |algorithm| rows.line(algorithm, "held-up")?.at(8);
                Ok(Finding::at_most(of("interrupts")? / of("polling-10us")?, 1.0, "of it"))
            },
        },
    ],
    ..Bench::PLAIN
};
