//! Running the cores of a machine, one at a time.

use std::panic::{AssertUnwindSafe, catch_unwind};

use corosensei::{Coroutine, CoroutineResult};

use crate::{CoreId, Counted, kit::panics};

use super::{
    Deadlock, Failure, Finished, SimCore, Waiting,
    asked::is_end_asked_for,
    fault_report::told,
    faults::{self, EndsAfterFault},
    free::Next,
    outcome::CoreOutcome,
    platform::{Running, Shared},
    unwinding,
};

/// A core's program, and what it has come to.
pub(super) struct Program {
    pub(super) coroutine: Coroutine<(), (), ()>,
    pub(super) outcome: Option<CoreOutcome<()>>,
}

/// Why a run ends before all cores have finished.
pub(super) enum Stopped {
    Failed(Failure),
    /// Nobody can run.
    Deadlock,
    /// All that could follow has been explored.
    Redundant,
}

/// Lets cores run, one at a time, until all have finished or no more can.
pub(super) fn drive(shared: &Shared, cores: &[Box<SimCore>], programs: &mut [Program]) -> Option<Stopped> {
    let _ends = EndsAfterFault::begin(shared, cores);
    let mut unfinished = programs.len();
    while unfinished > 0 {
        let next = shared.engine.borrow_mut().next();
        if is_end_asked_for() {
            let unfinished = programs.iter().zip(cores).filter(|(program, _)| program.outcome.is_none());
            faults::end_as_asked(shared, unfinished.map(|(_, core)| &**core));
        }
        let engine = shared.engine.borrow();
        if engine.stops_at(engine.now_ps) {
            let (time_ps, accesses) = (engine.now_ps, engine.work.accesses);
            return Some(Stopped::Failed(Failure::Stopped { time_ps, accesses }));
        }
        drop(engine);
        let index = match next {
            Next::Core(index) => index,
            Next::Store(stored) => {
                if let Err(conflict) = shared.land(stored) {
                    let (core, message) = (conflict.holder(), conflict.to_string());
                    let engine = shared.engine.borrow();
                    let (time_ps, recording) = (engine.now_ps, engine.chooser.recording());
                    return Some(Stopped::Failed(Failure::Panic { core, message, time_ps, recording }));
                }
                continue;
            }
            Next::Nobody => return Some(Stopped::Deadlock),
            Next::Redundant => return Some(Stopped::Redundant),
        };
        let (core, program) = (&cores[index], &mut programs[index]);
        let running = Running::now(core);
        let result = catch_unwind(AssertUnwindSafe(|| program.coroutine.resume(())));
        drop(running);
        match result {
            Ok(CoroutineResult::Yield(())) => {}
            Ok(CoroutineResult::Return(())) => {
                let time_ps = core.platform().now_ps();
                core.platform().ended();
                program.outcome = Some(CoreOutcome { result: (), counters: core.counters(), time_ps });
                shared.engine.borrow_mut().finished(index);
                unfinished -= 1;
            }
            Err(payload) => {
                let time_ps = core.platform().now_ps();
                let core = CoreId::new(index);
                let recording = shared.engine.borrow().chooser.recording();
                if let Some((what, place)) = unwinding::of_payload(&*payload) {
                    let (what, place) = (what.text().to_owned(), told(place).unwrap_or(place));
                    return Some(Stopped::Failed(Failure::Fault { core, what, place, time_ps, recording }));
                }
                let message = panics::take();
                return Some(Stopped::Failed(Failure::Panic { core, message, time_ps, recording }));
            }
        }
    }
    None
}

/// Who waits for what where nobody can run.
pub(super) fn deadlock(shared: &Shared, cores: &[Box<SimCore>], programs: &[Program]) -> Failure {
    let engine = shared.engine.borrow();
    let (mut waiting, mut finished) = (Vec::new(), Vec::new());
    for (index, program) in programs.iter().enumerate() {
        let core = CoreId::new(index);
        if let Some(outcome) = &program.outcome {
            finished.push(Finished { core, time_ps: outcome.time_ps, undrained: cores[index].undrained() });
            continue;
        }
        let wait = &engine.waits[index];
        let info = wait.info.expect("a core that cannot run is parked in a wait");
        waiting.push(Waiting {
            core,
            reason: info.reason,
            since_ps: wait.since_ps,
            undrained: info.undrained,
            register: wait.register,
            holder: wait.register.and_then(|register| shared.memory.holder(register)),
        });
    }
    if let Some(checker) = &shared.checker {
        let of_places = waiting.iter().filter(|waiting: &&Waiting| waiting.register.is_none());
        checker.borrow_mut().stand_still(of_places.map(|waiting| waiting.core));
    }
    // Who runs the same once more has been told, and who explores is told in the end.
    if shared.checker.as_ref().is_none_or(|checker| !checker.borrow().is_silent()) {
        faults::tell_where(waiting.iter().map(|waiting: &Waiting| &*cores[waiting.core.index()]));
    }
    let recording = engine.chooser.recording();
    Failure::Deadlock(Box::new(Deadlock { time_ps: engine.now_ps, waiting, finished, recording }))
}

/// Takes down what still runs. From here on operations do nothing.
pub(super) fn unwind(shared: &Shared, cores: &[Box<SimCore>], programs: &mut [Program]) {
    shared.dying.set(true);
    for (core, program) in cores.iter().zip(programs) {
        let _running = Running::now(core);
        // A destructor that panics meanwhile has nothing to add to the failure that is being reported.
        let _ = catch_unwind(AssertUnwindSafe(|| program.coroutine.force_unwind()));
    }
    panics::take();
}
