//! `bench-notification`: how soon a message reaches ranks that compute, and what that costs them.
//!
//! Each time, rank 0 notifies all others at some moment of a computation of theirs. With interrupts they just
//! compute; without them they stop every so often to look, which is the only way for a program that nobody
//! interrupts. Moments are spread evenly over the time between two looks. Measured are
//!
//! * `latency`: from the call until the last rank has the message, in its memory;
//! * `return`: the time of the call, which ends when all have acknowledged;
//! * `held-up`: how much longer a rank computed than it would have without the message, or its looks.

use alloc::{format, vec::Vec};

use collectives::{Delivery, Error, NotificationTree, Notifications, Subscription};
use hal::{Core, Deadline};

use super::measure::{Of, repetitions};
use kernel::{Failure, Program, Rank, Unit, args::KnownOption};

/// Bytes of the messages: in the doorbell, a line, some lines, a chunk, and several chunks.
const SIZES: [usize; 5] = [8, 32, 128, 512, 3072];

/// Microseconds between two looks.
const INTERVALS: [u64; 4] = [1, 10, 100, 1000];

/// Degrees of trees besides the default.
const DEGREES: [usize; 4] = [1, 2, 3, 7];

/// Cycles of a microsecond on the SCC.
const CYCLES_PER_US: u64 = 533;

/// Microseconds that a rank computes at least; longer than any message takes.
const WORK_US: u64 = 1000;

/// Measures notifications of ranks that compute.
pub struct Notification;

impl Program for Notification {
    const NAME: &'static str = "bench-notification";
    const ABOUT: &'static str =
        "measures notifications of ranks that compute: by interrupts, and by looking now and then";
    const OPTIONS: &'static [KnownOption] = &[("repetitions", "messages of each kind, 10 if not given")];

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let repetitions = repetitions(rank, 10)?;
        let with = |tree, delivery| Subscription { tree, delivery, ..Subscription::default() };
        measure(rank, "interrupts", with(NotificationTree::Fastest, Delivery::Interrupts), None, repetitions)?;
        for degree in DEGREES {
            let subscription = with(NotificationTree::Degree(degree), Delivery::Interrupts);
            measure(rank, &format!("interrupts-k{degree}"), subscription, None, repetitions)?;
        }
        for interval in INTERVALS {
            let tree = with(NotificationTree::Fastest, Delivery::Polling);
            measure(rank, &format!("polling-{interval}us"), tree, Some(interval), repetitions)?;
            // Nobody waits for more than one look.
            let flat = with(NotificationTree::Degree(rank.comm.size()), Delivery::Polling);
            measure(rank, &format!("polling-flat-{interval}us"), flat, Some(interval), repetitions)?;
        }
        Ok(())
    }
}

/// Measures messages of all sizes.
fn measure<C: Core>(
    rank: &Rank<'_, C>,
    algorithm: &str,
    subscription: Subscription,
    interval_us: Option<u64>,
    repetitions: usize,
) -> Result<(), Failure> {
    rank.phase(algorithm);
    let notifications = rank.comm.subscribe(&rank.comm.group(), subscription)?;
    for bytes in SIZES {
        let (mut latencies, mut returns, mut held_up) = (Vec::new(), Vec::new(), Vec::new());
        for repetition in 0..repetitions {
            let once = Once { rank, notifications: &notifications, interval_us, repetition, repetitions };
            if rank.comm.rank() == 0 {
                let (latency, call) = once.notify(bytes)?;
                latencies.push(latency);
                returns.push(call);
            } else {
                held_up.push(once.compute()?);
            }
        }
        for (metric, times) in [("latency", latencies), ("return", returns), ("held-up", held_up)] {
            Of(algorithm, bytes as u64, bytes).send(rank, metric, Unit::Ticks, times);
        }
    }
    notifications.close();
    Ok(())
}

/// One message.
struct Once<'o, 'c, C: Core> {
    rank: &'o Rank<'o, C>,
    notifications: &'o Notifications<'c, C>,
    interval_us: Option<u64>,
    repetition: usize,
    repetitions: usize,
}

impl<C: Core> Once<'_, '_, C> {
    /// Sends it. Returns how long it took until the last rank had it, and until this one knew.
    fn notify(&self, bytes: usize) -> Result<(u64, u64), Error> {
        let (comm, hal) = (self.rank.comm, self.rank.hal());
        let message = alloc::vec![7; bytes];
        comm.barrier();
        // Different moments between two looks; the first of them comes when all compute.
        let spread = self.interval_us.unwrap_or(10) * CYCLES_PER_US;
        hal.compute(20 * CYCLES_PER_US + spread * self.repetition as u64 / self.repetitions as u64);
        let begin = hal.now();
        self.notifications.notify_all(&message)?;
        let end = hal.now();
        comm.barrier();
        let mut last = begin;
        for from in 1..comm.size() {
            let mut arrived = [0; 8];
            comm.receive(&mut arrived, from)?;
            last = last.max(u64::from_le_bytes(arrived));
        }
        Ok((last - begin, end - begin))
    }

    /// Computes meanwhile. Returns how much longer it took than the computation alone.
    fn compute(&self) -> Result<u64, Error> {
        let (comm, hal) = (self.rank.comm, self.rank.hal());
        comm.barrier();
        let slice_us = self.interval_us.unwrap_or(WORK_US);
        // A chain of chunks takes a look for each.
        let slices = (WORK_US / slice_us).max(10);
        let begin = hal.now();
        for _ in 0..slices {
            hal.compute(slice_us * CYCLES_PER_US);
            if self.interval_us.is_some() {
                self.notifications.progress()?;
            }
        }
        let took = hal.now() - begin;
        let message = self.notifications.take(Deadline::Never)?;
        comm.barrier();
        comm.send(&message.arrived.to_le_bytes(), 0)?;
        // A microsecond of cycles is not quite one of the clock.
        let alone = slices * slice_us * hal.ticks_per_second() / 1_000_000;
        Ok(took.saturating_sub(alone))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::run;

    #[test]
    fn everything_is_measured_on_any_number_of_cores() {
        for cores in [1, 2, 5] {
            let printed = run::<Notification>(&format!("cores={cores} repetitions=2"));
            for metric in ["latency", "return"] {
                assert_eq!(printed.at("interrupts", metric, (8, 8)).len(), 2, "{cores} cores: {metric}");
            }
        }
    }
}
