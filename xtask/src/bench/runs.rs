//! The runs of a bench: independent guests, as many at a time as the host has cores.

use super::{
    Machine,
    catalogue::{Bench, Run},
    series::Samples,
};
use crate::{
    cores, guest, image, image::Profile, memory, program::Program, progress::Progress, qemu, run, setup, sim,
    words::Words,
};
use anyhow::{Context, Result, anyhow, ensure};
use std::{
    path::PathBuf,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

/// What all runs of a bench have in common.
pub(crate) struct Setting<'s> {
    pub(crate) machine: &'s Machine,
    pub(crate) cores: u32,
    /// The user's words for the programs.
    pub(crate) words: &'s [String],
    pub(crate) limit: Duration,
}

/// Heaps in QEMU, where there is memory for them and the user says nothing else.
const HEAP: &str = "heap_kib=32768";

/// What runs, once it is built.
enum Built {
    Simulator(PathBuf),
    Image { executable: PathBuf, qemu: PathBuf, plan: memory::Plan },
}

impl Setting<'_> {
    /// Builds what is needed and runs everything; returns the samples in the order of the runs.
    ///
    /// # Errors
    ///
    /// When a run fails, with its name.
    pub(crate) fn run_all(&self, bench: &str, runs: &[Run], yes: bool) -> Result<Vec<Samples>> {
        let runs = self.possible(runs);
        for run in &runs {
            self.words(run)?;
        }
        let built = self.build(&runs, yes)?;
        let progress = Progress::bar(format!("{bench} on {}", self.place(self.cores)), runs.len() as u64);
        let results = in_parallel(&runs, |run| {
            let samples = self.measure(run, &built);
            progress.step();
            samples
        })?;
        Ok(results.into_iter().flatten().collect())
    }

    /// Builds what is needed and runs all runs of several benches, as many at a time as the host has cores. Tells
    /// `finished` of each bench that is through: its place in the list, and its samples in the order of its runs, or why a
    /// run has failed, after which no more of that bench are begun.
    ///
    /// # Errors
    ///
    /// When nothing can run, or the user wants to stop.
    pub(crate) fn run_each(
        &self,
        benches: &[&Bench],
        yes: bool,
        finished: impl Fn(usize, Result<Vec<Samples>>, &Progress) + Sync,
    ) -> Result<()> {
        let of_each: Vec<Vec<&Run>> = benches.iter().map(|bench| self.possible(bench.runs)).collect();
        let all: Vec<(usize, usize, &Run)> = of_each
            .iter()
            .enumerate()
            .flat_map(|(bench, runs)| runs.iter().enumerate().map(move |(place, run)| (bench, place, *run)))
            .collect();
        for (_, _, run) in &all {
            self.words(run)?;
        }
        let built = self.build(&all.iter().map(|(_, _, run)| *run).collect::<Vec<_>>(), yes)?;
        let label = format!("{} benches on {}", benches.len(), self.place(self.cores));
        let progress = Progress::bar(label, all.len() as u64);
        let pending: Vec<_> = of_each.iter().map(|runs| Mutex::new(Pending::of(runs.len()))).collect();
        // There is a bench of which nothing is possible here: under QEMU, for one.
        for place in (0..benches.len()).filter(|place| of_each[*place].is_empty()) {
            finished(place, Err(anyhow!("it has nothing to run on {}", self.machine)), &progress);
        }
        in_parallel(&all, |(bench, place, run)| {
            let is_needless = || pending[*bench].lock().is_ok_and(|pending| pending.failure.is_some());
            let samples = if is_needless() { Ok(Vec::new()) } else { self.measure(run, &built) };
            crate::interrupt::check()?;
            progress.step();
            let Ok(mut pending) = pending[*bench].lock() else { return Ok(()) };
            if let Some(samples) = pending.enter(*place, samples) {
                finished(*bench, samples, &progress);
            }
            Ok(())
        })?;
        Ok(())
    }

    /// One run, and what it has measured.
    fn measure(&self, run: &Run, built: &Built) -> Result<Vec<Samples>> {
        let outcome = self.run(run, built)?;
        let verdict = outcome.verdict();
        if verdict.is_err() {
            outcome.show_tail();
        }
        verdict?;
        let mut samples = outcome.transcript.samples;
        ensure!(!samples.is_empty(), "{} has measured nothing", outcome.label);
        if !self.machine.is_variant() {
            samples.iter_mut().for_each(|samples| samples.key.variant = run.suffix());
        }
        Ok(samples)
    }

    /// The runs that this machine and number of cores allow. Those that differ only in a variant of the machine are
    /// one where the user has chosen the variant.
    fn possible<'r>(&self, runs: &'r [Run]) -> Vec<&'r Run> {
        let fits = |run: &&Run| run.cores().is_none_or(|cores| cores <= self.cores);
        let is_default = *self.machine == Machine::default() && self.cores == self.machine.default_cores();
        let others = runs.iter().filter(|run| run.machine().is_some()).count();
        if others > 0 && !is_default {
            println!("{others} runs on other machines: left out, they are part of the bench on all cores of `scc`");
        }
        let mut possible: Vec<&Run> = Vec::new();
        for run in runs.iter().filter(fits).filter(|run| is_default || run.machine().is_none()) {
            let is_same = |other: &&Run| {
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

    fn build(&self, runs: &[&Run], yes: bool) -> Result<Built> {
        // One image holds all programs.
        let first = runs.first().context("there is nothing to run")?;
        let program = Program::resolve(first.program)?;
        match self.machine {
            Machine::Simulated(_) => {
                let built = image::host(&program, Profile::Release)?;
                if let Some(objdump) = setup::objdump() {
                    sim::check_statics(&objdump, &built.executable, &program)?;
                }
                Ok(Built::Simulator(built.executable))
            }
            Machine::Qemu => {
                // What suffices for all of its cores suffices for fewer.
                let cores = qemu_cores(self.cores)?;
                // Buffers of 16 operations, as the sender and the receiver of packets keep them, outgrow the heaps of
                // other programs.
                let roomy: Vec<_> = [HEAP].into_iter().map(str::to_owned).chain(self.words.iter().cloned()).collect();
                let plan = run::plan(cores, &[], &roomy).or_else(|_| run::plan(cores, &[], self.words))?;
                let tools: setup::Tools = setup::ensure(yes)?;
                let built = image::bare_metal(&program, &tools)?;
                Ok(Built::Image { executable: built.executable, qemu: tools.qemu, plan })
            }
        }
    }

    /// The words of a run. The user's come last, where they win over a program's defaults.
    fn words(&self, run: &Run) -> Result<Words> {
        for word in self.words {
            let key = |word: &str| word.split('=').next().map(str::to_owned);
            let own = run.words.iter().find(|own| key(own) == key(word));
            ensure!(own.is_none(), "`{word}`: that is what the bench varies");
        }
        let own: Vec<_> = run.program_words().map(ToString::to_string).collect();
        let words = Words::default().value("program", Some(run.program)).free(&own)?.free(self.words)?;
        let of_users = || self.machine.with_variant(run.variant()).context("QEMU has no variants");
        let machine = run.machine().map_or_else(of_users, |machine| Ok(Machine::Simulated(machine)))?;
        Ok(match machine {
            Machine::Simulated(machine) => {
                words.value("machine", Some(machine)).value("cores", Some(self.cores_of(run)))
            }
            Machine::Qemu => words,
        })
    }

    fn run(&self, run: &Run, built: &Built) -> Result<guest::Outcome> {
        let cores = self.cores_of(run);
        let label = [run.program].iter().chain(run.words).copied().collect::<Vec<_>>().join(" ");
        // That of a run with a machine of its own has it in its words.
        let label = if run.machine().is_some() { label } else { format!("{label} on {}", self.place(cores)) };
        let words = self.words(run)?;
        match built {
            Built::Simulator(binary) => {
                let mut command = sim::command(binary, &words.to_string(), &[]);
                guest::run(&label, &mut command, None, self.limit, |_| {})
            }
            Built::Image { executable, qemu, plan } => {
                let machine = qemu::Machine {
                    qemu,
                    image: executable,
                    inputs: &[],
                    cores: qemu_cores(cores)?,
                    plan,
                    words,
                    thread_multi: false,
                };
                let mut staged = machine.stage()?;
                guest::run(&label, &mut staged.command, Some(&staged.inquiry), self.limit, |_| {})
            }
        }
    }
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

fn qemu_cores(cores: u32) -> Result<u16> {
    cores::number(&cores.to_string())
}

/// Does something with each item, on as many threads as the host has cores; returns the results in the items' order.
/// After a failure nothing new is begun.
fn in_parallel<I: Sync, R: Send>(items: &[I], work: impl Fn(&I) -> Result<R> + Sync) -> Result<Vec<R>> {
    let results: Vec<Mutex<Option<Result<R>>>> = items.iter().map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    let worker = || {
        while let Some((item, slot)) = {
            let place = next.fetch_add(1, Ordering::Relaxed);
            items.get(place).zip(results.get(place))
        } {
            let result = work(item);
            if result.is_err() {
                next.store(items.len(), Ordering::Relaxed);
            }
            if let Ok(mut slot) = slot.lock() {
                *slot = Some(result);
            }
        }
    };
    let workers = thread::available_parallelism().map_or(1, usize::from).min(items.len());
    thread::scope(|scope| (0..workers).for_each(|_| _ = scope.spawn(worker)));
    let results: Vec<_> = results.into_iter().filter_map(|slot| slot.into_inner().ok().flatten()).collect();
    let finished = results.into_iter().collect::<Result<Vec<_>>>()?;
    if finished.len() == items.len() { Ok(finished) } else { Err(anyhow!("a run has ended without a result")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::bail;

    fn words(machine: &str, own: &'static [&'static str], users: &[&str]) -> Result<String> {
        let users: Vec<_> = users.iter().map(ToString::to_string).collect();
        let machine = machine.parse()?;
        let setting = Setting { machine: &machine, cores: 6, words: &users, limit: Duration::from_secs(1) };
        setting.words(&Run { program: "bench-x", words: own }).map(|words| words.to_string())
    }

    #[test]
    fn words_are_composed() {
        let expected = "program=bench-x class=a targets=3 machine=scc cores=6";
        assert_eq!(words("scc", &["class=a"], &["targets=3"]).unwrap(), expected);
        assert_eq!(words("qemu", &["class=a"], &["targets=3"]).unwrap(), "program=bench-x class=a targets=3");
        let message = words("scc", &["class=a"], &["class=b"]).unwrap_err().to_string();
        assert_eq!(message, "`class=b`: that is what the bench varies");
        assert!(words("scc", &[], &["cores=3"]).is_err());
        let fewer = "program=bench-x class=a machine=scc cores=4";
        assert_eq!(words("scc", &["cores=4", "class=a"], &[]).unwrap(), fewer);
    }

    #[test]
    fn a_variant_of_the_machine_is_no_word_of_the_program() {
        let own = &["machine=+contention", "class=a"];
        assert_eq!(words("scc", own, &[]).unwrap(), "program=bench-x class=a machine=scc+contention cores=6");
        assert_eq!(words("scc+flat", own, &[]).unwrap(), "program=bench-x class=a machine=scc+flat cores=6");
        assert!(words("qemu", own, &[]).is_err());
    }

    #[test]
    fn a_run_may_have_a_machine_of_its_own() {
        let own = &["machine=mesh:2x2x2", "class=a"];
        assert_eq!(words("scc", own, &[]).unwrap(), "program=bench-x class=a machine=mesh:2x2x2 cores=8");
        let runs = [own, &["class=a", "class=b"]].map(|words| Run { program: "bench-x", words });
        assert_eq!((runs[0].suffix(), runs[1].suffix()), ("@mesh".into(), String::new()));
        let picked = |machine: &str, cores| {
            let machine = machine.parse().unwrap();
            let setting = Setting { machine: &machine, cores, words: &[], limit: Duration::from_secs(1) };
            setting.possible(&runs).len()
        };
        assert_eq!([picked("scc", 48), picked("scc", 47), picked("mesh:2x2x2", 8), picked("qemu", 48)], [2, 1, 1, 1]);
    }

    #[test]
    fn runs_are_picked() {
        let runs: Vec<Run> = [&["a"][..], &["a", "machine=+contention"], &["cores=9"], &["cores=4", "machine=+flat"]]
            .map(|words| Run { program: "bench-x", words })
            .into();
        let picked = |machine: &str| {
            let machine = machine.parse().unwrap();
            let setting = Setting { machine: &machine, cores: 6, words: &[], limit: Duration::from_secs(1) };
            let words = setting.possible(&runs).iter().map(|run| run.words.join(" ")).collect::<Vec<_>>();
            words.join(", ")
        };
        assert_eq!(picked("scc"), "a, a machine=+contention, cores=4 machine=+flat");
        assert_eq!(picked("scc+contention"), "a, cores=4 machine=+flat");
        assert_eq!(picked("qemu"), "a");
    }

    #[test]
    fn a_bench_is_through_with_its_last_run() {
        let sample = |value: u64| {
            let line = format!("algorithm=a ranks=9 param=0 bytes=0 metric=m unit=ns {value}");
            vec![Samples::parse(&line).unwrap()]
        };
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
    fn results_come_in_order() {
        let items: Vec<u64> = (0..50).collect();
        let squares = in_parallel(&items, |item| {
            thread::sleep(Duration::from_millis(item % 3));
            Ok(item * item)
        });
        assert_eq!(squares.unwrap(), items.iter().map(|item| item * item).collect::<Vec<_>>());
        assert!(in_parallel(&[0; 0], |_: &u64| Ok(())).unwrap().is_empty());
    }

    #[test]
    fn the_first_failure_ends_the_queue() {
        let begun = AtomicUsize::new(0);
        let items: Vec<usize> = (0..1000).collect();
        let result = in_parallel(&items, |item| {
            begun.fetch_add(1, Ordering::Relaxed);
            // So that others do not get through all of them before the failure is seen.
            std::thread::sleep(Duration::from_millis(1));
            if *item == 3 { bail!("run {item} has failed") } else { Ok(()) }
        });
        assert_eq!(result.unwrap_err().to_string(), "run 3 has failed");
        assert!(begun.load(Ordering::Relaxed) < items.len());
    }
}
