//! What the scheduler does on a cluster: loads and stores over the network, and lines that caches hold.

use crate::LineAddress;

use super::{
    super::{
        Cluster,
        access::{Access, Effect},
        asked::is_end_asked_for,
        network::{Come, Network, Stored},
    },
    Engine, Event,
};

impl Engine {
    /// As [`reach`](Self::reach), for a load over the network. The core has to give way; returns how long the answer
    /// takes after the load has read memory.
    pub(in super::super) fn load(&mut self, core: usize, node: usize, line: Option<LineAddress>) -> u64 {
        self.work.accesses += 1;
        let wait = &mut self.waits[core];
        wait.polls_network |= wait.polling;
        let delay = if wait.polling { 0 } else { self.delay() };
        let start = self.clocks[core].saturating_add(delay).max(self.now_ps);
        let Some(network) = &mut self.network else { unreachable!("there is no network to load from") };
        network.load(core, node, line, start)
    }

    /// `core` hands a store to the network and goes on.
    pub(in super::super) fn post(&mut self, core: usize, node: usize, stored: Stored) {
        self.work.accesses += 1;
        self.fruitless_rounds = 0;
        let start = self.clocks[core].saturating_add(self.delay()).max(self.now_ps);
        let Some(network) = &mut self.network else { unreachable!("there is no network to store to") };
        self.clocks[core] = start + network.store(core, node, stored, start);
    }

    /// `core` waits until its posted stores are answered. Returns whether it has to give way for that.
    pub(in super::super) fn settle(&mut self, core: usize) -> bool {
        let Some(network) = &mut self.network else { return false };
        let settled = network.settle(core);
        if let Some(answered_ps) = settled {
            self.clocks[core] = self.clocks[core].max(answered_ps);
        }
        settled.is_none()
    }

    /// `core` waits until the stores are answered that `others` have on their way. Returns whether it has to give way.
    pub(in super::super) fn settle_others(&mut self, core: usize, others: impl Iterator<Item = usize>) -> bool {
        self.network.as_mut().is_some_and(|network| network.settle_others(core, others))
    }

    /// A store that was posted has just changed memory.
    pub(in super::super) fn landed(&mut self, access: Access) {
        self.lines.pushed(access.key);
        self.announce_change(access);
    }

    /// `core` finds that its cache does not hold a line of its node. Returns how long it takes to fetch it.
    pub(in super::super) fn miss(&mut self, core: usize, key: u64, cluster: &Cluster) -> u64 {
        let wait = &mut self.waits[core];
        wait.polls_memory |= wait.polling;
        cluster.memory_ps + self.lines.fetch(key, self.clocks[core], cluster.transfer_ps)
    }

    pub(super) fn next_of_network_ps(&self) -> u64 {
        self.network.as_ref().and_then(Network::next_ps).unwrap_or(u64::MAX)
    }

    /// Lets the network go on up to the first event that is not its own. Returns the store that takes effect, if one
    /// does.
    pub(super) fn move_network(&mut self) -> Option<Stored> {
        loop {
            let next = self.next_of_network_ps();
            let ready = self.ready.first_ps();
            let last_poll = self.last_polls.first().map_or(u64::MAX, |last| last.0);
            if is_end_asked_for() || next == u64::MAX || next > ready.min(last_poll).min(self.next_alarm_ps()) {
                return None;
            }
            match self.network.as_mut().and_then(|network| network.step(&self.lines)) {
                None => {}
                Some((time_ps, Come::Core(core))) => {
                    let clock = &mut self.clocks[usize::from(core)];
                    let time_ps = time_ps.max(*clock);
                    *clock = time_ps;
                    self.make_ready(Event { time_ps, effect: Effect::Read, core });
                }
                Some((time_ps, Come::Store(stored))) => {
                    self.now_ps = self.now_ps.max(time_ps);
                    return Some(stored);
                }
            }
        }
    }
}
