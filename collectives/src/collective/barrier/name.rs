//! The names of barriers, which measurements use.

use core::{fmt, str::FromStr};

use super::{Barrier, Release};
use crate::UnknownName;

const UNKNOWN: UnknownName = UnknownName {
    kind: "barrier",
    known: &[
        "default",
        "central",
        "central-push",
        "locked-counter",
        "registers",
        "atomic-counters",
        "rcce-linear",
        "butterfly",
        "dissemination",
        "dissemination-N[-pull]",
        "tournament",
        "hierarchical[-kN]",
        "flat",
        "tree-kN-push",
        "tree-kN-pull",
        "tree-kN-polled; N is at least 1",
    ],
};

/// The fan-in between the masters of domains of *Highly Scalable Barriers*, section V.B.
const PAPERS_FAN_IN: usize = 8;

/// The names that contain no number.
const NAMES: &[(&str, Barrier)] = &[
    ("default", Barrier::Default),
    ("central", Barrier::Central),
    ("central-push", Barrier::CentralPush),
    ("locked-counter", Barrier::LockedCounter),
    ("registers", Barrier::Registers),
    ("atomic-counters", Barrier::AtomicCounters),
    ("rcce-linear", Barrier::RcceLinear),
    ("butterfly", Barrier::Butterfly),
    ("dissemination", Barrier::Dissemination { partners: 1, flags: Release::Push }),
    ("tournament", Barrier::Tournament),
    ("hierarchical", Barrier::Hierarchical { fan_in: PAPERS_FAN_IN }),
    ("flat", Barrier::Flat),
];

impl FromStr for Barrier {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        match NAMES.iter().find(|(known, _)| *known == name) {
            Some((_, barrier)) => Ok(*barrier),
            None => numbered(name).ok_or(UNKNOWN),
        }
    }
}

/// `tree-k8-pull` and others with a number, which is not 0.
fn numbered(name: &str) -> Option<Barrier> {
    let number = |digits: &str| digits.parse().ok().filter(|number| *number > 0);
    if let Some(rest) = name.strip_prefix("dissemination-") {
        return Some(match rest.strip_suffix("-pull") {
            Some(partners) => Barrier::Dissemination { partners: number(partners)?, flags: Release::Pull },
            None => Barrier::Dissemination { partners: number(rest)?, flags: Release::Push },
        });
    }
    if let Some(fan_in) = name.strip_prefix("hierarchical-k") {
        return Some(Barrier::Hierarchical { fan_in: number(fan_in)? });
    }
    let (fan_in, way) = name.strip_prefix("tree-k")?.split_once('-')?;
    let fan_in = number(fan_in)?;
    match way {
        "push" => Some(Barrier::Tree { fan_in, release: Release::Push }),
        "pull" => Some(Barrier::Tree { fan_in, release: Release::Pull }),
        "polled" => Some(Barrier::PolledTree { fan_in }),
        _ => None,
    }
}

impl fmt::Display for Barrier {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((name, _)) = NAMES.iter().find(|(_, barrier)| barrier == self) {
            return out.write_str(name);
        }
        match self {
            Self::Dissemination { partners, flags: Release::Push } => write!(out, "dissemination-{partners}"),
            Self::Dissemination { partners, flags: Release::Pull } => write!(out, "dissemination-{partners}-pull"),
            Self::Tree { fan_in, release: Release::Push } => write!(out, "tree-k{fan_in}-push"),
            Self::Tree { fan_in, release: Release::Pull } => write!(out, "tree-k{fan_in}-pull"),
            Self::PolledTree { fan_in } => write!(out, "tree-k{fan_in}-polled"),
            Self::Hierarchical { fan_in } => write!(out, "hierarchical-k{fan_in}"),
            _ => unreachable!("it is in the table"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use hal::Layout;

    use super::*;
    use crate::Group;

    #[test]
    fn names_are_understood() {
        let numbered = [
            "dissemination-2",
            "dissemination-13-pull",
            "dissemination-1-pull",
            "tree-k1-push",
            "tree-k16-pull",
            "tree-k3-polled",
            "hierarchical-k4",
        ];
        for name in NAMES.iter().map(|(name, _)| *name).chain(numbered) {
            let barrier: Barrier = name.parse().unwrap();
            assert_eq!(barrier.to_string(), name);
            assert!(
                numbered.contains(&name) || UNKNOWN.known.iter().any(|known| known.split('[').next() == Some(name)),
                "{name} is among the known names"
            );
        }
        assert_eq!("hierarchical-k8".parse(), Ok(Barrier::Hierarchical { fan_in: 8 }));
        assert_eq!("dissemination-1".parse(), "dissemination".parse::<Barrier>());
        for unknown in [
            "",
            "Default",
            "dissemination-0",
            "dissemination-",
            "dissemination-pull",
            "dissemination-2-push",
            "tree",
            "tree-k0-pull",
            "tree-k8",
            "tree-k8-both",
            "tree-kx-push",
            "hierarchical-k0",
            "hierarchical-",
            "flat-k8",
        ] {
            assert_eq!(unknown.parse::<Barrier>(), Err(UNKNOWN), "{unknown}");
        }
    }

    #[test]
    fn the_default_has_a_name() {
        let all = |ranks: usize| Group::all(ranks).unwrap();
        let name = |layout: Layout| Barrier::fastest(&all(layout.cores()), &layout).to_string();
        // On hardware so many cannot poll one MPB without waiting for each other.
        assert_eq!(name(Layout::scc()), "tree-k7-pull");
        assert_eq!(name(hal::sim::Description::scc().layout), "tree-k47-pull");
        assert_eq!(
            name(Layout::scc().with_cores(2)).parse(),
            Ok(Barrier::fastest(&all(2), &Layout::scc().with_cores(2)))
        );
    }
}
