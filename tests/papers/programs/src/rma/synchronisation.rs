//! `bench-rma-synchronisation`: epochs without data between one rank and k others, each with a window of its own (section 5.2
//! of the paper, figure 17 a).
//!
//! Rank 0 is the target of k origins: it posts all its windows, then waits for all; or it is the origin of k targets:
//! it starts on all its windows, then completes on all. What rank 0 spends on that is measured. With messages, a
//! message of one byte stands for each post and for each complete; one without bytes does not go anywhere.
//!
//! That many windows are more than the MPBs have room for where a class keeps its data there; it keeps that of the
//! later ones in uncached memory. The counters show it.

use alloc::{format, vec::Vec};

use collectives::{Group, Window};
use hal::{Caches, Core, LocalView};

use kernel::{Failure, Program, Rank, args::KnownOption};

use super::{Algorithm, Side, algorithm};
use crate::measure::{Of, Splits, need_cores, turns};

/// Epochs of a loop that do not count.
const WARM_UP: u32 = 2;

/// Peers of rank 0 at most, unless more are wanted.
const MOST: usize = 46;

/// Measures synchronisation with many.
pub struct Synchronisation;

impl Program for Synchronisation {
    const NAME: &'static str = "bench-rma-synchronisation";
    const ABOUT: &'static str = "measures empty epochs of rank 0 with k ranks, with a window for each";
    const OPTIONS: &'static [KnownOption] = &[
        ("algorithm", algorithm::ABOUT),
        ("most", "other ranks at most, 46 if not given"),
        ("repetitions", "epochs that count for each number of ranks, 8 if not given"),
    ];

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let algorithm = rank.args.get("algorithm", Algorithm::default())?;
        let repetitions: u32 = rank.args.get("repetitions", 8)?;
        need_cores(rank.comm, 2)?;
        let (comm, hal, me) = (rank.comm, rank.hal(), rank.comm.rank());
        let most = rank.args.get("most", MOST)?.min(comm.size() - 1);
        rank.phase("window creation");
        let (mut windows, mut views) = (Vec::new(), Vec::new());
        if let Algorithm::Windows(class) = algorithm {
            for _ in 0..most {
                let (window, view) = Window::with_class(comm, &mut rank.caches, 0, class)?;
                windows.push(window);
                views.push(view);
            }
        }
        for k in 1..=most {
            rank.phase(&format!("{k} ranks"));
            for side in [Side::Target, Side::Origin] {
                let mut splits = Splits::new(side.name());
                comm.barrier();
                for counts in turns(WARM_UP, repetitions) {
                    match algorithm {
                        Algorithm::Windows(_) if me == 0 => {
                            splits.take(hal, counts, || side.of_many(&windows[..k], &mut views, &mut rank.caches))?;
                        }
                        Algorithm::Windows(_) if me <= k => {
                            side.other().of_one(&windows[me - 1], &mut views[me - 1], &mut rank.caches)?;
                        }
                        Algorithm::TwoSided if me == 0 => splits.take(hal, counts, || side.by_messages(rank, 1..=k))?,
                        Algorithm::TwoSided if me <= k => side.other().by_messages(rank, 0..=0)?,
                        _ => {}
                    }
                }
                let counters = ["mpb_lines_read", "mpb_lines_written", "words_read", "words_written", "tsr_acquired"];
                splits.send(rank, Of(algorithm.name(), k as u64, 0), &counters);
            }
        }
        for (window, view) in windows.into_iter().zip(views) {
            window.free(view, &mut rank.caches)?;
        }
        Ok(())
    }
}

/// A window without data.
type Empty<'c, C> = Window<'c, C, u8>;

impl Side {
    /// Rank 0's epochs, window by window: with rank 1 on the first, and so on.
    fn of_many<'c, C: Core>(
        self,
        windows: &[Empty<'c, C>],
        views: &mut Vec<LocalView<'c, u8>>,
        caches: &mut Caches,
    ) -> Result<(), Failure> {
        let peers = (1..).map(|peer| Group::of([peer]));
        match self {
            Self::Origin => {
                let accesses = windows.iter().zip(peers).map(|(window, peer)| Ok(window.start(&peer?)?));
                let accesses: Vec<_> = accesses.collect::<Result<_, Failure>>()?;
                accesses.into_iter().for_each(|access| access.complete());
            }
            Self::Target => {
                let mut exposures = Vec::new();
                for ((window, view), peer) in windows.iter().zip(views.drain(..windows.len())).zip(peers) {
                    exposures.push(window.post(view, caches, &peer?)?);
                }
                let waited: Vec<_> = exposures.into_iter().map(|exposure| exposure.wait(caches)).collect();
                views.splice(..0, waited);
            }
        }
        Ok(())
    }

    /// Another rank's epoch with rank 0.
    fn of_one<'c, C: Core>(
        self,
        window: &Empty<'c, C>,
        view: &mut LocalView<'c, u8>,
        caches: &mut Caches,
    ) -> Result<(), Failure> {
        let hub = Group::of([0])?;
        match self {
            Self::Origin => window.start(&hub)?.complete(),
            Self::Target => window.while_posted(view, caches, &hub, |_| ())?,
        }
        Ok(())
    }

    /// The same with messages: a target sends, then receives.
    fn by_messages<C: Core>(self, rank: &Rank<'_, C>, peers: core::ops::RangeInclusive<usize>) -> Result<(), Failure> {
        let send = || peers.clone().try_for_each(|peer| rank.comm.send(&[0], peer));
        let receive = || peers.clone().try_for_each(|peer| rank.comm.receive(&mut [0], peer));
        match self {
            Self::Origin => receive().and_then(|()| send())?,
            Self::Target => send().and_then(|()| receive())?,
        }
        Ok(())
    }
}
