//! Petrović, Shahmirzadi, Ropars and Schiper, *High-Performance RMA-Based Broadcast on the Intel SCC* (OC-Bcast).
//!
//! What the paper's way of measuring costs is measured: times are read from the board's clock, and broadcasts are apart
//! or follow each other as its figures show that they did (bench `oc-bcast`). Its cold buffers need nothing: every
//! message has a place of its own, and every line of private memory is charged as one that no cache holds.

use super::measured::{
    IN_SEQUENCE, best_degree, buffers, degree_costs, dip, farther, gap, gap_in_sequence, gaps, growth, latency,
    latency_by_board_clock, loaded_link, lost, nearest, peak, threshold, two_cores_buffers, unfairness,
};
use super::published;
use crate::fidelity::{Band, Entry, NOT_PUBLISHED, Status};

/// Section 3.2 has its sentence below a figure of six sizes.
const SHORT_OPERATIONS: &str = "\"for a given message size […] only 30 %\" is true of long operations; of one line the call itself has a \
    larger share, and the paper's own formulas 11 and 7 come to 13.3 % for get and 23.5 % for put";

const PUTS: &str = "all of it is the service of the MPB's port: links add nothing, and without that service the mean does not grow. \
    12 ns for a put are the 9.5 ns of a get and two cycles of the mesh for the line that comes in. With 10 ns, 24 cores \
    would take 2 % longer, as the paper's sentence wants, but then the slowest of 48 would take twice the time of the \
    fastest and not more than four times";

const DEGREES: &str = "\"it can be shown analytically\" holds where a poll costs little. With the paper's own prices of flags and polls, a \
    tree of degree 3 notifies 47 children in 4.5 µs, and one of degree 2 in 5.4 µs; here 2.7 % of the broadcast are between them";

const BUFFERS: &str = "from 2nδ to nδ is what two equal copies of a chunk gain, and nothing else. By Table 1 a line takes 0.354 µs from \
    memory into an MPB and 0.607 µs from there to memory, so that two cores gain (0.354 + 0.607) / 0.607 = 1.58; 48 cores have 192 lines \
    in two chunks, and the first one fills the tree: the model of the whole protocol has 1.245";

const K_47: &str = "the paper predicts without distances and contention, and finds 16 % less on the chip; \
    both together take 12 % here, two thirds of that by distances. What else there is, we do not know";

const GAP: &str = "by the paper's own formula 13 it is 35 % where a message is one chunk; by its model in full it is 25 % at 192 lines, where \
    the second chunk costs both trees the same. So the sentence is true of the range's end, and of its mean within the band";

const APART: &str = "in a sequence, where a root gets ahead of the others by as many messages as its tree is deep, the two trees \
    are farther apart, which is why the paper's latencies are taken to be those of broadcasts that are apart. Its throughputs are those of \
    sequences, since only there 97 lines do worse than 96";

const ONE_LINE: &str = "modelled are broadcasts that are apart, cold buffers, and the board's clock, three accesses to an FPGA at a \
    price that is chosen (1.21 µs). What is missing of both numbers is the same to half a microsecond, so it is no property of \
    the trees: accesses of 3.4 µs would explain both to 2 %. Other candidates are flags of a line each, which the \
    paper's protocols have and ours pack, fresh pages, and the operating system";

/// What the paper has measured.
pub(crate) const ENTRIES: &[Entry] = &[
    Entry {
        source: "OC-Bcast, 3.2 and Fig. 3",
        what: "get of 128 lines over 9 routers: how much longer than over 1",
        unit: "%",
        published: 30.0,
        band: Band::Points(3.0),
        status: Status::Predicted,
        ours: |evidence| farther(evidence, "get-to-mpb", 128),
    },
    Entry {
        source: "OC-Bcast, 3.2 and Fig. 3",
        what: "put of 128 lines over 9 routers: how much longer than over 1",
        unit: "%",
        published: 30.0,
        band: Band::Points(3.0),
        status: Status::Predicted,
        ours: |evidence| farther(evidence, "put-from-mpb", 128),
    },
    Entry {
        source: "OC-Bcast, 3.2 and Fig. 3",
        what: "get of 1 line over 9 routers: how much longer than over 1",
        unit: "%",
        published: 30.0,
        band: Band::Points(3.0),
        status: Status::Unexplained(SHORT_OPERATIONS),
        ours: |evidence| farther(evidence, "get-to-mpb", 1),
    },
    Entry {
        source: "OC-Bcast, 3.2 and Fig. 3",
        what: "put of 1 line over 9 routers: how much longer than over 1",
        unit: "%",
        published: 30.0,
        band: Band::Points(3.0),
        status: Status::Unexplained(SHORT_OPERATIONS),
        ours: |evidence| farther(evidence, "put-from-mpb", 1),
    },
    // These two are what is in the price list, measured: that they come out shows that nothing is lost or added.
    Entry {
        source: "OC-Bcast, Table 1 by formula 11",
        what: "get of 1 line over 1 router",
        unit: "us",
        published: 0.602,
        band: Band::Percent(1.0),
        status: Status::Fitted,
        ours: |evidence| nearest(evidence, "get-to-mpb", 1),
    },
    Entry {
        source: "OC-Bcast, Table 1 by formula 7",
        what: "put of 1 line over 1 router",
        unit: "us",
        published: 0.341,
        band: Band::Percent(1.0),
        status: Status::Fitted,
        ours: |evidence| nearest(evidence, "put-from-mpb", 1),
    },
    Entry {
        source: "OC-Bcast, 3.3 and Fig. 4a",
        what: "most cores that get 128 lines from one MPB and take at most 3 % longer on the mean (scc+contention)",
        unit: "cores",
        published: 24.0,
        band: Band::Percent(0.0),
        status: Status::Fitted,
        ours: |evidence| threshold(evidence, "get", 128),
    },
    Entry {
        source: "OC-Bcast, 3.3 and Fig. 4a",
        what: "the slowest of 48 that get 128 lines, in times of the fastest (scc+contention)",
        unit: "x",
        published: 2.0,
        band: Band::AtLeast,
        status: Status::Fitted,
        ours: |evidence| unfairness(evidence, "get", 128),
    },
    Entry {
        source: "OC-Bcast, 3.3 and Fig. 4b",
        what: "the slowest of 48 that put 1 line, in times of the fastest (scc+contention)",
        unit: "x",
        published: 4.0,
        band: Band::AtLeast,
        status: Status::Fitted,
        ours: |evidence| unfairness(evidence, "put", 1),
    },
    Entry {
        source: "OC-Bcast, 3.3 and Fig. 4b",
        what: "24 cores that put 1 line to one MPB: by how much the mean grows (scc+contention)",
        unit: "%",
        published: 0.0,
        band: Band::Points(3.0),
        status: Status::Unexplained(PUTS),
        ours: |evidence| growth(evidence, "put", 24, 1),
    },
    Entry {
        source: "OC-Bcast, 3.3",
        what: "get of 128 lines over a loaded link: how much longer than over a free one (the bound is ours, scc+contention)",
        unit: "%",
        published: 0.0,
        band: Band::Points(1.0),
        status: Status::Predicted,
        ours: loaded_link,
    },
    Entry {
        source: "OC-Bcast, 4.1",
        what: "k = 7, one line: which notification degree of 2, 3 and 7 is fastest",
        unit: "",
        published: 2.0,
        band: Band::Percent(0.0),
        status: Status::Predicted,
        ours: |evidence| best_degree(evidence, "oc-k7", &[2, 3, 7]),
    },
    Entry {
        source: "OC-Bcast, 4.1",
        what: "k = 47, one line: which notification degree of 2, 3 and 47 is fastest",
        unit: "",
        published: 2.0,
        band: Band::Percent(0.0),
        status: Status::Unexplained(DEGREES),
        ours: |evidence| best_degree(evidence, "oc-k47", &[2, 3, 47]),
    },
    Entry {
        source: "OC-Bcast, 4.1",
        what: "k = 47, one line: what degree 3 adds to degree 2",
        unit: "%",
        published: NOT_PUBLISHED,
        band: Band::None,
        status: Status::Reported(DEGREES),
        ours: |evidence| degree_costs(evidence, "oc-k47", 3),
    },
    Entry {
        source: "OC-Bcast, 4.2",
        what: "two cores, 1 MiB: time with one buffer in times of that with two",
        unit: "x",
        published: 2.0,
        band: Band::Percent(10.0),
        status: Status::Unexplained(BUFFERS),
        ours: two_cores_buffers,
    },
    Entry {
        source: "OC-Bcast, 4.2 with steps by formulas 8 and 12",
        what: "two cores, 1 MiB: time with one buffer in times of that with two",
        unit: "x",
        published: 1.58,
        band: Band::Percent(10.0),
        status: Status::Predicted,
        ours: two_cores_buffers,
    },
    Entry {
        source: "OC-Bcast, 4.2",
        what: "k = 7, 192 lines to 48 cores: time with one buffer in times of that with two",
        unit: "x",
        published: 2.0,
        band: Band::Percent(10.0),
        status: Status::Unexplained(BUFFERS),
        ours: buffers,
    },
    Entry {
        source: "OC-Bcast, Table 2",
        what: "k = 2: peak throughput (scc+contention)",
        unit: "MB/s",
        published: published::PEAKS[0].1,
        band: Band::Percent(10.0),
        status: Status::Predicted,
        ours: |evidence| peak(evidence, "oc-k2+contention"),
    },
    Entry {
        source: "OC-Bcast, Table 2",
        what: "k = 7: peak throughput (scc+contention)",
        unit: "MB/s",
        published: published::PEAKS[1].1,
        band: Band::Percent(10.0),
        status: Status::Predicted,
        ours: |evidence| peak(evidence, "oc-k7+contention"),
    },
    Entry {
        source: "OC-Bcast, Table 2",
        what: "scatter-allgather: peak throughput (scc+contention)",
        unit: "MB/s",
        published: published::PEAKS[3].1,
        band: Band::Percent(10.0),
        status: Status::Predicted,
        ours: |evidence| peak(evidence, "scatter-allgather+contention"),
    },
    Entry {
        source: "OC-Bcast, Table 2",
        what: "k = 7: peak throughput in times of scatter-allgather's (scc+contention)",
        unit: "x",
        published: published::PEAK_RATIO,
        band: Band::Percent(10.0),
        status: Status::Predicted,
        ours: |evidence| Ok(peak(evidence, "oc-k7+contention")? / peak(evidence, "scatter-allgather+contention")?),
    },
    Entry {
        source: "OC-Bcast, Table 2",
        what: "k = 47: peak throughput (scc+contention)",
        unit: "MB/s",
        published: published::PEAKS[2].1,
        band: Band::Percent(10.0),
        status: Status::Reported(K_47),
        ours: |evidence| peak(evidence, "oc-k47+contention"),
    },
    Entry {
        source: "OC-Bcast, 6.2.2",
        what: "k = 47, 1 MiB: what distances and contention take from the throughput together",
        unit: "%",
        published: published::LOST_BY_K47,
        band: Band::None,
        status: Status::Reported(K_47),
        ours: |evidence| lost(evidence, "oc-k47+flat", "oc-k47+contention"),
    },
    Entry {
        source: "OC-Bcast, 6.2.2",
        what: "k = 47, 1 MiB: what distances take",
        unit: "%",
        published: NOT_PUBLISHED,
        band: Band::None,
        status: Status::Reported(K_47),
        ours: |evidence| lost(evidence, "oc-k47+flat", "oc-k47"),
    },
    Entry {
        source: "OC-Bcast, 6.2.2",
        what: "k = 47, 1 MiB: what contention takes from the rest",
        unit: "%",
        published: NOT_PUBLISHED,
        band: Band::None,
        status: Status::Reported(K_47),
        ours: |evidence| lost(evidence, "oc-k47", "oc-k47+contention"),
    },
    Entry {
        source: "OC-Bcast, 6.2.1 and Fig. 8a",
        what: "by how much k = 7 is faster than k = 2, mean over 96 to 192 lines (scc+contention, by the board's clock)",
        unit: "%",
        published: 25.0,
        band: Band::Points(5.0),
        status: Status::Predicted,
        ours: |evidence| {
            let gaps = gaps(evidence, "oc-k7", "oc-k2", 96)?;
            Ok(gaps.iter().sum::<f64>() / gaps.len() as f64)
        },
    },
    Entry {
        source: "OC-Bcast, 6.2.1 and Fig. 8a",
        what: "by how much k = 7 is faster than k = 2 at 96 lines (scc+contention, by the board's clock)",
        unit: "%",
        published: 25.0,
        band: Band::Points(5.0),
        status: Status::Unexplained(GAP),
        ours: |evidence| gap(evidence, "oc-k7", "oc-k2", 96),
    },
    Entry {
        source: "OC-Bcast, 6.2.1 and Fig. 8a",
        what: "by how much k = 7 is faster than k = 2 at 192 lines (scc+contention, by the board's clock)",
        unit: "%",
        published: 25.0,
        band: Band::Points(5.0),
        status: Status::Predicted,
        ours: |evidence| gap(evidence, "oc-k7", "oc-k2", 192),
    },
    Entry {
        source: "OC-Bcast, 6.2.1 and Fig. 8a",
        what: "by how much k = 7 is faster than k = 2 at 96 lines in a sequence (scc+contention)",
        unit: "%",
        published: 25.0,
        band: Band::None,
        status: Status::Reported(APART),
        ours: |evidence| gap_in_sequence(evidence, "oc-k7", "oc-k2", 96),
    },
    Entry {
        source: "OC-Bcast, 6.2.1 and Fig. 8a",
        what: "by how much k = 47 and k = 7 differ at most, 1 to 192 lines (the bound is ours, scc+contention, by the board's clock)",
        unit: "%",
        published: 0.0,
        band: Band::Points(10.0),
        status: Status::Predicted,
        ours: |evidence| Ok(gaps(evidence, "oc-k47", "oc-k7", 1)?.into_iter().map(f64::abs).fold(0.0, f64::max)),
    },
    Entry {
        source: "OC-Bcast, 6.2.1",
        what: "k = 7, one line (scc+contention, by the board's clock)",
        unit: "us",
        published: published::LATENCIES[0].1,
        band: Band::None,
        status: Status::Reported(ONE_LINE),
        ours: |evidence| latency_by_board_clock(evidence, "oc-k7+contention"),
    },
    Entry {
        source: "OC-Bcast, 6.2.1",
        what: "binomial tree, one line (scc+contention, by the board's clock)",
        unit: "us",
        published: published::LATENCIES[1].1,
        band: Band::None,
        status: Status::Reported(ONE_LINE),
        ours: |evidence| latency_by_board_clock(evidence, "binomial+contention"),
    },
    Entry {
        source: "OC-Bcast, 6.2.1",
        what: "one line: what the binomial tree takes longer (scc+contention, by the board's clock)",
        unit: "us",
        published: 5.0,
        band: Band::None,
        status: Status::Reported(ONE_LINE),
        ours: |evidence| {
            Ok(latency_by_board_clock(evidence, "binomial+contention")?
                - latency_by_board_clock(evidence, "oc-k7+contention")?)
        },
    },
    Entry {
        source: "OC-Bcast, 6.2.1",
        what: "k = 7, one line: of that, a broadcast that is alone",
        unit: "us",
        published: NOT_PUBLISHED,
        band: Band::None,
        status: Status::Reported(ONE_LINE),
        ours: |evidence| latency(evidence, "oc-k7+contention", "latency"),
    },
    Entry {
        source: "OC-Bcast, 6.2.1",
        what: "k = 7, one line: of that, reading the board's clock",
        unit: "us",
        published: NOT_PUBLISHED,
        band: Band::None,
        status: Status::Reported(ONE_LINE),
        ours: |evidence| {
            let alone = latency(evidence, "oc-k7+contention", "latency")?;
            Ok(latency_by_board_clock(evidence, "oc-k7+contention")? - alone)
        },
    },
    Entry {
        source: "OC-Bcast, 6.2.1",
        what: "k = 7, one line: not in that, what following another broadcast at once adds",
        unit: "us",
        published: NOT_PUBLISHED,
        band: Band::None,
        status: Status::Reported(ONE_LINE),
        ours: |evidence| {
            let alone = latency_by_board_clock(evidence, "oc-k7+contention")?;
            Ok(latency(evidence, "oc-k7+contention", IN_SEQUENCE)? - alone)
        },
    },
    Entry {
        source: "OC-Bcast, 6.2.1",
        what: "k = 7, one line: not in that, what flags of a line each add by the model",
        unit: "us",
        published: NOT_PUBLISHED,
        band: Band::None,
        status: Status::Reported(ONE_LINE),
        ours: |evidence| {
            let packed = latency(evidence, "model-signals-oc-k7", "latency.together")?;
            Ok(latency(evidence, "model-oc-k7", "latency")? - packed)
        },
    },
    Entry {
        source: "OC-Bcast, 6.2.2 and Fig. 8b",
        what: "k = 2, 7 and 47: throughput of 97 lines in parts of that of 96, where it drops least (the bound is ours, scc+contention)",
        unit: "x",
        published: 0.9,
        band: Band::AtMost,
        status: Status::Predicted,
        ours: |evidence| dip(evidence, &["oc-k2", "oc-k7", "oc-k47"]),
    },
];

#[cfg(test)]
#[path = "entries_tests.rs"]
mod tests;
