//! The critical path: why a run took as long as it did.
//!
//! From the rank that finishes last, back through its own work to its last wait that really lasted; from there to the
//! rank whose store ended it, at the moment of that store; and so on to the beginning. The run is shorter only if
//! something on this path is, and then by no more than until another path is the longest. A wait whose store became
//! visible just when it ended counts as one that found what was there, which keeps the walk from going in circles.

use super::history::History;
use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::Arc,
};
use transcript::trace::Trace;

/// How many kinds of work, and how many waits, are shown.
const SHOWN: usize = 12;

/// A wait on the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Awaited {
    pub(crate) rank: u32,
    /// In which operation.
    pub(crate) operation: Arc<str>,
    /// For what.
    pub(crate) what: Arc<str>,
    /// The rank whose store ended it.
    pub(crate) by: u32,
    /// How long it was.
    pub(crate) length: u64,
}

/// The path, and what is on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Path {
    pub(crate) moments_per_second: u64,
    /// Where and when it begins and ends.
    pub(crate) from: (u32, u64),
    pub(crate) to: (u32, u64),
    /// Time by what was done: the most first.
    pub(crate) work: Vec<(String, u64)>,
    /// The longest first.
    pub(crate) waits: Vec<Awaited>,
    /// Whether a rank on it has lost what it noted first.
    pub(crate) is_cut: bool,
}

impl Path {
    /// The path of a run whose waits know what ended them.
    pub(crate) fn of(trace: &Trace) -> Self {
        let last = trace.ranks.iter().map(|(rank, records)| (records.end(), std::cmp::Reverse(*rank))).max();
        let (end, rank) = last.map_or((0, 0), |(end, rank)| (end, rank.0));
        let mut path = Self {
            moments_per_second: trace.moments_per_second.max(1),
            from: (rank, end),
            to: (rank, end),
            work: Vec::new(),
            waits: Vec::new(),
            is_cut: false,
        };
        let mut work = BTreeMap::new();
        let mut histories: HashMap<u32, History<'_>> = HashMap::new();
        let (mut rank, mut now) = path.to;
        while let Some(records) = trace.ranks.get(&rank) {
            let history = histories.entry(rank).or_insert_with(|| History::until(records, end));
            let Some((wait, by, at)) = history.last_wait(now) else {
                path.is_cut = records.lost > 0;
                let begin = records.begin().min(now);
                history.add_work(begin, now, &mut work);
                path.from = (rank, begin);
                break;
            };
            // From the store to the end of the wait, this rank was about to see it.
            history.add_work(at, now, &mut work);
            let operation = history.operation_at(wait.begin, wait.end);
            path.waits.push(Awaited { rank, operation, what: wait.what.clone(), by, length: wait.end - wait.begin });
            (rank, now) = (by, at);
        }
        path.work = work.into_iter().collect();
        path.work.sort_by(|(name, time), (other, other_time)| other_time.cmp(time).then(name.cmp(other)));
        // Those of one length stay in the order of the way back.
        path.waits.sort_by_key(|wait| std::cmp::Reverse(wait.length));
        path
    }

    fn length(&self) -> u64 {
        self.to.1 - self.from.1
    }

    fn microseconds(&self, moments: u64) -> f64 {
        moments as f64 * 1e6 / self.moments_per_second as f64
    }
}

impl fmt::Display for Path {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, last, waits) = (self.from.0, self.to.0, self.waits.len());
        let length = self.microseconds(self.length());
        writeln!(out, "critical path: {length:.3} us, from rank {first} to rank {last} over {waits} waits")?;
        if self.is_cut {
            writeln!(
                out,
                "  (it began earlier, but rank {first} has lost what it noted then; --trace-kib gives it more)"
            )?;
        }
        writeln!(out, "  share            us  what was done")?;
        for (name, time) in self.work.iter().take(SHOWN) {
            let share = *time as f64 * 100.0 / self.length().max(1) as f64;
            writeln!(out, "{share:5.1} %  {:12.3}  {name}", self.microseconds(*time))?;
        }
        rest(out, self.work.len(), "kinds of work")?;
        if self.waits.is_empty() {
            return writeln!(out, "no wait made it as long as that");
        }
        writeln!(out, "waits that made it as long as that:")?;
        writeln!(out, "          us   rank  ended by  in what, for what")?;
        for Awaited { rank, operation, what, by, length } in self.waits.iter().take(SHOWN) {
            let length = self.microseconds(*length);
            writeln!(out, "{length:12.3}  {rank:5}  {by:8}  {operation}: {what}")?;
        }
        rest(out, self.waits.len(), "waits")
    }
}

fn rest(out: &mut fmt::Formatter<'_>, count: usize, of_what: &str) -> fmt::Result {
    match count.saturating_sub(SHOWN) {
        0 => Ok(()),
        more => writeln!(out, "              and {more} more {of_what}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::enders, *};

    fn path(lines: &[&str]) -> Path {
        let mut trace = Trace::default();
        lines.iter().for_each(|line| trace.take(line).unwrap());
        Path::of(&enders::find(trace))
    }

    /// Ranks 0, 1 and 2 meet; rank 2 computes for 60 before, the others for 20 and 5. Rank 0 collects and releases.
    const LATE: [&str; 29] = [
        "0 c 1000000 0",
        "1 c 1000000 0",
        "2 c 1000000 0",
        "0 h 1 0 20 - 0 compute",
        "0 p 10 ffffffff flag of 1",
        "0 p 11 ffffffff flag of 2",
        "0 w 2 21 70 2 9 ok all to arrive",
        "0 t 20 1 1 70 74",
        "0 t 30 1 1 74 78",
        "0 s 1 20 80 - 0 barrier",
        "0 s 0 0 82 - 0 program",
        "1 h 1 0 5 - 0 compute",
        "1 t 10 1 1 6 8",
        "1 p 20 ffffffff release",
        "1 w 2 9 76 0 9 ok the release",
        "1 s 1 5 77 - 0 barrier",
        "1 s 0 0 77 - 0 program",
        "2 h 1 0 60 - 0 compute",
        "2 t 11 1 1 62 66",
        "2 p 30 ffffffff release",
        "2 w 2 67 81 0 2 ok the release",
        "2 s 1 60 83 - 0 barrier",
        "2 h 1 84 85 1 32 MPB put",
        "2 s 0 0 86 - 0 program",
        // Nobody waits for this one.
        "2 t 40 1 1 84 85",
        "1 t 41 1 1 76 77",
        "1 h 0 77 77 - 0 compute",
        "0 h 0 82 82 - 0 compute",
        "2 h 0 86 86 - 0 compute",
    ];

    #[test]
    fn the_path_goes_through_the_rank_that_is_late() {
        let path = path(&LATE);
        assert_eq!((path.from, path.to, path.is_cut), ((2, 0), (2, 86), false));
        let waits: Vec<_> =
            path.waits.iter().map(|wait| (wait.rank, &*wait.operation, &*wait.what, wait.by, wait.length)).collect();
        assert_eq!(waits, [(0, "barrier", "all to arrive", 2, 49), (2, "barrier", "the release", 0, 14)]);
        // Rank 2 to 66, of which 6 in the barrier; rank 0 to 78, of which 4 until it saw; rank 2 to the end.
        let work: Vec<_> = path.work.iter().map(|(name, time)| (name.as_str(), *time)).collect();
        let expected =
            [("program: compute", 60), ("barrier", 16), ("barrier: wait", 7), ("program", 2), ("program: MPB put", 1)];
        assert_eq!(work, expected);
        assert_eq!(work.iter().map(|(_, time)| time).sum::<u64>(), 86);
        let text = path.to_string();
        assert!(text.starts_with("critical path: 86.000 us, from rank 2 to rank 2 over 2 waits\n"), "{text}");
        assert!(text.contains("\n 69.8 %        60.000  program: compute\n"), "{text}");
        assert!(text.contains("\n      49.000      0         2  barrier: all to arrive\n"), "{text}");
    }

    #[test]
    fn without_waits_it_is_the_longest_rank() {
        let path = path(&["0 c 1 0", "0 s 0 0 5 - 0 program", "1 c 1 3", "1 s 0 2 9 - 0 program"]);
        assert_eq!((path.from, path.to, path.is_cut), ((1, 2), (1, 9), true));
        assert_eq!(path.work, [("program".to_owned(), 7)]);
        assert!(path.to_string().contains("has lost what it noted"));
        assert!(Path::of(&Trace::default()).waits.is_empty());
    }

    #[test]
    fn ranks_that_wait_for_each_other_at_one_moment_end_the_way_back() {
        let path = path(&[
            "0 c 1 0",
            "1 c 1 0",
            "0 t 1 1 1 4 5",
            "0 p 2 ffffffff b",
            "0 w 0 0 5 - 1 ok b",
            "1 t 2 1 1 4 5",
            "1 p 1 ffffffff a",
            "1 w 0 0 5 - 1 ok a",
        ]);
        assert_eq!((path.from, path.to), ((0, 0), (0, 5)));
    }
}
