//! Petrović, Shahmirzadi, Ropars and Schiper, *High-Performance RMA-Based Broadcast on the Intel SCC* (OC-Bcast).
//!
//! What the paper's way of measuring costs is measured: latencies are those of broadcasts that follow each other, by the
//! board's clock (bench `oc-bcast`). Its cold buffers need nothing: every message has a place of its own, and every line
//! of private memory is charged as one that no cache holds.

mod measured;

use self::measured::{
    best_degree, buffers, degree_costs, dip, farther, gap, gaps, growth, latency, latency_as_there, loaded_link, lost,
    nearest, peak, threshold, two_cores_buffers, unfairness,
};
use super::entry::{Band, Entry, NOT_PUBLISHED, Status};

/// The sentence of section 3.2 is about long operations.
const SHORT_OPERATIONS: &str = "of the paper's own formulas, one line has a larger share of overhead that no distance changes: \
    13.3 % for get and 23.5 % for put";

const ONE_LINE: &str = "SHARES";

const K_47: &str = "K47";

const DEGREES: &str = "DEGREES";

const BUFFERS: &str = "BUFFERS";

/// What the paper has measured.
pub(super) const ENTRIES: &[Entry] = &[
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
        band: Band::None,
        status: Status::Unexplained(SHORT_OPERATIONS),
        ours: |evidence| farther(evidence, "get-to-mpb", 1),
    },
    Entry {
        source: "OC-Bcast, 3.2 and Fig. 3",
        what: "put of 1 line over 9 routers: how much longer than over 1",
        unit: "%",
        published: 30.0,
        band: Band::None,
        status: Status::Unexplained(SHORT_OPERATIONS),
        ours: |evidence| farther(evidence, "put-from-mpb", 1),
    },
    Entry {
        source: "OC-Bcast, Table 1 by formula 11",
        what: "get of 1 line over 1 router",
        unit: "us",
        published: 0.602,
        band: Band::Percent(1.0),
        status: Status::Predicted,
        ours: |evidence| nearest(evidence, "get-to-mpb", 1),
    },
    Entry {
        source: "OC-Bcast, Table 1 by formula 7",
        what: "put of 1 line over 1 router",
        unit: "us",
        published: 0.341,
        band: Band::Percent(1.0),
        status: Status::Predicted,
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
        band: Band::None,
        status: Status::Unexplained("PUTS"),
        ours: |evidence| growth(evidence, "put", 24, 1),
    },
    Entry {
        source: "OC-Bcast, 3.3",
        what: "get of 128 lines over a loaded link: how much longer than over a free one (scc+contention)",
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
        published: 35.22,
        band: Band::Percent(10.0),
        status: Status::Predicted,
        ours: |evidence| peak(evidence, "oc-k2+contention"),
    },
    Entry {
        source: "OC-Bcast, Table 2",
        what: "k = 7: peak throughput (scc+contention)",
        unit: "MB/s",
        published: 34.30,
        band: Band::Percent(10.0),
        status: Status::Predicted,
        ours: |evidence| peak(evidence, "oc-k7+contention"),
    },
    Entry {
        source: "OC-Bcast, Table 2",
        what: "scatter-allgather: peak throughput (scc+contention)",
        unit: "MB/s",
        published: 13.38,
        band: Band::Percent(10.0),
        status: Status::Predicted,
        ours: |evidence| peak(evidence, "scatter-allgather+contention"),
    },
    Entry {
        source: "OC-Bcast, Table 2",
        what: "k = 7: peak throughput in times of scatter-allgather's (scc+contention)",
        unit: "x",
        published: 2.56,
        band: Band::Percent(10.0),
        status: Status::Predicted,
        ours: |evidence| Ok(peak(evidence, "oc-k7+contention")? / peak(evidence, "scatter-allgather+contention")?),
    },
    Entry {
        source: "OC-Bcast, Table 2",
        what: "k = 47: peak throughput (scc+contention)",
        unit: "MB/s",
        published: 35.88,
        band: Band::Percent(10.0),
        status: Status::Reported(K_47),
        ours: |evidence| peak(evidence, "oc-k47+contention"),
    },
    Entry {
        source: "OC-Bcast, 6.2.2",
        what: "k = 47, 1 MiB: what distances and contention take from the throughput together",
        unit: "%",
        published: 16.0,
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
        what: "by how much k = 7 is faster than k = 2, mean over 96 to 192 lines (scc+contention, measured as there)",
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
        what: "the same at 96 lines",
        unit: "%",
        published: 25.0,
        band: Band::Points(5.0),
        status: Status::Unexplained("GAP"),
        ours: |evidence| gap(evidence, "oc-k7", "oc-k2", 96),
    },
    Entry {
        source: "OC-Bcast, 6.2.1 and Fig. 8a",
        what: "the same at 192 lines",
        unit: "%",
        published: 25.0,
        band: Band::Points(5.0),
        status: Status::Predicted,
        ours: |evidence| gap(evidence, "oc-k7", "oc-k2", 192),
    },
    Entry {
        source: "OC-Bcast, 6.2.1 and Fig. 8a",
        what: "by how much k = 47 and k = 7 differ at most, 1 to 192 lines (scc+contention, measured as there)",
        unit: "%",
        published: 0.0,
        band: Band::Points(10.0),
        status: Status::Predicted,
        ours: |evidence| Ok(gaps(evidence, "oc-k47", "oc-k7", 1)?.into_iter().map(f64::abs).fold(0.0, f64::max)),
    },
    Entry {
        source: "OC-Bcast, 6.2.1",
        what: "k = 7, one line (scc+contention, measured as there)",
        unit: "us",
        published: 16.6,
        band: Band::None,
        status: Status::Reported(ONE_LINE),
        ours: |evidence| latency_as_there(evidence, "oc-k7+contention"),
    },
    Entry {
        source: "OC-Bcast, 6.2.1",
        what: "binomial tree, one line (scc+contention, measured as there)",
        unit: "us",
        published: 21.6,
        band: Band::None,
        status: Status::Reported(ONE_LINE),
        ours: |evidence| latency_as_there(evidence, "binomial+contention"),
    },
    Entry {
        source: "OC-Bcast, 6.2.1",
        what: "one line: what the binomial tree takes longer (scc+contention, measured as there)",
        unit: "us",
        published: 5.0,
        band: Band::None,
        status: Status::Reported(ONE_LINE),
        ours: |evidence| {
            Ok(latency_as_there(evidence, "binomial+contention")? - latency_as_there(evidence, "oc-k7+contention")?)
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
            Ok(latency(evidence, "oc-k7+contention", "latency.board")? - alone)
        },
    },
    Entry {
        source: "OC-Bcast, 6.2.1",
        what: "k = 7, one line: of that, following the broadcast before",
        unit: "us",
        published: NOT_PUBLISHED,
        band: Band::None,
        status: Status::Reported(ONE_LINE),
        ours: |evidence| {
            let alone = latency(evidence, "oc-k7+contention", "latency.board")?;
            Ok(latency_as_there(evidence, "oc-k7+contention")? - alone)
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
        what: "k = 2, 7 and 47: throughput of 97 lines in parts of that of 96, where it drops least (scc+contention)",
        unit: "x",
        published: 0.9,
        band: Band::AtMost,
        status: Status::Predicted,
        ours: |evidence| dip(evidence, &["oc-k2", "oc-k7", "oc-k47"]),
    },
];

#[cfg(test)]
mod tests;
