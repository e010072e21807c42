//! A program for Atoll. It runs on every rank of a machine:
//!
//! ```sh
//! cargo xtask sim <directory> --cores 8                  # in virtual time; type these two where Atoll is
//! cargo xtask run <directory> --cores 8 -- rounds=100    # under QEMU; options of the program follow `--`
//! cargo test                                           # the test below; type it here
//! ```
//!
//! What to change is said in comments that begin with "Change". `cargo doc --open`, where Atoll is, has a guide: see
//! `kernel::guide`.

#![no_std]
#![cfg_attr(target_os = "none", no_main)]

use kernel::prelude::*;

/// Change: what your program is called. It has no fields: what a rank knows comes in `rank`. Do not use writable
/// statics; in the simulator all ranks would share them.
struct Ring;

impl Program for Ring {
    const NAME: &'static str = "<name>";
    // Change: a few words for the list of programs.
    const ABOUT: &'static str = "passes numbers around all ranks, and adds them";
    // Change: the options, with what each is for. Others are refused before the program starts.
    const OPTIONS: &'static [KnownOption] = &[("rounds", "how often each rank passes on; 10 if not given")];

    /// Change: what one rank does. All ranks run this, and `?` ends the rank with an error.
    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let rounds = rank.args.get("rounds", 10)?;
        let (comm, me, size) = (rank.comm, rank.comm.rank(), rank.comm.size());
        let (left, right) = (Group::of([(me + size - 1) % size])?, Group::of([(me + 1) % size])?);

        // A part of one word on every rank. While others may put to it, there is no view of it.
        let (window, mut view) = Window::<_, u32>::create(comm, &mut rank.caches, 1)?;
        view.store(0, me as u32);
        for _ in 0..rounds {
            let mine = [view.load(0)];
            let exposure = window.post(view, &mut rank.caches, &left)?;
            let access = window.start(&right)?;
            access.put((me + 1) % size, 0, &mine)?;
            access.complete();
            view = exposure.wait(&mut rank.caches);
        }

        // Whatever was passed on, every number is still there once.
        let mut sum = [0];
        comm.allreduce(&[view.load(0)], &mut sum, &Operator::SUM)?;
        window.free(view, &mut rank.caches)?;
        let expected = (0..size as u32).sum::<u32>();
        if sum[0] != expected {
            return Err(Failure::new(format_args!("the sum is {} and should be {expected}", sum[0])));
        }
        if me == 0 {
            kernel::println!(rank, "after {rounds} rounds the sum of {size} numbers is {}", sum[0]);
        }
        Ok(())
    }
}

// Several programs can be in one image: `image!(Ring, Other)`. Then `-- program=other` names one.
kernel::image!(Ring);

#[cfg(test)]
mod tests {
    extern crate alloc;

    use super::*;
    use alloc::format;
    use kernel::launch::{Only, simulate};

    /// Change: what has to come out. `simulate` runs all ranks in virtual time and keeps what they print.
    #[test]
    fn all_numbers_come_around() {
        for cores in [1, 2, 5, 48] {
            let run = simulate::<Only<Ring>>(&format!("cores={cores} rounds=7"), &[]);
            assert!(run.success, "{}", run.console);
            let sum = cores * (cores - 1) / 2;
            let line = format!("after 7 rounds the sum of {cores} numbers is {sum}\n");
            assert!(run.console.contains(&line), "{}", run.console);
        }
    }
}
