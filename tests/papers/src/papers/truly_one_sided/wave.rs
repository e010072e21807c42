//! An application: Lai and Panda, *Designing Truly One-Sided MPI-2 RMA*, section 5.6.

use crate::bench::{Bench, Claim, Finding, On, Run, Unit};

/// Runs of the wave on each of some numbers of ranks: the same grid for all of them, and the same block for each rank.
macro_rules! waves {
    ($($ranks:literal)*) => {
        &[$(
            wave(&[concat!("cores=", $ranks), "class=default", STRONG]),
            wave(&[concat!("cores=", $ranks), "class=scosco", STRONG]),
            wave(&[concat!("cores=", $ranks), "halo=two-sided", STRONG]),
            wave(&[concat!("cores=", $ranks), "class=default", WEAK, "weak"]),
            wave(&[concat!("cores=", $ranks), "class=scosco", WEAK, "weak"]),
            wave(&[concat!("cores=", $ranks), "halo=two-sided", WEAK, "weak"]),
        )*]
    };
}

const STRONG: &str = "size=48x48x48";
const WEAK: &str = "size=16x16x16";

const fn wave(words: &'static [&'static str]) -> Run {
    Run { program: "wave", words }
}

/// Lai and Panda's section 5.6, figure 20: what an application gains from one-sided communication.
pub(crate) const WAVE: Bench = Bench {
    name: "wave",
    about: "steps of a 3-D wave, one-sided and two-sided, strong and weak scaling (Lai and Panda, section 5.6)",
    runs: waves!(1 2 4 8 16 32 48),
    shown: &[1, 8],
    derive: |rows| {
        rows.add_computed("efficiency", "step", Unit::Fraction, |line, ranks| {
            Ok(line.at(1)? / line.at(ranks)? / ranks as f64)
        });
        rows.add_computed("weak.efficiency", "weak.step", Unit::Fraction, |line, ranks| {
            Ok(line.at(1)? / line.at(ranks)?)
        });
    },
    claims: &[
        Claim {
            text: "strong: a step of the default class is below a two-sided one",
            on: On::VirtualTime,
            check: |rows| Finding::below(&rows.line("default", "step")?.above(1), &rows.line("two-sided", "step")?),
        },
        Claim {
            text: "weak: a step of the default class is below a two-sided one",
            on: On::VirtualTime,
            check: |rows| {
                Finding::below(&rows.line("default", "weak.step")?.above(1), &rows.line("two-sided", "weak.step")?)
            },
        },
        Claim {
            text: "strong: a step of the default class is below one of scosco",
            on: On::VirtualTime,
            check: |rows| Finding::below(&rows.line("default", "step")?.above(1), &rows.line("scosco", "step")?),
        },
        Claim {
            // Ranks without neighbours have nothing to exchange, and both versions compute the same.
            text: "one rank alone computes as long in both versions",
            on: On::VirtualTime,
            check: |rows| {
                let [default, two_sided] =
                    [rows.line("default", "step")?.at(1)?, rows.line("two-sided", "step")?.at(1)?];
                Ok(Finding::within_percent(default, two_sided, 0.1, "us"))
            },
        },
    ],
    ..Bench::PLAIN
};

/// Runs of the wave in cubes of some sizes on 32 ranks, and with equal blocks on some numbers of ranks, for each version
/// of the communication.
macro_rules! cubes {
    ($($size:literal)*; $($ranks:literal)*) => {
        &[$(
            wave(&["cores=32", "class=default", concat!("size=", $size), UNCHECKED]),
            wave(&["cores=32", "class=truly-one-sided", concat!("size=", $size), UNCHECKED]),
            wave(&["cores=32", "class=message", concat!("size=", $size), UNCHECKED]),
            wave(&["cores=32", "halo=two-sided", concat!("size=", $size), UNCHECKED]),
        )* $(
            wave(&[concat!("cores=", $ranks), "class=default", WEAK, "weak", UNCHECKED]),
            wave(&[concat!("cores=", $ranks), "class=truly-one-sided", WEAK, "weak", UNCHECKED]),
            wave(&[concat!("cores=", $ranks), "class=message", WEAK, "weak", UNCHECKED]),
            wave(&[concat!("cores=", $ranks), "halo=two-sided", WEAK, "weak", UNCHECKED]),
        )*]
    };
}

/// What the waves compute, bench `wave` compares with one rank alone.
const UNCHECKED: &str = "verify=false";

/// The axes of Lai and Panda's figure 20. Rows know the bytes that a rank exchanges, which grow with the cube; the
/// figure knows the sides of the cubes, smallest first.
pub(crate) const WAVE_SIZES: Bench = Bench {
    name: "wave-sizes",
    about: "steps of a 3-D wave on 32 ranks by the size of the cube, and weak scaling (Lai and Panda, figure 20)",
    runs: cubes!("64x64x64" "48x48x48" "32x32x32" "24x24x24" "16x16x16"; 2 4 8 16 32 48),
    ..Bench::PLAIN
};
