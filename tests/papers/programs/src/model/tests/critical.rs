//! The simplified formulas of the paper's Figure 7: the critical path of the data alone, without notification. No
//! broadcast can be faster.
//!
//! The figure's second lines leave the overheads of put and get out as well, although they are set equal to the first
//! ones. These are the first ones. `O(log P)` is read as the number of levels.

use hal::LINE_BYTES;

use crate::model::{OcBcastModel, Setting, Time, megabytes_per_second};

/// Formula 13: latency of OC-Bcast for a message of one chunk, `C_put^mem(m) + depth · C_get^mpb(m) + C_get^mem(m)`.
pub(super) fn oc_bcast_latency(setting: &Setting, ranks: usize, lines: usize, k: usize) -> Time {
    setting.put_to_own_mpb(lines)
        + setting.get_to_own_mpb(lines) * OcBcastModel::new(*setting, k).depth(ranks)
        + setting.get_from_own_mpb(lines)
}

/// Formula 14: latency of the binomial tree, `⌈log₂ P⌉ (m C_w^mpb + C_get^mem(m)) + m C_r^mem`. The last term is in
/// the figure's second line only, and belongs to the root, which reads the message once.
pub(super) fn binomial_latency(setting: &Setting, ranks: usize, lines: usize) -> Time {
    let parameters = &setting.parameters;
    let levels = ranks.max(1).next_power_of_two().trailing_zeros() as usize;
    (parameters.write_mpb_line(1) * lines + setting.get_to_memory(lines)) * levels
        + parameters.read_memory_line(setting.memory_routers) * lines
}

/// Formula 15: throughput of OC-Bcast in MB/s, `M / (C_get^mpb(M) + C_get^mem(M))`, for chunks of `lines` lines.
pub(super) fn oc_bcast_throughput(setting: &Setting, lines: usize) -> f64 {
    megabytes_per_second(lines, setting.get_to_own_mpb(lines) + setting.get_from_own_mpb(lines))
}

/// Formula 16: throughput of scatter-allgather in MB/s for slices of `lines` lines, `P M / (P (C_put^mem(M) +
/// C_get^mem(M)) + (2 P − 3) (M C_w^mpb + C_get^mem(M)))`.
pub(super) fn scatter_allgather_throughput(setting: &Setting, ranks: usize, lines: usize) -> f64 {
    let get = setting.get_to_memory(lines);
    let from_memory = setting.put_to_own_mpb(lines) + get;
    let from_cache = setting.parameters.write_mpb_line(1) * lines + get;
    megabytes_per_second(ranks * lines, from_memory * ranks + from_cache * (2 * ranks).saturating_sub(3))
}

/// What no broadcast can exceed where each rank has one access under way: every rank reads each line once from an MPB
/// and writes it once to its memory. In MB/s.
pub(super) fn copy_bound(setting: &Setting) -> f64 {
    let parameters = &setting.parameters;
    let line = parameters.read_mpb_line(setting.mpb_routers) + parameters.write_memory_line(setting.memory_routers);
    LINE_BYTES as f64 / line.as_us()
}
