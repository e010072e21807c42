//! Other runs than the plain one: how many were made, and one that goes wrong.

use crate::{
    console::Transcript,
    findings,
    guest::Outcome,
    kernel_line::KernelLine,
    places, result_files,
    sim_replay::{self, MadeOf},
    trace::{self, Purpose},
    workspace,
};
use anyhow::Result;
use serde_json::{Value, json};
use std::{
    env, fmt,
    path::{Path, PathBuf},
};
use transcript::explored::{self, Step};

/// The trace of the run that goes wrong, among the results.
const TRACE_FILE: &str = "failure-trace.json";

/// What was explored, and what has come of it.
pub(super) struct Explored {
    ranks: u32,
    /// Nothing if a run has taken the simulator with it.
    runs: Option<explored::Explored>,
    pub(super) failing: Option<Failing>,
}

/// A run that goes wrong.
pub(super) struct Failing {
    run: explored::Failing,
    story: Vec<Step>,
}

impl Explored {
    /// What a run of the simulator says of others, with the places in a program that it has loaded.
    pub(super) fn of(transcript: &Transcript, loaded: Option<&Path>, ranks: u32) -> Result<Option<Self>> {
        let runs = transcript.explored.clone();
        if runs.is_none() && transcript.failing.is_none() {
            return Ok(None);
        }
        let mut story = transcript.story.clone();
        if let Some(loaded) = loaded {
            places::find_loaded(story.iter_mut().map(|step| &mut step.access.frames), loaded)?;
        }
        let failing = transcript.failing.clone().map(|run| Failing { run, story });
        Ok(Some(Self { ranks, runs, failing }))
    }

    pub(super) fn to_json(&self) -> Value {
        let mut all = json!({ "kind": "explored", "failing": self.failing.as_ref().map(Failing::to_json) });
        if let Some(runs) = &self.runs {
            let explored::Explored { accesses, in_order, is_complete, by_chance, broken_off, depth } = runs;
            all["accesses"] = json!(accesses);
            all["runs_in_order"] = json!(in_order);
            all["is_complete"] = json!(is_complete);
            all["runs_by_chance"] = json!(by_chance);
            all["broken_off"] = json!(broken_off);
            all["depth"] = json!(depth);
        }
        all
    }

    /// Whether the run that goes wrong has been made once more and ended like that. Those that were cut down have, many times.
    pub(super) fn is_repeated_by(&self, outcome: &Outcome) -> bool {
        let end = self.failing.as_ref().map(|failing| Err(failing.run.end.clone()));
        self.runs.is_some() || outcome.transcript.done == end
    }

    /// How likely a run by chance is to meet a mistake, in words.
    fn chance(&self, runs: &explored::Explored) -> String {
        let explored::Explored { accesses, depth, .. } = *runs;
        let power = |depth: u32| (accesses.max(1) as f64).powi(depth as i32 - 1) * f64::from(self.ranks);
        format!(
            "each of these meets a mistake that shows whenever d accesses come in one certain order with a probability of at least \
             1/(n k^(d-1)), n = {} ranks, k = {accesses} accesses, up to d = {depth}: 1 in {:.0} for d = 1, 1 in {:.1e} for d = 2; \
             where caches or buffers have to do something by themselves, too, there is no such promise",
            self.ranks,
            power(1),
            power(2)
        )
    }
}

/// How many runs there were, and the story of the one that goes wrong.
impl fmt::Display for Explored {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(runs) = &self.runs else {
            write!(out, "a run that was explored has taken the simulator with it, and could not be cut down")?;
            return self.failing.as_ref().map_or(Ok(()), |failing| write!(out, "\n{failing}"));
        };
        let explored::Explored { accesses, in_order, is_complete, by_chance, broken_off, .. } = *runs;
        write!(out, "explored {} other runs", in_order + by_chance)?;
        if in_order > 0 {
            let all = if is_complete { "all that make a difference" } else { "not all of them" };
            write!(out, "; {in_order} through the orders of {accesses} accesses, {all}")?;
        }
        if by_chance > 0 {
            write!(out, "; {by_chance} by chance: {}", self.chance(runs))?;
        }
        if broken_off > 0 {
            write!(out, "; {broken_off} were broken off, since they did not end or could only repeat others")?;
        }
        self.failing.as_ref().map_or(Ok(()), |failing| write!(out, "\n{failing}"))
    }
}

impl Failing {
    /// The words of the run that is like it, traced. It is checked, too: memory that C reaches by pointers is fetched at other moments then.
    pub(super) fn words(&self, plain: KernelLine, ranks: u32) -> KernelLine {
        let memory = trace::Options::default().on_host(ranks, Purpose::Page);
        findings::words(trace::Memory::add(memory, sim_replay::deviating(plain, Some(&self.run.deviations))))
    }

    /// Writes the files of the run, which was made once more: what repeats it, and what ranks did. Returns a line that says so.
    pub(super) fn write(&self, outcome: &Outcome, directory: &Path, of: &MadeOf) -> Result<String> {
        let words = own_words(env::args_os().map(|word| word.to_string_lossy().into_owned()));
        let replay = sim_replay::put(directory, of, &words, Some(&self.run.deviations))?;
        let trace: PathBuf = directory.join(TRACE_FILE);
        result_files::put(&trace, &trace::of_failure(outcome, self.run.end.clone())?)?;
        let [replay, trace] = [replay, trace].map(|file| workspace::display(&file));
        Ok(format!(
            "`cargo xtask sim --replay {replay}` repeats it, and with --stop-at TIME goes to any moment; {trace} is for ui.perfetto.dev"
        ))
    }

    fn to_json(&self) -> Value {
        let explored::Failing { met_with, is_least, deviations, end, .. } = &self.run;
        let deviations: Vec<_> = deviations.split(',').collect();
        let root = workspace::root();
        let step = |step: &Step| {
            let (place, function) = findings::place(&step.access, &root);
            json!({
                "picoseconds": step.time_ps, "times": step.times, "rank": step.access.rank, "does": step.access.what,
                "within": step.access.spans, "place": place, "function": function,
            })
        };
        json!({
            "ends": end, "deviations": deviations, "met_with": met_with, "is_least": is_least,
            "story": self.story.iter().map(step).collect::<Vec<_>>(),
        })
    }

    fn count(&self) -> usize {
        self.run.deviations.split(',').filter(|word| word.contains(':')).count()
    }
}

impl fmt::Display for Failing {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let explored::Failing { met_with, is_least, shrinking, end, .. } = &self.run;
        let count = self.count();
        if count == 0 {
            return self
                .write_story(out, "the plain run goes wrong where accesses never wait for each other (`+ideal`)");
        }
        let things = if count == 1 { "thing" } else { "things" };
        let least = if *is_least { "each is needed" } else { "it was not tried to leave out each" };
        let what = format!(
            "one goes wrong: {end}; it does {count} {things} differently from the plain run, {least} ({met_with} when it was met, {shrinking} \
             runs to cut it down)"
        );
        self.write_story(out, &what)
    }
}

impl Failing {
    /// What is wrong, and how it comes to that.
    fn write_story(&self, out: &mut fmt::Formatter<'_>, what: &str) -> fmt::Result {
        writeln!(out, "{what}:")?;
        let root = workspace::root();
        for step in &self.story {
            let (place, function) = findings::place(&step.access, &root);
            let within = findings::within(&step.access);
            let times = if step.times > 1 { format!(", {} times", step.times) } else { String::new() };
            let (rank, what) = (step.access.rank, &step.access.what);
            writeln!(
                out,
                "  {:>12.3} µs  rank {rank} {what}{times}, at {place} in {function}{within}",
                step.time_ps as f64 / 1e6
            )?;
        }
        write!(out, "  {:>12}     {}", "then", self.run.end)
    }
}

/// The words of the command line that `sim` has, too.
fn own_words(line: impl Iterator<Item = String>) -> Vec<String> {
    let mut words = line.skip_while(|word| word != "check").skip(1);
    let mut own = Vec::new();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--" => {
                own.push(word);
                own.extend(words.by_ref());
            }
            "--seeds" | "--report" => _ = words.next(),
            "--json" => {}
            _ if ["--explore", "--lint", "--seeds=", "--report="].iter().any(|own| word.starts_with(own)) => {}
            _ => own.push(word),
        }
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_only_check_has_are_left_out() {
        let line = "xtask check hello --explore=5 --seeds 3 --cores 4 --lint=all --json --seeds=2 -- --json x=1";
        let words = own_words(line.split(' ').map(str::to_owned));
        assert_eq!(words, ["hello", "--cores", "4", "--", "--json", "x=1"]);
    }

    #[test]
    fn what_was_explored_is_told_in_words() {
        let runs =
            explored::Explored { accesses: 10, in_order: 0, is_complete: false, by_chance: 7, broken_off: 1, depth: 3 };
        let run = explored::Failing {
            met_with: 5,
            is_least: true,
            shrinking: 9,
            deviations: "behind:0:1:1".into(),
            end: "deadlock".into(),
        };
        let step = Step::parse("1500000\t2\tA\t1\tstores\tput\tF\trun\t/u/b.rs\t8").unwrap();
        let failing = Some(Failing { run, story: vec![step] });
        let text = Explored { ranks: 4, runs: Some(runs), failing }.to_string();
        for part in [
            "explored 7 other runs; 7 by chance",
            "n = 4 ranks, k = 10 accesses, up to d = 3: 1 in 4 for d = 1, 1 in 4.0e1 for d = 2",
            "one goes wrong: deadlock; it does 1 thing differently from the plain run, each is needed (5 when it was met, 9 runs",
            "\n         1.500 µs  rank 1 stores, 2 times, at /u/b.rs:8 in run (put)\n",
        ] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
    }
}
