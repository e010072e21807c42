//! Notifications of ranks that compute: the last paragraph of the OC-Bcast paper.

use crate::bench::{Bench, Finding, Missing, Sweep, extremes, in_virtual_time};

/// Interrupts against looking now and then.
pub(crate) const NOTIFICATION: Bench = Bench {
    name: "notification",
    about: "messages to ranks that compute, by interrupts and by looking now and then (OC-Bcast, section 7)",
    runs: &[Sweep("bench-notification", &[])],
    shown: &[8, 512],
    claims: &[
        in_virtual_time("by interrupts the last rank has a message sooner than by a look every 100 us").holds(|rows| {
            Finding::below(&rows.line("interrupts", "latency")?, &rows.line("polling-flat-100us", "latency")?)
        }),
        in_virtual_time("the default tree is the fastest for a message in the doorbell, of those measured").at_most(
            1.0,
            "of the next",
            |rows| {
                let of = |algorithm: &str| rows.line(algorithm, "latency")?.at(8);
                let others = [1, 2, 3, 7].map(|degree| of(&format!("interrupts-k{degree}")));
                let (fastest, _) = extremes(others.into_iter().collect::<Result<Vec<_>, Missing>>()?)?;
                Ok(of("interrupts")? / fastest)
            },
        ),
        in_virtual_time("a message of 8 bytes holds a rank up for less than looks every 10 us do in a millisecond")
            .at_most(1.0, "of it", |rows| {
                let of = |algorithm| rows.line(algorithm, "held-up")?.at(8);
                Ok(of("interrupts")? / of("polling-10us")?)
            }),
    ],
    ..Bench::PLAIN
};
