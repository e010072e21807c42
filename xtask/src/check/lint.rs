//! Drains, invalidations and flushes that have changed nothing in any run: each costs time, and a program is as right without it.

use crate::{
    console::Transcript,
    findings::CHECK_WORD,
    kernel_line::KernelLine,
    places::{self, Frame},
};
use anyhow::Result;
use clap::ValueEnum;
use serde_json::{Value, json};
use std::{cmp::Reverse, collections::BTreeMap, fmt, path::Path};
use transcript::asked_for::AskedFor;

/// Whose are named.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Lint {
    /// What the program itself asks for.
    Program,
    /// What the protocols below do of their own accord, too.
    All,
}

/// What one line of a program asks for in vain.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wasted {
    at: String,
    function: String,
    what: String,
    times: u64,
    time_ps: u64,
    /// Lines of the program that make a protocol ask for it.
    callers: Vec<String>,
}

/// Lines of a program that are named for one line of a protocol.
const MOST_CALLERS: usize = 3;

/// The words of a run in which account is kept of what the program asks for.
pub(super) fn words(of_run: KernelLine) -> KernelLine {
    of_run.value(CHECK_WORD, Some("lint"))
}

/// What a run has asked for, with the places in a program that it has loaded.
pub(super) fn asked_for(transcript: &Transcript, loaded: Option<&Path>) -> Result<Vec<AskedFor>> {
    let mut all = transcript.asked_for.clone();
    if let Some(loaded) = loaded {
        places::find_loaded(all.iter_mut().map(|asked| &mut asked.frames), loaded)?;
    }
    Ok(all)
}

/// What has changed nothing in any of these, with what has taken longest first.
pub(super) fn wasted(all: &[AskedFor], of: Lint, root: &Path) -> Vec<Wasted> {
    let mut lines: BTreeMap<_, (bool, Wasted)> = BTreeMap::new();
    for asked in all {
        let frames: Vec<_> = asked.frames.iter().map(Frame::from).collect();
        let Some(asking) = frames.iter().find(|frame| frame.asks_itself(root)) else { continue };
        let is_own = asking.is_of_program(root);
        if of == Lint::Program && !is_own {
            continue;
        }
        let (at, function) = asking.place(root);
        let new = || {
            let what = asked.what.clone();
            (false, Wasted { at: at.clone(), function, what, times: 0, time_ps: 0, callers: Vec::new() })
        };
        let (has_changed, line) = lines.entry((asked.what.clone(), at.clone())).or_insert_with(new);
        *has_changed |= asked.has_changed;
        line.times += asked.times;
        line.time_ps += asked.time_ps;
        let caller = frames.iter().find(|frame| !is_own && frame.is_of_program(root)).map(|frame| frame.place(root).0);
        line.callers.extend(caller.filter(|caller| !line.callers.contains(caller)));
    }
    let in_vain = lines.into_values().filter(|(has_changed, _)| !has_changed);
    let mut wasted: Vec<_> = in_vain.map(|(_, wasted)| wasted).collect();
    wasted.sort_by_key(|wasted| Reverse(wasted.time_ps));
    wasted
}

impl Wasted {
    /// Why it was in vain.
    fn reason(&self) -> &'static str {
        match self.what.as_str() {
            "drain" => "nothing of the rank was in its write-combine buffer",
            "invalidation" => {
                "no line that L1 had was loaded again after another rank had stored to it, or another invalidation or a \
                 wait came between"
            }
            _ => {
                "no line of the cache was changed, and none was loaded again after another rank had stored to it, or another flush \
                 came between"
            }
        }
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "kind": "wasted", "what": self.what, "place": self.at, "function": self.function, "times": self.times,
            "picoseconds": self.time_ps, "reason": self.reason(), "callers": self.callers,
        })
    }
}

impl fmt::Display for Wasted {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, function, what, times, time_ps, callers } = self;
        let article = if what == "invalidation" { "an" } else { "a" };
        let often = match times {
            1 => "once".to_owned(),
            times => format!("{times} times"),
        };
        write!(out, "wasted {at}: {article} {what} in {function}, {often}, {:.3} µs in all", *time_ps as f64 / 1e6)?;
        if let Some((first, others)) = callers.split_first() {
            write!(out, ", for {first}")?;
            others.iter().take(MOST_CALLERS - 1).try_for_each(|other| write!(out, ", {other}"))?;
            if callers.len() > MOST_CALLERS {
                write!(out, " and others")?;
            }
        }
        write!(out, ": {}", self.reason())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(has_changed: &str, time_ps: u64, frames: &[(&str, u32)]) -> AskedFor {
        let frames: String = frames.iter().map(|(file, line)| format!("\tF\tf\t{file}\t{line}")).collect();
        AskedFor::parse(&format!("drain\t2\t{time_ps}\t{has_changed}{frames}")).unwrap()
    }

    #[test]
    fn a_line_is_wasted_if_it_never_changes_anything() {
        let root = Path::new("/w");
        let all = [
            asked("no", 5, &[("/u/a.rs", 1), ("/u/main.rs", 9)]),
            asked("yes", 5, &[("/u/a.rs", 1), ("/u/main.rs", 10)]),
            asked("no", 1_500_000, &[("/library/core/x.rs", 8), ("/w/kernel/c/src/rcce.rs", 3), ("/u/b.c", 2)]),
            asked("no", 500_000, &[("/u/b.c", 2)]),
            asked("no", 3_000_000, &[("/w/collectives/src/c.rs", 3), ("/u/b.c", 4)]),
        ];
        let own: Vec<_> = wasted(&all, Lint::Program, root).iter().map(ToString::to_string).collect();
        assert_eq!(
            own,
            [
                "wasted /u/b.c:2: a drain in f, 4 times, 2.000 µs in all: nothing of the rank was in its write-combine buffer"
            ]
        );
        let all = wasted(&all, Lint::All, root);
        assert_eq!(
            all.iter().map(|wasted| wasted.at.as_str()).collect::<Vec<_>>(),
            ["collectives/src/c.rs:3", "/u/b.c:2"]
        );
        assert!(all[0].to_string().contains(", for /u/b.c:4: "), "{}", all[0]);
    }
}
