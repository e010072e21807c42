//! The runs of a bench: independent guests, as many at a time as the host has cores.

use super::{
    Machine,
    description::{Bench, Run},
    machine::processors,
    series::{Samples, Unit},
    setting::Setting,
};
use crate::xtask;
use anyhow::{Context, Result, anyhow, ensure};
use host::{cores, interrupt, progress::Progress};
use std::{
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// Heaps in QEMU, unless the user says something else: buffers of 16 operations, as the sender and the receiver of packets
/// keep them, outgrow the heaps of other programs.
const HEAP: &str = "heap_kib=32768";

/// Cores for which a 32-bit PC has memory for such heaps.
const MOST_CORES_WITH_HEAP: u32 = 88;

/// Heaps in the simulator, where nobody has to have the memory beforehand.
const SIMULATED_HEAP: &str = "heap_kib=1048576";

impl Setting<'_> {
    /// Builds what is needed and runs a bench; returns the samples in the order of its runs.
    pub(crate) fn run_all(&self, bench: &Bench) -> Result<Vec<Samples>> {
        if let Some(measure) = bench.measure {
            let runs = bench.runs();
            self.build(&runs.iter().collect::<Vec<_>>())?;
            return measure(self);
        }
        let all = Mutex::new(None);
        self.run_each(&[bench], |_, samples, _| {
            if let Ok(mut all) = all.lock() {
                *all = Some(samples);
            }
        })?;
        all.into_inner().ok().flatten().with_context(|| format!("{} has ended without a result", bench.name))?
    }

    /// Builds what is needed and runs all runs of several benches, as many at a time as the host has cores. Tells
    /// `finished` of each bench that is through: its place in the list, and its samples in the order of its runs, or why a
    /// run has failed, after which no more of that bench are begun.
    pub(crate) fn run_each(
        &self,
        benches: &[&Bench],
        finished: impl Fn(usize, Result<Vec<Samples>>, &Progress) + Sync,
    ) -> Result<()> {
        let of_each: Vec<Vec<Run>> = benches.iter().map(|bench| self.possible(bench.runs())).collect();
        let all: Vec<(usize, usize, &Run)> = of_each
            .iter()
            .enumerate()
            .flat_map(|(bench, runs)| runs.iter().enumerate().map(move |(place, run)| (bench, place, run)))
            .collect();
        let runs: Vec<_> = all.iter().map(|(_, _, run)| *run).collect();
        ensure!(!runs.is_empty(), "there is nothing to run");
        self.check_words(&runs)?;
        self.build(&runs)?;
        let what = match benches {
            [bench] => bench.name.to_owned(),
            _ => format!("{} benches", benches.len()),
        };
        let label = format!("{what} on {}", self.place(self.cores));
        let progress = Progress::bar(label, all.len() as u64);
        let pending: Vec<_> = of_each.iter().map(|runs| Mutex::new(Pending::of(runs.len()))).collect();
        // There is a bench of which nothing is possible here: under QEMU, for one.
        for place in (0..benches.len()).filter(|place| of_each[*place].is_empty()) {
            finished(place, Err(anyhow!("it has nothing to run on {}", self.machine)), &progress);
        }
        let workers = if self.machine.is_host() { 1 } else { processors() };
        in_parallel(workers, &all, |(bench, place, run)| {
            let is_needless = || pending[*bench].lock().is_ok_and(|pending| pending.failure.is_some());
            let samples = if is_needless() { Ok(Vec::new()) } else { self.measure(run) };
            interrupt::check()?;
            progress.step();
            let Ok(mut pending) = pending[*bench].lock() else { return Ok(()) };
            if let Some(samples) = pending.enter(*place, samples) {
                finished(*bench, samples, &progress);
            }
            Ok(())
        })
    }

    /// One run, and what it has measured.
    fn measure(&self, run: &Run) -> Result<Vec<Samples>> {
        let label = || self.label(run);
        let machine = self.machine_of(run)?;
        let run_of_program = xtask::Run {
            program: run.program,
            machine: &machine,
            cores: self.cores_of(run),
            words: self.words(run, &machine),
            has_input: false,
            heat_map: false,
            priced: run.is_priced(),
            // Of one run only.
            flame: self.flame.filter(|_| machine == *self.machine && run.cores().is_none()),
            yes: self.yes,
            limit: self.limit,
        };
        let mut samples = run_of_program.transcript().with_context(label)?.samples;
        ensure!(!samples.is_empty(), "{} has measured nothing", label());
        if machine == Machine::Board && self.flame.is_none() {
            // Boards count nothing, except instructions.
            samples.retain(|samples| samples.key.unit != Unit::Count);
        }
        if !self.machine.is_variant() {
            samples.iter_mut().for_each(|samples| samples.key.variant = run.suffix());
        }
        Ok(samples)
    }

    /// The runs that this machine and number of cores allow. Those that differ only in a variant of the machine are
    /// one where the user has chosen the variant.
    fn possible(&self, runs: Vec<Run>) -> Vec<Run> {
        let fits = |run: &Run| run.cores().is_none_or(|cores| cores <= self.cores);
        let has_others = *self.machine == Machine::default() || *self.machine == Machine::Board;
        let is_default = has_others && self.cores == self.machine.default_cores();
        let others = runs.iter().filter(|run| run.machine().is_some()).count();
        if others > 0 && !is_default {
            println!(
                "{others} runs on other machines: left out, they are part of the bench on all cores of `{}`",
                Machine::default()
            );
        }
        let mut possible: Vec<Run> = Vec::new();
        let is_here = |run: &Run| run.machine().is_none_or(|own| is_default && (self.board || own != Machine::Board));
        for run in runs.into_iter().filter(fits).filter(is_here) {
            let is_same = |other: &Run| {
                (other.program, other.cores(), other.machine()) == (run.program, run.cores(), run.machine())
                    && other.program_words().eq(run.program_words())
            };
            if self.machine.with_variant(run.variant()).is_none() {
                println!("{} {}: left out, {} has no variants", run.program, run.words.join(" "), self.machine);
            } else if !(self.machine.is_variant() && possible.iter().any(is_same)) {
                possible.push(run);
            }
        }
        possible
    }

    fn place(&self, cores: u32) -> String {
        format!("{} of {}", cores::cores(cores), self.machine)
    }

    /// The number of cores that a run has: its own, all of its own machine's, or what the user wants.
    fn cores_of(&self, run: &Run) -> u32 {
        let of_machine = || run.machine().map(|machine| machine.default_cores());
        run.cores().or_else(of_machine).unwrap_or(self.cores)
    }

    fn build(&self, runs: &[&Run]) -> Result<()> {
        let mut builds = Vec::new();
        for run in runs {
            let backend = xtask::backend(&run.machine().unwrap_or_else(|| self.machine.clone()));
            builds.push((backend, run.program));
        }
        builds.sort_unstable();
        builds.dedup();
        for of_backend in builds.chunk_by(|(one, _), (other, _)| one == other) {
            let programs: Vec<_> = of_backend.iter().map(|(_, program)| *program).collect();
            xtask::build(&programs, of_backend[0].0, self.yes)?;
        }
        Ok(())
    }

    /// The machine of a run: its own, or the variant that it wants of the user's.
    fn machine_of(&self, run: &Run) -> Result<Machine> {
        let of_users =
            || self.machine.with_variant(run.variant()).with_context(|| format!("{} has no variants", self.machine));
        run.machine().map_or_else(of_users, Ok)
    }

    /// Demands that no word of the user's is one that the bench varies.
    fn check_words(&self, runs: &[&Run]) -> Result<()> {
        for (word, run) in self.words.iter().flat_map(|word| runs.iter().map(move |run| (word, run))) {
            let own = run.words.iter().find(|own| key(own) == key(word));
            ensure!(own.is_none(), "`{word}`: that is what the bench varies");
        }
        Ok(())
    }

    /// The words of a run. The user's come last, where they win over a program's defaults.
    fn words(&self, run: &Run, machine: &Machine) -> Vec<String> {
        let heap = match machine {
            Machine::Qemu => (self.cores <= MOST_CORES_WITH_HEAP).then_some(HEAP),
            Machine::Simulated(_) => Some(SIMULATED_HEAP),
            Machine::Board | Machine::Threads(_) => None,
        };
        let heap = heap.filter(|_| !self.words.iter().any(|word| key(word) == key(HEAP)));
        let own = run.program_words().chain(heap);
        own.map(str::to_owned).chain(self.words.iter().cloned()).collect()
    }

    /// A run for messages.
    fn label(&self, run: &Run) -> String {
        let label = [run.program].into_iter().chain(run.words.iter().map(String::as_str));
        let label = label.collect::<Vec<_>>().join(" ");
        // That of a run with a machine of its own has it in its words.
        if run.machine().is_some() { label } else { format!("{label} on {}", self.place(self.cores_of(run))) }
    }
}

/// The key of a word `key=value`.
fn key(word: &str) -> &str {
    word.split('=').next().unwrap_or_default()
}

/// A bench whose runs are not all through.
struct Pending {
    left: usize,
    samples: Vec<Vec<Samples>>,
    failure: Option<anyhow::Error>,
}

impl Pending {
    fn of(runs: usize) -> Self {
        Self { left: runs, samples: vec![Vec::new(); runs], failure: None }
    }

    /// Takes what a run has measured. Returns all samples, or the first failure, with the last run.
    fn enter(&mut self, place: usize, samples: Result<Vec<Samples>>) -> Option<Result<Vec<Samples>>> {
        self.left -= 1;
        match samples {
            Ok(samples) => self.samples[place] = samples,
            Err(error) => _ = self.failure.get_or_insert(error),
        }
        if self.left > 0 {
            return None;
        }
        let all = std::mem::take(&mut self.samples).into_iter().flatten().collect();
        Some(self.failure.take().map_or(Ok(all), Err))
    }
}

/// Does something with each item, on `workers` threads. After a failure nothing new is begun.
fn in_parallel<I: Sync>(workers: usize, items: &[I], work: impl Fn(&I) -> Result<()> + Sync) -> Result<()> {
    let (next, failure) = (AtomicUsize::new(0), Mutex::new(None));
    let worker = || {
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(why) = work(item) {
                next.store(items.len(), Ordering::Relaxed);
                if let Ok(mut failure) = failure.lock() {
                    failure.get_or_insert(why);
                }
            }
        }
    };
    thread::scope(|scope| (0..workers.min(items.len())).for_each(|_| _ = scope.spawn(worker)));
    failure.into_inner().ok().flatten().map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::testing::sample;
    use anyhow::bail;
    use std::time::Duration;

    fn run(words: &[&str]) -> Run {
        Run { program: "bench-x", words: words.iter().map(ToString::to_string).collect() }
    }

    /// The runs that a machine allows.
    fn picked(machine: &str, cores: u32, runs: &[&[&str]]) -> Vec<Run> {
        let machine = machine.parse().unwrap();
        let setting = Setting {
            machine: &machine,
            cores,
            words: &[],
            limit: Duration::from_secs(1),
            board: true,
            yes: false,
            flame: None,
        };
        setting.possible(runs.iter().map(|words| run(words)).collect())
    }

    /// The machine of a run, its cores, and its words.
    fn composed(machine: &str, own: &[&str], users: &[&str]) -> Result<String> {
        let users: Vec<_> = users.iter().map(ToString::to_string).collect();
        let machine = machine.parse()?;
        let setting = Setting {
            machine: &machine,
            cores: 6,
            words: &users,
            limit: Duration::from_secs(1),
            board: true,
            yes: false,
            flame: None,
        };
        let run = run(own);
        setting.check_words(&[&run])?;
        Ok(format!(
            "{} {} {}",
            setting.machine_of(&run)?,
            setting.cores_of(&run),
            setting.words(&run, &setting.machine_of(&run)?).join(" ")
        ))
    }

    #[test]
    fn words_are_composed() {
        assert_eq!(
            composed("scc+ideal", &["class=a"], &["targets=3"]).unwrap(),
            "scc+ideal 6 class=a heap_kib=1048576 targets=3"
        );
        assert_eq!(composed("qemu", &["class=a"], &["targets=3"]).unwrap(), "qemu 6 class=a heap_kib=32768 targets=3");
        assert_eq!(composed("qemu", &["class=a"], &["heap_kib=9"]).unwrap(), "qemu 6 class=a heap_kib=9");
        let message = composed("scc", &["class=a"], &["class=b"]).unwrap_err().to_string();
        assert_eq!(message, "`class=b`: that is what the bench varies");
        assert_eq!(composed("scc", &["cores=4", "class=a"], &[]).unwrap(), "scc 4 class=a heap_kib=1048576");
    }

    #[test]
    fn a_variant_of_the_machine_is_no_word_of_the_program() {
        let own = &["machine=+contention", "class=a"];
        assert_eq!(composed("scc+ideal", own, &[]).unwrap(), "scc+contention 6 class=a heap_kib=1048576");
        assert_eq!(composed("scc+flat", own, &[]).unwrap(), "scc+flat 6 class=a heap_kib=1048576");
        assert!(composed("qemu", own, &[]).is_err());
    }

    #[test]
    fn the_board_is_left_out_where_nobody_wants_it() {
        let machine = Machine::default();
        let limit = Duration::from_secs(1);
        let setting =
            |board| Setting { machine: &machine, cores: 48, words: &[], limit, board, yes: false, flame: None };
        let runs = || vec![run(&["machine=scc-board"]), run(&["machine=mesh:2x2x2"]), run(&[])];
        assert_eq!([true, false].map(|board| setting(board).possible(runs()).len()), [3, 2]);
        assert_eq!(
            (run(&["machine=scc-board"]).suffix(), composed("scc", &["machine=scc-board", "cores=2"], &[]).unwrap()),
            ("@scc-board".into(), "scc-board 2 ".into())
        );
    }

    #[test]
    fn a_run_may_have_a_machine_of_its_own() {
        let own = &["machine=mesh:2x2x2", "class=a"];
        assert_eq!(composed("scc", own, &[]).unwrap(), "mesh:2x2x2 8 class=a heap_kib=1048576");
        let plain = &["class=a", "class=b"];
        assert_eq!((run(own).suffix(), run(plain).suffix()), ("@mesh".into(), String::new()));
        let picked = |machine: &str, cores| picked(machine, cores, &[own, plain]).len();
        assert_eq!(
            [picked("scc+ideal", 48), picked("scc+ideal", 47), picked("mesh:2x2x2", 8), picked("qemu", 48)],
            [2, 1, 1, 1]
        );
    }

    #[test]
    fn runs_are_picked() {
        let runs = [&["a"][..], &["a", "machine=+contention"], &["cores=9"], &["cores=4", "machine=+flat"]];
        let picked = |machine: &str| {
            let words = picked(machine, 6, &runs).iter().map(|run| run.words.join(" ")).collect::<Vec<_>>();
            words.join(", ")
        };
        assert_eq!(picked("scc+ideal"), "a, a machine=+contention, cores=4 machine=+flat");
        assert_eq!(picked("scc+contention"), "a, cores=4 machine=+flat");
        assert_eq!(picked("qemu"), "a");
    }

    #[test]
    fn a_bench_is_through_with_its_last_run() {
        let sample = |value: u64| vec![sample("a", [9, 0, 0], "m ns", value)];
        let mut pending = Pending::of(3);
        assert!(pending.enter(2, Ok(sample(2))).is_none() && pending.enter(0, Ok(sample(0))).is_none());
        let all = pending.enter(1, Ok(sample(1))).unwrap().unwrap();
        assert_eq!(all.iter().map(|samples| samples.values[0]).collect::<Vec<_>>(), [0, 1, 2]);
        let mut pending = Pending::of(3);
        assert!(
            pending.enter(0, Err(anyhow!("first"))).is_none() && pending.enter(1, Err(anyhow!("second"))).is_none()
        );
        assert_eq!(pending.enter(2, Ok(sample(0))).unwrap().unwrap_err().to_string(), "first");
    }

    #[test]
    fn every_item_has_its_turn() {
        let turns: Vec<AtomicUsize> = (0..50).map(|_| AtomicUsize::new(0)).collect();
        in_parallel(2, &turns, |turns| Ok(_ = turns.fetch_add(1, Ordering::Relaxed))).unwrap();
        assert!(turns.iter().all(|turns| turns.load(Ordering::Relaxed) == 1));
        assert!(in_parallel(2, &[0; 0], |_: &u64| Ok(())).is_ok());
    }

    #[test]
    fn the_first_failure_ends_the_queue() {
        let begun = AtomicUsize::new(0);
        let items: Vec<usize> = (0..1000).collect();
        let result = in_parallel(2, &items, |item| {
            begun.fetch_add(1, Ordering::Relaxed);
            // So that others do not get through all of them before the failure is seen.
            std::thread::sleep(Duration::from_millis(1));
            if *item == 3 { bail!("run {item} has failed") } else { Ok(()) }
        });
        assert_eq!(result.unwrap_err().to_string(), "run 3 has failed");
        assert!(begun.load(Ordering::Relaxed) < items.len());
    }
}
