//! The tables: parameters of the model, and peak throughputs.

use super::{
    broadcast::LEAST_PEAK_BYTES,
    measured::{MANY, PEAK, completion},
};
use crate::{
    bench::{Missing, Rows},
    figures::{figure::Content, numbers::number},
};

/// The degrees that the paper compares, as it names them.
pub(crate) const DEGREES: [(&str, &str); 3] = [("k = 2", "oc-k2"), ("k = 7", "oc-k7"), ("k = 47", "oc-k47")];

pub(crate) const SCATTER_ALLGATHER: (&str, &str) = ("scatter-allgather", "scatter-allgather");

/// The model's parameters, in microseconds.
#[derive(Debug)]
struct Parameters {
    hop: f64,
    mpb: f64,
    memory_write: f64,
    memory_read: f64,
    put_from_mpb: f64,
    get_to_mpb: f64,
    put_from_memory: f64,
    get_to_memory: f64,
}

impl Parameters {
    /// What slopes of completion times say. A line is read in `o + 2 d L` and written in as much; the MPB of the core
    /// itself and its memory controller are behind one router.
    fn of(rows: &Rows) -> Result<Self, Missing> {
        let time = |operation: &str, lines: u64, distance: u64| completion(rows, operation, distance, lines);
        // What one more line takes over one router, and what the call takes beside its lines.
        let line_and_call = |operation: &str| -> Result<(f64, f64), Missing> {
            let one = time(operation, 1, 1)?;
            let line = (time(operation, MANY, 1)? - one) / (MANY - 1) as f64;
            Ok((line, one - line))
        };
        const FARTHEST: u64 = 9;
        let way = time("get-to-mpb", MANY, FARTHEST)? - time("get-to-mpb", MANY, 1)?;
        let hop = way / (MANY * 2 * (FARTHEST - 1)) as f64;
        let (get_line, get_to_mpb) = line_and_call("get-to-mpb")?;
        let (_, put_from_mpb) = line_and_call("put-from-mpb")?;
        let (get_memory_line, get_to_memory) = line_and_call("get-to-memory")?;
        let (put_memory_line, put_from_memory) = line_and_call("put-from-memory")?;
        // A line that is moved is read once and written once.
        let mpb = get_line / 2.0 - 2.0 * hop;
        let beside_mpb = |line: f64| line - (mpb + 2.0 * hop) - 2.0 * hop;
        Ok(Self {
            hop,
            mpb,
            memory_write: beside_mpb(get_memory_line),
            memory_read: beside_mpb(put_memory_line),
            put_from_mpb,
            get_to_mpb,
            put_from_memory,
            get_to_memory,
        })
    }
}

pub(crate) fn parameters(rows: &Rows) -> Result<Content, Missing> {
    let ours = Parameters::of(rows)?;
    let rows = [
        ("L^hop, a packet through a router", 0.005, ours.hop),
        ("o^mpb, a line of an MPB", 0.126, ours.mpb),
        ("o_w^mem, a line to memory", 0.461, ours.memory_write),
        ("o_r^mem, a line from memory", 0.208, ours.memory_read),
        ("o_put^mpb, a put from the own MPB", 0.069, ours.put_from_mpb),
        ("o_get^mpb, a get to the own MPB", 0.33, ours.get_to_mpb),
        ("o_put^mem, a put from memory", 0.19, ours.put_from_memory),
        ("o_get^mem, a get to memory", 0.095, ours.get_to_memory),
    ];
    let row = |(name, published, ours): (&str, f64, f64)| vec![name.into(), number(published), number(ours)];
    Ok(Content::table(["parameter", "published (us)", "ours (us)"], rows.into_iter().map(row).collect()))
}

pub(crate) fn peaks(rows: &Rows) -> Result<Content, Missing> {
    let peak = |name: String| rows.line(&name, PEAK)?.at_bytes(0);
    let mut table = Vec::new();
    for (name, algorithm) in DEGREES.into_iter().chain([SCATTER_ALLGATHER]) {
        let flat = format!("{algorithm}+flat");
        let flat = if algorithm == SCATTER_ALLGATHER.1 {
            rows.line(&flat, "throughput")?.at_bytes(LEAST_PEAK_BYTES)?
        } else {
            peak(flat)?
        };
        let values = [
            peak(format!("published-{algorithm}"))?,
            peak(format!("model-{algorithm}"))?,
            flat,
            peak(algorithm.into())?,
            peak(format!("{algorithm}+contention"))?,
        ];
        table.push([name.to_owned()].into_iter().chain(values.map(|value| format!("{value:.2}"))).collect());
    }
    let header = [
        "algorithm",
        "published (MB/s)",
        "our formulas",
        "measured, distances 1",
        "measured, distances of the mesh",
        "measured, and contention",
    ];
    Ok(Content::table(header, table))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        bench::testing::{rows, sample},
        figures::figure::Table,
    };

    #[test]
    fn parameters_are_recovered_from_completion_times() {
        let mut all = Vec::new();
        for (lines, distance) in [(1, 1), (128, 1), (1, 9), (128, 9)] {
            let far = 126 + 10 * distance;
            // Formulas 11, 7, 12 and 8 of the paper's figure 2.
            for (operation, time) in [
                ("get-to-mpb", 330 + lines * (far + 136)),
                ("put-from-mpb", 69 + lines * (136 + far)),
                ("get-to-memory", 95 + lines * (far + 471)),
                ("put-from-memory", 190 + lines * (218 + far)),
            ] {
                all.push((operation, [48, distance, 32 * lines], "completion ns", time));
            }
        }
        let found = Parameters::of(&rows(&all)).unwrap();
        let near = |value: f64, expected: f64| assert!((value - expected).abs() < 1e-9, "{found:?}");
        near(found.hop, 0.005);
        near(found.mpb, 0.126);
        near(found.memory_write, 0.461);
        near(found.memory_read, 0.208);
        near(found.put_from_mpb, 0.069);
        near(found.get_to_mpb, 0.33);
        near(found.put_from_memory, 0.19);
        near(found.get_to_memory, 0.095);
        assert_eq!(Parameters::of(&Rows::default()).err(), Some(Missing));
    }

    #[test]
    fn peaks_stand_beside_each_other() {
        let mut all = Vec::new();
        for (_, algorithm) in DEGREES.into_iter().chain([SCATTER_ALLGATHER]) {
            for (name, peak) in [
                (format!("published-{algorithm}"), 35_000),
                (format!("model-{algorithm}"), 34_000),
                (format!("{algorithm}+flat"), 33_000),
                (algorithm.to_owned(), 32_000),
                (format!("{algorithm}+contention"), 31_000),
            ] {
                // Of the baseline only single messages are measured at distances of one.
                let is_single = name == "scatter-allgather+flat";
                let (metric, bytes) = if is_single { ("throughput", LEAST_PEAK_BYTES) } else { (PEAK, 0) };
                all.push(sample(&name, [48, 0, bytes], &format!("{metric} kBps"), peak));
            }
        }
        let Content::Table(Table { rows: table, .. }) = peaks(&Rows::pool(all)).unwrap() else { panic!("no table") };
        assert!(table.iter().all(|row| row[1..] == ["35.00", "34.00", "33.00", "32.00", "31.00"]));
        assert_eq!(table.iter().map(|row| row[0].as_str()).collect::<Vec<_>>()[3], "scatter-allgather");
        assert_eq!(peaks(&Rows::default()).err(), Some(Missing));
    }
}
