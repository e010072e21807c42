//! What the model starts from: the paper's Table 1, distances, and what flags cost.

use super::Time;

/// The parameters of the paper's Table 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parameters {
    /// `L^hop`: a packet traverses one router.
    pub hop: Time,
    /// `o^mpb`: overhead of reading or writing one MPB line.
    pub mpb: Time,
    /// `o_w^mem`: overhead of writing one line of private off-chip memory.
    pub memory_write: Time,
    /// `o_r^mem`: overhead of reading one line of private off-chip memory.
    pub memory_read: Time,
    /// `o_put^mpb`: overhead of a put whose source is the own MPB.
    pub put_from_mpb: Time,
    /// `o_get^mpb`: overhead of a get whose target is the own MPB.
    pub get_to_mpb: Time,
    /// `o_put^mem`: overhead of a put whose source is private memory.
    pub put_from_memory: Time,
    /// `o_get^mem`: overhead of a get whose target is private memory.
    pub get_to_memory: Time,
}

impl Parameters {
    /// The paper's Table 1: the SCC with cores of 533 MHz, mesh and memory of 800 MHz.
    pub const SCC: Self = Self {
        hop: Time::from_ns(5),
        mpb: Time::from_ns(126),
        memory_write: Time::from_ns(461),
        memory_read: Time::from_ns(208),
        put_from_mpb: Time::from_ns(69),
        get_to_mpb: Time::from_ns(330),
        put_from_memory: Time::from_ns(190),
        get_to_memory: Time::from_ns(95),
    };
}

impl Default for Parameters {
    fn default() -> Self {
        Self::SCC
    }
}

/// What waiting for flags costs. Setting one is a put of one line in any case (section 4.1: "set … using put").
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flags {
    /// What a poll costs beside reading the line from the own MPB.
    pub poll_overhead: Time,
    /// Flags of different writers that share a line, and are polled by one read of it.
    pub per_line: usize,
    /// When a poll finds a flag that is set while the core waits.
    pub seen: Seen,
}

/// When a waiting core notices a flag.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seen {
    /// A poll begins at the moment when the flag is set: "we assume that no time elapses between setting the flag and
    /// checking that the flag is set" (section 5.1).
    AtOnce,
    /// Polls follow each other without a gap, and the first to end at or after that moment sees the flag.
    ByNextPoll,
}

impl Flags {
    /// The paper's flags: a line for each, polled one after the other, each poll with the call overhead of a get.
    ///
    /// The paper does not say what a poll costs. That it is `o_get^mpb + C_r^mpb` is what its Table 2 shows, see
    /// [`oc_bcast`](super::oc_bcast).
    pub const PAPER: Self = Self { poll_overhead: Parameters::SCC.get_to_mpb, per_line: 1, seen: Seen::AtOnce };

    /// Atoll's [signals](::collectives::mpb::signals): 32 in a line, polled without a call; before each poll L1 forgets
    /// its MPB lines, which takes one cycle of a core at 533 MHz.
    pub const SIGNALS: Self = Self { poll_overhead: Time::from_ps(1_876), per_line: 32, seen: Seen::ByNextPoll };
}

/// Where a model applies: parameters, distances and flags.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setting {
    /// Costs of the operations.
    pub parameters: Parameters,
    /// `d^mpb`: routers between a core and any other core's MPB. The own MPB is always behind one.
    pub mpb_routers: usize,
    /// `d^mem`: routers between a core and its memory controller.
    pub memory_routers: usize,
    /// Costs of waiting.
    pub flags: Flags,
}

impl Setting {
    /// The setting of the paper's analysis (section 5.1): all distances are 1.
    pub const PAPER: Self =
        Self { parameters: Parameters::SCC, mpb_routers: 1, memory_routers: 1, flags: Flags::PAPER };

    /// [`PAPER`](Self::PAPER) with Atoll's signals: what a simulated machine does whose distances are all 1,
    /// without contention.
    pub const SIGNALS: Self = Self { flags: Flags::SIGNALS, ..Self::PAPER };

    /// Setting a flag in another core's MPB, until the core that sets it goes on.
    pub fn set_flag(&self) -> Time {
        self.parameters.put_from_mpb_completion(1, self.mpb_routers)
    }

    /// Setting a flag in another core's MPB, until it can be seen there.
    pub fn set_flag_latency(&self) -> Time {
        self.parameters.put_from_mpb_latency(1, self.mpb_routers)
    }

    /// One poll of a line of the own MPB.
    pub fn poll(&self) -> Time {
        self.flags.poll_overhead + self.parameters.read_mpb_line(1)
    }

    /// When a core that polls from `since` on has seen a flag that can be seen from `visible` on.
    pub fn seen(&self, since: Time, visible: Time) -> Time {
        let poll = self.poll();
        match self.flags.seen {
            Seen::AtOnce => since.max(visible) + poll,
            Seen::ByNextPoll => {
                let polls = (visible - since).as_ps().div_ceil(poll.as_ps().max(1)).max(1);
                since + Time::from_ps(poll.as_ps().saturating_mul(polls))
            }
        }
    }

    /// [`put_from_memory_completion`](Parameters::put_from_memory_completion) to the own MPB.
    pub fn put_to_own_mpb(&self, lines: usize) -> Time {
        self.parameters.put_from_memory_completion(lines, self.memory_routers, 1)
    }

    /// A put to the own MPB of private data that L1 holds, which is read in no time (section 5.2.2).
    pub fn put_from_cache(&self, lines: usize) -> Time {
        self.parameters.put_from_memory + self.parameters.write_mpb_line(1) * lines
    }

    /// A get from another core's MPB to the own one.
    pub fn get_to_own_mpb(&self, lines: usize) -> Time {
        self.parameters.get_to_mpb_completion(lines, self.mpb_routers)
    }

    /// A get from another core's MPB to private memory.
    pub fn get_to_memory(&self, lines: usize) -> Time {
        self.parameters.get_to_memory_completion(lines, self.mpb_routers, self.memory_routers)
    }

    /// A get from the own MPB to private memory.
    pub fn get_from_own_mpb(&self, lines: usize) -> Time {
        self.parameters.get_to_memory_completion(lines, 1, self.memory_routers)
    }
}

impl Default for Setting {
    fn default() -> Self {
        Self::PAPER
    }
}
