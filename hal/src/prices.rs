//! What the primitive operations of a machine cost: what algorithms are chosen by, alike on all cores and on every
//! backend. Nothing is charged by it.
//!
//! The [`Costs`] of a mesh are those of its machine file or board file; those of the Intel SCC are read from its file
//! when this crate is built, so that Table 1 of the OC-Bcast paper is written down there only. [`Prices`] are what they
//! come to on a [`Layout`](crate::Layout), at its mean distances.

/// What the operations of a mesh of tiles cost, as in machine files and board files: times in picoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Costs {
    /// A packet traverses one router.
    pub hop_ps: u32,
    /// Overhead of reading or writing one MPB line.
    pub mpb_ps: u32,
    /// Overhead of reading one line of off-chip memory.
    pub memory_read_ps: u32,
    /// Overhead of writing one line of off-chip memory.
    pub memory_write_ps: u32,
    /// Overhead of calling a put whose source is the own MPB, as setting a flag is one.
    pub put_from_mpb_ps: u32,
    /// Overhead of calling a put whose source is private memory.
    pub put_from_memory_ps: u32,
    /// Overhead of calling a get whose target is private memory.
    pub get_to_memory_ps: u32,
    /// Clock of the cores.
    pub core_mhz: u32,
    /// Sets of the last private cache.
    pub cache_sets: u32,
    /// For how long the port of an MPB serves one read. 0 where accesses do not wait for each other there.
    pub mpb_port_ps: u32,
    /// Whether all distances count as 1.
    pub is_flat: bool,
}

/// The machine file of the Intel SCC.
const SCC_FILE: &str = include_str!("../machines/scc.toml");

impl Costs {
    /// The Intel SCC, where accesses wait for each other.
    pub const SCC: Self = Self {
        hop_ps: scc("hop_ps"),
        mpb_ps: scc("mpb_ps"),
        memory_read_ps: scc("memory_read_ps"),
        memory_write_ps: scc("memory_write_ps"),
        put_from_mpb_ps: scc("put_from_mpb_ps"),
        put_from_memory_ps: scc("put_from_memory_ps"),
        get_to_memory_ps: scc("get_to_memory_ps"),
        core_mhz: scc("core_mhz"),
        cache_sets: scc("cache_sets"),
        mpb_port_ps: scc("mpb_port_ps"),
        is_flat: false,
    };

    /// What they come to on a mesh where two cores that run are `tenths_between` tenths of a router apart in the mean, beyond
    /// the one of the own tile, and two cores of the whole mesh `tenths_across`.
    pub(crate) fn prices(&self, tenths_between: u64, tenths_across: u64) -> Prices {
        let ns = |ps: u64| ps.div_ceil(1_000).min(u32::MAX.into()) as u32;
        let [hop, mpb, put_from_mpb] = [self.hop_ps, self.mpb_ps, self.put_from_mpb_ps].map(u64::from);
        let beyond_ps = |tenths: u64| if self.is_flat { 0 } else { hop * tenths / 10 };
        let way_ps = hop + beyond_ps(tenths_between);
        // A core's own controller, at the edge, is about half as far as another core.
        let memory_way_ps = hop + beyond_ps(tenths_across) / 2;
        let own_line_ps = mpb + 2 * hop;
        let push_ns = ns(put_from_mpb + own_line_ps + mpb + way_ps);
        let push_done_ns = ns(put_from_mpb + own_line_ps + mpb + 2 * way_ps);
        let line_ns = ns(mpb + 2 * way_ps);
        Prices {
            push_ns,
            push_done_ns,
            near_push_ns: push_ns,
            near_push_done_ns: push_done_ns,
            own_poll_ns: ns(own_line_ps),
            near_poll_ns: line_ns,
            poll_ns: line_ns,
            write_ns: line_ns,
            receive_ns: 0,
            near_transfer_ns: 0,
            loads: u32::MAX,
            cache_sets: self.cache_sets,
            port_ns: ns(self.mpb_port_ps.into()),
            serve_ns: ns(self.mpb_port_ps.into()),
            put_ns: ns(self.put_from_memory_ps.into()),
            get_ns: ns(self.get_to_memory_ps.into()),
            memory_read_ns: ns(u64::from(self.memory_read_ps) + 2 * memory_way_ps),
            memory_write_ns: ns(u64::from(self.memory_write_ps) + 2 * memory_way_ps),
            core_mhz: self.core_mhz,
        }
    }
}

/// The number with this key in the machine file of the SCC.
const fn scc(key: &str) -> u32 {
    let (text, key) = (SCC_FILE.as_bytes(), key.as_bytes());
    let mut line = 0;
    while line < text.len() {
        let mut place = 0;
        while place < key.len() && line + place < text.len() && text[line + place] == key[place] {
            place += 1;
        }
        if place == key.len() && text[line + place] == b' ' {
            return number(text, line + place);
        }
        while line < text.len() && text[line] != b'\n' {
            line += 1;
        }
        line += 1;
    }
    panic!("the machine file of the SCC lacks a key")
}

/// The number behind ` = `.
const fn number(text: &[u8], mut place: usize) -> u32 {
    while text[place] == b' ' || text[place] == b'=' {
        place += 1;
    }
    assert!(text[place].is_ascii_digit(), "a key of the machine file of the SCC is no number");
    let mut number = 0;
    while place < text.len() && (text[place].is_ascii_digit() || text[place] == b'_') {
        if text[place] != b'_' {
            number = 10 * number + (text[place] - b'0') as u32;
        }
        place += 1;
    }
    number
}

/// What the primitive operations of a machine cost at its mean distances, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Prices {
    /// Until a flag that is stored to another coherence domain's MPB and drained can be seen there.
    pub push_ns: u32,
    /// Until the core that stored it goes on.
    pub push_done_ns: u32,
    /// Until a flag that is stored to an MPB of the own coherence domain can be seen there.
    pub near_push_ns: u32,
    /// Until the core that stored it goes on.
    pub near_push_done_ns: u32,
    /// One poll of a line of the own MPB; a line written there takes as long.
    pub own_poll_ns: u32,
    /// One poll of a line of another MPB of the own coherence domain.
    pub near_poll_ns: u32,
    /// One poll of a line of another coherence domain's MPB.
    pub poll_ns: u32,
    /// Until a core goes on that has stored a line to another coherence domain's MPB, without a call.
    pub write_ns: u32,
    /// For how long a flag that comes from another coherence domain keeps others from being received there: of flags
    /// that come at one time to one domain, each can be seen so much later than the one before. 0 where they do not
    /// wait for each other.
    pub receive_ns: u32,
    /// For how long a core of the own coherence domain that fetches or changes a line keeps others of the domain from
    /// fetching it.
    pub near_transfer_ns: u32,
    /// Lines of other coherence domains that the cores of one can read at the same time; where they are more, they take
    /// turns.
    pub loads: u32,
    /// Sets of the last private cache.
    pub cache_sets: u32,
    /// For how long the poll of a core keeps other accesses out of the MPB that it looks at. 0 where accesses do not wait
    /// for each other.
    pub port_ns: u32,
    /// For how long a line that a core of another coherence domain reads keeps others of them from reading where it is; 0
    /// likewise.
    pub serve_ns: u32,
    /// Overhead of calling a put of lines from memory.
    pub put_ns: u32,
    /// Overhead of calling a get of lines to memory.
    pub get_ns: u32,
    /// One line of memory read.
    pub memory_read_ns: u32,
    /// One line of memory written.
    pub memory_write_ns: u32,
    /// Clock of the cores, for what they compute.
    pub core_mhz: u32,
}

#[cfg(test)]
mod tests {
    use crate::Layout;

    #[test]
    fn the_scc_has_the_prices_of_its_file() {
        let prices = Layout::scc().prices();
        // 69 + 136 + 126 ns, and 4.26 routers there, or there and back.
        assert_eq!((prices.push_ns, prices.push_done_ns), (353, 374));
        assert_eq!((prices.own_poll_ns, prices.poll_ns, prices.cache_sets), (136, 169, 2048));
        assert_eq!((prices.put_ns, prices.get_ns, prices.core_mhz), (190, 95, 533));
        assert_eq!((prices.port_ns, prices.serve_ns), (10, 10));
    }

    #[test]
    fn distances_are_those_of_the_mesh() {
        let routers = |layout: Layout| {
            let cores = || (0..layout.cores()).map(crate::CoreId::new);
            let pairs = || cores().flat_map(|one| cores().map(move |other| (one, other))).filter(|(a, b)| a != b);
            let total: u64 = pairs().map(|(a, b)| u64::from(layout.distance(a, b)) - 1).sum();
            (
                layout.mean_tenths_between(layout.columns() as u64, layout.rows() as u64),
                10 * total / pairs().count() as u64,
            )
        };
        for layout in [Layout::scc(), Layout::mesh(8, 8, 1), Layout::mesh(8, 8, 2), Layout::mesh(2, 2, 2)] {
            let (mean, counted) = routers(layout);
            assert!(mean.abs_diff(counted) <= 1, "{mean} {counted}");
        }
        let (grown, counted) = routers(Layout::scc().with_cores(255));
        assert!(grown.abs_diff(counted) <= 3, "{grown} {counted}");
        // What algorithms are fastest changes with the rows that are in use, and not with every core that runs beside.
        assert_eq!(Layout::scc().with_cores(37).prices(), Layout::scc().prices());
        assert_ne!(Layout::scc().with_cores(36).prices().poll_ns, Layout::scc().prices().poll_ns);
        assert_eq!(Layout::scc().with_cores(36).prices().memory_read_ns, Layout::scc().prices().memory_read_ns);
        assert_eq!(Layout::scc().with_cores(12).prices(), Layout::scc().prices());
        assert_eq!(Layout::mesh(1, 1, 1).mean_tenths_between(1, 1), 0);
    }
}
