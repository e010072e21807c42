//! Who runs next, and when nobody can.

use super::{
    super::{
        access::Effect, choice::Question, course::Course, free::Next, processor::processor_time, waiting::CoreWait,
    },
    Engine, Event, Woken,
};

/// Events of one time from which the first is chosen; it bounds the work when all of 4096 cores start at once.
const MAX_TIES: usize = 16;

/// Turns after which it is looked whether there is processor time left, in a run with a limit.
const TURNS_OF_A_LOOK: u64 = 1 << 12;

impl Engine {
    /// Who runs next.
    pub(in crate::sim) fn next(&mut self) -> Next {
        if let Some(bounds) = self.bounds {
            self.turns += 1;
            let looks = self.turns.is_multiple_of(TURNS_OF_A_LOOK);
            if self.turns > bounds.turns || looks && processor_time() > bounds.processor {
                self.is_cut = true;
                return Next::Redundant;
            }
        }
        let next = match &mut self.free {
            Some(free) => match free.next(&mut self.chooser) {
                Next::Nobody => self.time_out().unwrap_or(Next::Nobody),
                next => next,
            },
            None if self.course.is_some() => self.next_of_course(),
            None => self.next_by_time(),
        };
        match next {
            Next::Nobody if self.another_round() => self.next(),
            next => next,
        }
    }

    fn next_by_time(&mut self) -> Next {
        // An interrupt that is on its way is not seen by looking, until it is there.
        if self.polling.is_over(self.waits.len()) && self.alarms.is_empty() && self.nothing_is_on_its_way() {
            return Next::Nobody;
        }
        self.move_traffic();
        if self.network.is_some()
            && let Some(stored) = self.move_network()
        {
            return Next::Store(stored);
        }
        let ready = self.ready.first_ps();
        let last_poll = self.last_polls.first().map_or(u64::MAX, |last| last.0);
        if let Some(&(time, core)) = self.alarms.first().filter(|alarm| alarm.0 <= ready.min(last_poll)) {
            self.alarms.pop_first();
            self.polling.something_changed();
            self.now_ps = self.now_ps.max(time);
            // A core that waits is entered for its next poll instead.
            return if self.wake(usize::from(core)) { Next::Core(usize::from(core)) } else { self.next_by_time() };
        }
        if last_poll < ready {
            return self.time_out().unwrap_or(Next::Nobody);
        }
        let Some(first) = self.take_ready() else { return Next::Nobody };
        let event = if self.chooser.freedom().ties { self.break_tie(first) } else { first };
        self.now_ps = event.time_ps;
        Next::Core(usize::from(event.core))
    }

    /// As [`next_by_time`](Self::next_by_time), where accesses do not meet and some cores may be slow.
    fn next_of_course(&mut self) -> Next {
        let soonest = self.course.as_ref().and_then(Course::soonest);
        let last_poll = self.last_polls.first().map_or(u64::MAX, |last| last.0);
        let ready = soonest.map_or(u64::MAX, |event| event.time_ps.max(self.now_ps));
        if let Some(&(time, core)) = self.alarms.first().filter(|alarm| alarm.0 <= ready.min(last_poll)) {
            self.alarms.pop_first();
            self.now_ps = self.now_ps.max(time);
            return if self.wake(usize::from(core)) { Next::Core(usize::from(core)) } else { self.next_of_course() };
        }
        if soonest.is_none_or(|event| last_poll < event.time_ps) {
            return self.time_out().unwrap_or(Next::Nobody);
        }
        let Some(event) = self.course.as_mut().and_then(Course::next) else { return Next::Nobody };
        let core = usize::from(event.core);
        self.now_ps = self.now_ps.max(event.time_ps);
        self.clocks[core] = self.clocks[core].max(self.now_ps);
        Next::Core(core)
    }

    /// Whether no store will change anything by itself, and no wait ends by itself.
    fn nothing_is_on_its_way(&self) -> bool {
        self.last_polls.is_empty()
            && self.polling.timed_trains == 0
            && self.network.as_ref().is_none_or(|network| !network.has_stores())
    }

    fn break_tie(&mut self, first: Event) -> Event {
        let mut ties = vec![first];
        while ties.len() < MAX_TIES && self.ready.first_ps() == first.time_ps {
            ties.extend(self.take_ready());
        }
        let chosen = ties.swap_remove(self.chooser.choose(Question::Tie, ties.len()));
        ties.into_iter().for_each(|event| self.make_ready(event));
        chosen
    }

    /// The core whose deadline comes first begins the last poll before it.
    fn time_out(&mut self) -> Option<Next> {
        let (time, core) = self.last_polls.pop_first()?;
        let core = usize::from(core);
        self.now_ps = self.now_ps.max(time);
        let wait = &mut self.waits[core];
        let period = (self.clocks[core] - wait.start_ps).max(1);
        self.clocks[core] = time;
        wait.parked = false;
        self.polling.parked -= 1;
        wait.last_poll_ps = None;
        wait.woken = Some(Woken::Poll { missed_polls: (time - wait.start_ps) / period - 1 });
        Some(Next::Core(core))
    }

    /// Before a machine is given up: a check that does not look at all its places in each poll may have last looked
    /// at one that has not changed. Let such cores poll on until each has had the time to look everywhere.
    fn another_round(&mut self) -> bool {
        let incomplete = |wait: &CoreWait| wait.parked && wait.samples.len() < wait.watched.len();
        let places = self.waits.iter().filter(|wait| incomplete(wait)).map(|wait| wait.watched.len()).max();
        if self.fruitless_rounds >= 2 * places.unwrap_or(0) {
            return false;
        }
        self.fruitless_rounds += 1;
        for core in 0..self.waits.len() {
            if incomplete(&self.waits[core]) {
                self.resume(core, Effect::Write);
            }
        }
        true
    }
}
