//! How a core of a cluster reaches memory: over the network, or through a cache that is coherent with others of its
//! node.

use crate::{Line, LineAddress};

use super::{
    super::{
        Cluster,
        access::{Access, Effect},
        cost::WriteCost,
        heat::Target,
        network::Stored,
        waiting::Sample,
    },
    SimPlatform,
    shared::insist,
};

impl SimPlatform {
    /// Lets the time come at which the last of `loads` loads reads the memory of a node. Returns how long its answer
    /// takes.
    pub(super) fn reach_over_network(&self, node: usize, line: Option<LineAddress>, loads: usize) -> u64 {
        let mut answer_ps = 0;
        for load in 0..loads {
            if load > 0 {
                self.shared.engine.borrow_mut().spend(self.core.index(), answer_ps);
            }
            answer_ps = self.shared.engine.borrow_mut().load(self.core.index(), node, line);
            self.give_way();
        }
        answer_ps
    }

    /// Hands a store to the network.
    pub(super) fn post(&self, node: usize, stored: Stored) {
        self.shared.engine.borrow_mut().post(self.core.index(), node, stored);
    }

    /// Waits until stores that were handed to the network are answered, before one that does not go there.
    pub(super) fn settle(&self) {
        let has_to_wait = self.shared.engine.borrow_mut().settle(self.core.index());
        if has_to_wait {
            self.give_way();
        }
    }

    /// Waits until what other cores of the node have handed to the network is answered.
    pub(super) fn settle_node(&self) {
        let others = self.shared.layout.domain_cores(self.shared.layout.domain(self.core));
        let has_to_wait = self.shared.engine.borrow_mut().settle_others(self.core.index(), others);
        if has_to_wait {
            self.give_way();
        }
    }

    /// Reads a line through a cache that is coherent with others of the node.
    pub(super) fn read_coherently(&self, at: LineAddress, cluster: &Cluster) -> Line {
        let (core, key) = (self.core.index(), at.key());
        let access = Access::line(at, u32::MAX, Effect::Read);
        let hit_ps = self.shared.cost.hit(cluster);
        if let Some(Sample::Line(_, line)) = self.replay(access, hit_ps) {
            return line;
        }
        self.reach(access, hit_ps);
        if !self.shared.engine.borrow().lines.holds(core, key) {
            let fetch_ps = self.shared.engine.borrow_mut().miss(core, key, cluster);
            self.reach(access, fetch_ps.saturating_sub(hit_ps));
            self.shared.engine.borrow_mut().lines.fetched(core, key);
        }
        let line = self.shared.read_line(at);
        self.sampled(Sample::Line(at, line));
        line
    }

    /// Writes bytes of a line through a cache that is coherent with others of the node.
    pub(super) fn write_coherently(
        &self,
        at: LineAddress,
        most: u32,
        take: &mut dyn FnMut() -> Option<(Line, u32)>,
        cluster: &Cluster,
    ) {
        let (core, key) = (self.core.index(), at.key());
        let access = Access::line(at, most, Effect::Write);
        let hit_ps = self.shared.cost.hit(cluster);
        self.settle();
        self.reach(access, hit_ps);
        if !self.shared.engine.borrow().lines.owns(core, key) {
            let fetch_ps = self.shared.engine.borrow_mut().miss(core, key, cluster);
            self.reach(access, fetch_ps.saturating_sub(hit_ps));
        }
        let Some((data, mask)) = take() else { return };
        self.count_write(Target::Line(at));
        insist(self.shared.write_line(at, &data, mask));
        let mut engine = self.shared.engine.borrow_mut();
        engine.lines.stored(core, key);
        engine.written(core, access, WriteCost { visible_ps: 0, complete_ps: 0 });
    }
}
