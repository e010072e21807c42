//! What becomes of a number or a sentence that is checked, claims and published numbers alike.

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Holds,
    Fails,
    /// Nothing is demanded of what was measured.
    Reported,
    /// It is about another machine, or the user has asked for too little.
    NotChecked,
}

impl Verdict {
    /// That on something which is demanded.
    pub(crate) fn on(holds: bool) -> Self {
        if holds { Self::Holds } else { Self::Fails }
    }

    /// The name in tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails => "FAILS",
            Self::Reported => "reported",
            Self::NotChecked => "not checked",
        }
    }
}

/// How far a number may be from another one: ours from a published one, or from a bound. Bands include their ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Band {
    /// Relative, to both sides.
    Percent(f64),
    /// Absolute, to both sides: of numbers that are percentages themselves.
    Points(f64),
    /// The published number is a bound from below, which the paper gives as "more than" or "over".
    AtLeast,
    /// A bound from above.
    AtMost,
    /// Without a verdict.
    None,
}

impl Band {
    /// Whether a number is within the band around the published one. Nothing is outside of no band.
    pub(crate) fn contains(self, published: f64, ours: f64) -> bool {
        /// What sums and quotients of such numbers are off by at most.
        const ROUNDING: f64 = 1e-9;
        match self {
            Self::Percent(percent) => (ours - published).abs() <= published.abs() * (percent / 100.0 + ROUNDING),
            Self::Points(points) => (ours - published).abs() <= points + ROUNDING,
            Self::AtLeast => ours >= published - ROUNDING,
            Self::AtMost => ours <= published + ROUNDING,
            Self::None => true,
        }
    }

    /// The verdict on a number.
    pub(crate) fn judge(self, published: f64, ours: f64) -> Verdict {
        match self {
            Self::None => Verdict::Reported,
            _ => Verdict::on(self.contains(published, ours)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_include_their_ends() {
        for (band, published, inside, outside) in [
            (Band::Percent(10.0), 35.22, [31.698, 38.742], [31.69, 38.75]),
            (Band::Percent(0.0), 2.0, [2.0, 2.0], [1.999, 3.0]),
            (Band::Percent(10.0), -1.0, [-1.1, -0.9], [-1.2, 1.0]),
            (Band::Points(3.0), 30.0, [27.0, 33.0], [26.9, 33.1]),
            (Band::AtLeast, 2.0, [2.0, 1e9], [1.999, -3.0]),
            (Band::AtMost, 0.9, [0.9, -1.0], [0.901, 1e9]),
        ] {
            assert!(inside.iter().all(|ours| band.contains(published, *ours)), "{band:?} of {published}");
            assert!(!outside.iter().any(|ours| band.contains(published, *ours)), "{band:?} of {published}");
        }
        assert!(Band::None.contains(f64::NAN, 7.0));
    }

    #[test]
    fn what_is_no_number_is_in_no_band() {
        for band in [Band::Percent(50.0), Band::Points(50.0), Band::AtLeast, Band::AtMost] {
            assert!(!band.contains(1.0, f64::NAN), "{band:?}");
        }
    }
}
