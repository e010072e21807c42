//! Numbers of the paper that more than one place here asks for.

/// Cores of the SCC.
pub(crate) const RANKS: u64 = 48;

/// By how much a put or get of any size over 9 routers takes longer than over 1, in percent (section 3.2).
pub(crate) const FARTHER: f64 = 30.0;

/// How many times as long as the fastest of 48 cores at one MPB the slowest takes at least: gets, then puts (3.3).
pub(crate) const UNFAIRNESS: [f64; 2] = [2.0, 4.0];

/// Table 2: analytical peak throughputs, in MB/s.
pub(crate) const PEAKS: [(&str, f64); 4] =
    [("oc-k2", 35.22), ("oc-k7", 34.30), ("oc-k47", 35.88), ("scatter-allgather", 13.38)];

/// How many times the peak of scatter-allgather that of k = 7 is, as the paper rounds it.
pub(crate) const PEAK_RATIO: f64 = 2.56;

/// Latencies of one line in section 6.2.1, in microseconds.
pub(crate) const LATENCIES: [(&str, f64); 2] = [("oc-k7", 16.6), ("binomial", 21.6)];

/// What the measured throughput of k = 47 is lower than the analytical one (section 6.2.2), in percent.
pub(crate) const LOST_BY_K47: f64 = 16.0;
