//! What a program says of its own memory, as the checker takes it.

use crate::{
    Act, CoreId, LineAddress, SharedAddress,
    act::{Bytes, Synchronisation},
    cached::ViewAccess,
    kit::Event,
};

use super::{
    super::{
        Checker,
        finding::{Mistake, Remedy, Where},
        shadow::lines_of,
        stacks::Captured,
        terms::Id,
    },
    Exposed, Met, Operation,
    ends::End,
};

impl Checker {
    /// A program says what it does in its own memory.
    pub(in crate::sim) fn declare(&mut self, core: CoreId, now_ps: u64, act: &Act<'_>) {
        let index = core.index();
        let all = &mut self.one_sided;
        match *act {
            Act::Access { bytes: (start, len), stores, what } => {
                self.access(index, now_ps, start..start.saturating_add(len), stores, what)
            }
            Act::Sends { to, channel } => all.order.send(index, to.index(), channel),
            Act::Receives { from, channel } => all.order.receive(from.index(), index, channel),
            Act::Revokes { to, channel, later } => all.order.revoke(index, to.index(), channel, later),
            Act::Tells(place) => all.order.tell_at(index, place),
            Act::Hears { place, of } => all.order.hear(index, place, of),
            Act::Exposes { window, owner, bytes: (start, len), unit } => {
                all.exposed[index].push(Exposed { window, owner, bytes: start..start.saturating_add(len), unit });
            }
            // These the machine itself remembers.
            Act::HasPart { .. } | Act::FreesPart { .. } => {}
            Act::Withdraws { window, start } => all.withdraw(index, window, start),
            Act::Begins { number, what, own, target } => {
                let ends = all.ends_of(index, own, target.as_ref());
                let id = self.next_id(index, now_ps, what);
                let operation = Operation {
                    id,
                    number,
                    window: target.map(|target| target.window),
                    target: target.map(|target| target.core),
                    atomic: target.and_then(|target| target.atomic),
                    writes_target: target.is_some_and(|target| target.writes),
                    among_own: target.is_some_and(|target| target.is_memory),
                    over_here: None,
                    over_there: None,
                    ends,
                };
                self.begin(index, operation);
            }
            Act::Ends(number) => all.end(index, |operation| operation.number == number, true),
            Act::Completes { window, target, locally } => {
                let is_meant = |operation: &Operation| {
                    operation.window == Some(window) && (target.is_none() || operation.target == target)
                };
                all.end(index, is_meant, locally);
            }
            Act::Maps { start, shared, len } => {
                let maps = &mut self.cores[index].maps;
                maps.retain(|map| map.0.start != start);
                maps.push((start..start.saturating_add(len), shared));
            }
            Act::HandsOn(all) => self.cores[index].hands_on = all,
            Act::Synchronises { window, how } => {
                let id = self.next_id(index, now_ps, named(how));
                let met = self.one_sided.synchronise(index, id, window, how);
                self.report_all(id, met);
            }
            Act::Misuses { what, why } => {
                let id = self.next_id(index, now_ps, what);
                self.report_at(Mistake::OneSided, Remedy::Said(why), id, None, Where::Nowhere);
            }
        }
    }

    /// The core's next event, whose place is found out if it is wanted.
    fn next_id(&mut self, core: usize, now_ps: u64, what: &'static str) -> Id {
        let state = &mut self.cores[core];
        state.events += 1;
        let id = Id { core: core as u16, number: state.events };
        if self.wanted.contains(&id) {
            let captured = Captured::of(now_ps, &state.spans, what);
            self.captured.insert(id, captured);
            self.note_step(core, now_ps, what.to_owned());
        }
        id
    }

    /// The program of a core comes to bytes of cached memory by a pointer: what it has not come to since its last flush, it fetches now.
    fn visit(&mut self, core: usize, start: SharedAddress, len: usize, writes: bool) {
        for (at, mask) in lines_of(start, len) {
            let key = LineAddress::Shared(at).key();
            if self.cores[core].visited.insert(key) {
                let moment = self.moment + 1;
                self.cache(core).fetched.insert(key, moment);
                self.cores[core].visits.push((at, if writes { !mask } else { u32::MAX }));
            }
        }
    }

    fn access(&mut self, core: usize, now_ps: u64, bytes: Bytes, writes: bool, what: &'static str) {
        if bytes.is_empty() {
            return;
        }
        let map = self.cores[core].maps.iter().find(|map| map.0.start <= bytes.start && bytes.end <= map.0.end);
        if let Some((map, shared)) = map {
            let (start, len) = (shared.plus(bytes.start - map.start), bytes.len());
            let access = if writes { ViewAccess::Store } else { ViewAccess::Load };
            self.visit(core, start, len, writes);
            _ = self.observe(CoreId::new(core), now_ps, Event::View { start, len, access });
            return;
        }
        let (bytes, is_exposed) = self.one_sided.locate(core, bytes);
        // Nothing else may be counted: where a program's memory is differs from run to run.
        if !is_exposed && self.one_sided.ends.meet(&bytes).next().is_none() {
            return;
        }
        let id = self.next_id(core, now_ps, what);
        let end = End { operation: usize::MAX, bytes, writes, is_target: false };
        let met = self.one_sided.meet(core, &end, None);
        self.report_all(id, met);
        if is_exposed {
            let step = self.one_sided.order.step(core);
            self.one_sided.notes.add(&end.bytes, id, step, writes);
        }
    }

    fn begin(&mut self, core: usize, new: Operation) {
        let all = &self.one_sided;
        let meets = |end| all.meet(core, end, Some(&new)).into_iter().chain(all.meet_notes(core, end, &new));
        let mut met: Vec<_> = new.ends.iter().flat_map(meets).collect();
        met.extend(all.meet_no_put(core, &new));
        self.report_all(new.id, met);
        self.one_sided.begin(new);
    }

    fn report_all(&mut self, here: Id, met: Vec<Met>) {
        for Met { mistake, remedy, other, place } in met {
            self.report_at(mistake, remedy, here, Some(other), place);
        }
    }
}

/// What a core does when it synchronises a window, as the predicate of a sentence.
fn named(how: Synchronisation<'_>) -> &'static str {
    match how {
        Synchronisation::Fence(_) => "calls MPI_Win_fence",
        Synchronisation::Post(..) => "calls MPI_Win_post",
        Synchronisation::Wait => "calls MPI_Win_wait",
        Synchronisation::Start(..) => "calls MPI_Win_start",
        Synchronisation::Complete => "calls MPI_Win_complete",
        Synchronisation::Lock { target: Some(_), .. } => "calls MPI_Win_lock",
        Synchronisation::Lock { target: None, .. } => "calls MPI_Win_lock_all",
        Synchronisation::Unlock(Some(_)) => "calls MPI_Win_unlock",
        Synchronisation::Unlock(None) => "calls MPI_Win_unlock_all",
    }
}
