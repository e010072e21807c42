//! The names of broadcast algorithms, which measurements use.

use core::{fmt, str::FromStr};

use super::{Broadcast, OcBcast, Rounds};
use crate::UnknownName;

const UNKNOWN: UnknownName = UnknownName {
    kind: "broadcast",
    known: &[
        "default",
        "short",
        "long",
        "binomial",
        "scatter-allgather",
        "scatter-allgather-overlapped",
        "scatter-allgather-one-sided",
        "oc-kN with any of +leaves, +tiles, +single, +notifyN; N is at least 1",
    ],
};

/// The names that contain no number.
const NAMES: &[(&str, Broadcast)] = &[
    ("default", Broadcast::Default),
    ("short", Broadcast::Short),
    ("long", Broadcast::Long),
    ("binomial", Broadcast::Binomial),
    ("scatter-allgather", Broadcast::ScatterAllgather(Rounds::InTurn)),
    ("scatter-allgather-overlapped", Broadcast::ScatterAllgather(Rounds::Overlapped)),
    ("scatter-allgather-one-sided", Broadcast::OneSidedScatterAllgather),
];

impl FromStr for Broadcast {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        match NAMES.iter().find(|(known, _)| *known == name) {
            Some((_, broadcast)) => Ok(*broadcast),
            None => oc_bcast(name).map(Self::OcBcast).ok_or(UNKNOWN),
        }
    }
}

impl fmt::Display for Broadcast {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OcBcast(parameters) => write_oc_bcast(parameters, out),
            _ => out.write_str(NAMES.iter().find(|(_, known)| known == self).map_or("", |(name, _)| name)),
        }
    }
}

fn write_oc_bcast(parameters: &OcBcast, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(out, "oc-k{}", parameters.k)?;
    let OcBcast { straight_leaves, shared_tiles, single_buffer, .. } = *parameters;
    let options = [("+leaves", straight_leaves), ("+tiles", shared_tiles), ("+single", single_buffer)];
    options.iter().filter(|(_, chosen)| *chosen).try_for_each(|(name, _)| out.write_str(name))?;
    match parameters.notification_degree {
        degree if degree == OcBcast::default().notification_degree => Ok(()),
        degree => write!(out, "+notify{degree}"),
    }
}

/// `oc-k7`, and its options behind plus signs.
fn oc_bcast(name: &str) -> Option<OcBcast> {
    let degree = |word: &str| word.parse().ok().filter(|degree| *degree > 0);
    let mut words = name.strip_prefix("oc-k")?.split('+');
    let mut parameters = OcBcast::with_degree(degree(words.next()?)?);
    for word in words {
        match word {
            "leaves" => parameters.straight_leaves = true,
            "tiles" => parameters.shared_tiles = true,
            "single" => parameters.single_buffer = true,
            _ => parameters.notification_degree = degree(word.strip_prefix("notify")?)?,
        }
    }
    Some(parameters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_understood() {
        let oc = |name: &str| {
            name.parse().map(|broadcast| match broadcast {
                Broadcast::OcBcast(parameters) => Some(parameters),
                _ => None,
            })
        };
        assert_eq!(oc("oc-k7"), Ok(Some(OcBcast::default())));
        let both = OcBcast { straight_leaves: true, shared_tiles: true, ..OcBcast::with_degree(47) };
        assert_eq!((oc("oc-k47+leaves+tiles"), oc("oc-k47+tiles+leaves")), (Ok(Some(both)), Ok(Some(both))));
        let measured = OcBcast { single_buffer: true, notification_degree: 3, ..OcBcast::with_degree(2) };
        assert_eq!(oc("oc-k2+single+notify3"), Ok(Some(measured)));
        let numbered = ["oc-k7", "oc-k2+leaves+tiles+single+notify3", "oc-k47"];
        for name in NAMES.iter().map(|(name, _)| *name).chain(numbered) {
            assert!(numbered.contains(&name) || UNKNOWN.known.contains(&name), "{name} is among the known names");
            let broadcast: Broadcast = name.parse().unwrap();
            assert_eq!(std::string::ToString::to_string(&broadcast), name);
        }
        assert_eq!("scatter-allgather".parse(), Ok(Broadcast::ScatterAllgather(Rounds::InTurn)));
        for unknown in [
            "",
            "oc",
            "oc-k",
            "oc-kx",
            "oc-k0",
            "oc-k7+notify0",
            "oc-k7+",
            "oc-k7+leaf",
            "oc-k7+notify",
            "Binomial",
            "binomial+leaves",
        ] {
            assert_eq!(unknown.parse::<Broadcast>(), Err(UNKNOWN), "{unknown}");
        }
    }
}
