//! What the primitive operations of a machine cost: what algorithms are chosen by, alike on all cores and on every
//! backend. Nothing is charged by it.
//!
//! The [`Costs`] of a mesh are those of its machine file or board file. [`Prices`] are what they come to on a
//! [`Layout`](crate::Layout), at its mean distances.

use crate::Costs;

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
    /// that come at one time to one domain, each can be seen this much later than the one before. 0 where they do not
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

impl Prices {
    /// What costs come to on a mesh where two cores that run are `tenths_between` tenths of a router apart in the mean, beyond
    /// the one of the own tile, and two cores of the whole mesh `tenths_across`.
    pub(crate) fn of(costs: &Costs, tenths_between: u64, tenths_across: u64) -> Self {
        let ns = |ps: u64| ps.div_ceil(1_000).min(u32::MAX.into()) as u32;
        let [hop, mpb, put_from_mpb] = [costs.hop_ps, costs.mpb_ps, costs.put_from_mpb_ps].map(u64::from);
        let beyond_ps = |tenths: u64| hop * tenths / 10;
        let way_ps = hop + beyond_ps(tenths_between);
        // A core's own controller, at the edge, is about half as far as another core.
        let memory_way_ps = hop + beyond_ps(tenths_across) / 2;
        let own_line_ps = mpb + 2 * hop;
        let push_ns = ns(put_from_mpb + own_line_ps + mpb + way_ps);
        let push_done_ns = ns(put_from_mpb + own_line_ps + mpb + 2 * way_ps);
        let line_ns = ns(mpb + 2 * way_ps);
        Self {
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
            cache_sets: costs.cache_sets,
            port_ns: ns(costs.mpb_port_ps.into()),
            serve_ns: ns(costs.mpb_port_ps.into()),
            put_ns: ns(costs.put_from_memory_ps.into()),
            get_ns: ns(costs.get_to_memory_ps.into()),
            memory_read_ns: ns(u64::from(costs.memory_read_ps) + 2 * memory_way_ps),
            memory_write_ns: ns(u64::from(costs.memory_write_ps) + 2 * memory_way_ps),
            core_mhz: costs.core_mhz,
        }
    }

    /// The prices where all distances count as 1.
    #[cfg(feature = "sim")]
    pub(crate) fn flat(costs: &Costs) -> Self {
        Self::of(costs, 0, 0)
    }
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
