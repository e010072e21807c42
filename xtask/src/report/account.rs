//! Where the time of all ranks went, as the page of a run shows it.

use crate::trace::{CriticalPath, History, Kind, Records, Stretch, Trace};
use std::{
    cmp::Reverse,
    collections::{BTreeMap, btree_map::Entry},
    sync::Arc,
};

/// Columns of a picture of what ranks did when, and cells that it has at most.
const COLUMNS: usize = 480;
const CELLS: usize = 64 * COLUMNS;
const FEWEST_COLUMNS: usize = 60;

/// Rows of a picture at most; more ranks share them.
const MOST_ROWS: usize = CELLS / FEWEST_COLUMNS;

/// The longest phases, which get pictures of their own.
const PICTURED: usize = 12;

/// Time in moments: of computing, of moving data and all else that an operation does, and of waiting.
pub(super) type Times = [u64; 3];

/// What a program does by itself, in a trace: an account of the processor's time.
const COMPUTE: &str = "compute";
/// A poll in vain and all that is between it and the next one.
const WAIT: &str = "wait";
/// What is outside of all operations of protocols; the last is all that there is of a board whose image says nothing of itself.
const OUTSIDE: [&str; 3] = ["program", "start", "start and program"];

/// What a rank did with its time.
pub(super) struct OfRank {
    pub(super) rank: u32,
    pub(super) times: Times,
}

/// A picture of what ranks did when.
pub(super) struct View {
    /// The phase that it shows, at its longest; the whole run has none.
    pub(super) phase: Option<Arc<str>>,
    pub(super) begin: u64,
    pub(super) length: u64,
    pub(super) columns: usize,
    pub(super) ranks_a_row: usize,
    /// For each row, for each column, the shares of its time, of 255.
    pub(super) cells: Vec<[u8; 3]>,
}

/// A phase of the program, over all ranks and all times that it came.
pub(super) struct Phase {
    pub(super) name: Arc<str>,
    /// When at least one rank was in it: begins and ends, in order.
    pub(super) when: Vec<(u64, u64)>,
    pub(super) times: Times,
}

impl Phase {
    /// How long at least one rank was in it.
    pub(super) fn length(&self) -> u64 {
        self.when.iter().map(|(begin, end)| end - begin).sum()
    }

    /// Takes what overlaps together.
    fn merge(&mut self) {
        self.when.sort_unstable();
        self.when.dedup_by(|next, last| {
            let overlaps = next.0 <= last.1;
            last.1 = if overlaps { last.1.max(next.1) } else { last.1 };
            overlaps
        });
    }
}

/// Waits of all ranks for the same thing in the same operation.
pub(super) struct Reason {
    pub(super) what: String,
    pub(super) total: u64,
    pub(super) count: u64,
    pub(super) polls: u64,
    pub(super) longest: u64,
    /// Whose wait that was.
    pub(super) rank: u32,
    /// They were under way when the run was stopped.
    pub(super) under_way: bool,
}

/// The account of a run.
pub(super) struct Account {
    pub(super) moments_per_second: u64,
    /// How long it took from the begin of the first rank to the end of the last.
    pub(super) length: u64,
    pub(super) ranks: Vec<OfRank>,
    /// The whole run, and some of its phases.
    pub(super) views: Vec<View>,
    /// In the order of their first begin.
    pub(super) phases: Vec<Phase>,
    /// The longest together first.
    pub(super) waits: Vec<Reason>,
    pub(super) path: CriticalPath,
}

impl Account {
    /// The account of a run whose waits know what ended them; nothing if nobody has noted anything.
    pub(super) fn of(trace: &Trace) -> Option<Self> {
        // A rank that had no time to say what it did says nothing of when the run began.
        let ranks: Vec<_> = trace.ranks.iter().filter(|(_, records)| !records.is_empty()).collect();
        let begin = ranks.iter().map(|(_, records)| records.begin()).min()?;
        let end = ranks.iter().map(|(_, records)| records.end()).max()?;
        let histories: Vec<_> = ranks.iter().map(|(_, records)| History::until(records, end)).collect();
        let (mut phases, mut waits) = (BTreeMap::new(), BTreeMap::new());
        for ((rank, records), history) in ranks.iter().zip(&histories) {
            add_phases(records, end, &history.stretches, &mut phases);
            add_waits(**rank, records, end, history, &mut waits);
        }
        let mut phases: Vec<Phase> = phases.into_values().collect();
        phases.iter_mut().for_each(Phase::merge);
        phases.sort_by_key(|phase| Reverse(phase.length()));
        let pictured = phases.iter().take(PICTURED).filter_map(|phase| {
            let (begin, end) = phase.when.iter().max_by_key(|(begin, end)| end - begin)?;
            Some(View::of(Some(phase.name.clone()), *begin, *end, &histories))
        });
        let mut views: Vec<_> = std::iter::once(View::of(None, begin, end, &histories)).chain(pictured).collect();
        views.sort_by_key(|view| (view.phase.is_some(), view.begin));
        views.iter_mut().for_each(|view| view.begin -= begin);
        phases.sort_by_key(|phase| phase.when.first().copied());
        let all = phases.iter_mut().flat_map(|phase| &mut phase.when);
        all.for_each(|when| *when = (when.0 - begin, when.1 - begin));
        let mut waits: Vec<Reason> = waits.into_values().collect();
        waits.sort_by_key(|reason| Reverse(reason.total));
        let of_rank =
            |(rank, history): (u32, &History<'_>)| OfRank { rank, times: sum(&history.stretches, 0, u64::MAX) };
        Some(Self {
            moments_per_second: trace.moments_per_second.max(1),
            length: end - begin,
            ranks: ranks.iter().map(|(rank, _)| **rank).zip(&histories).map(of_rank).collect(),
            views,
            phases,
            waits,
            path: CriticalPath::of(trace),
        })
    }
}

impl View {
    /// What the ranks did from `begin` to `end`.
    fn of(phase: Option<Arc<str>>, begin: u64, end: u64, histories: &[History<'_>]) -> Self {
        let ranks_a_row = histories.len().div_ceil(MOST_ROWS).max(1);
        let rows = histories.chunks(ranks_a_row);
        let columns = (CELLS / rows.len().max(1)).clamp(FEWEST_COLUMNS, COLUMNS);
        let length = end - begin;
        let edge = |column: usize| {
            let share = u128::from(length) * column as u128 / columns as u128;
            begin + u64::try_from(share).unwrap_or(u64::MAX)
        };
        let row = |histories: &[History<'_>]| {
            let cell = |column| {
                let (from, to) = (edge(column), edge(column + 1));
                let mut times = Times::default();
                for history in histories {
                    add(sum(&history.stretches, from, to), &mut times);
                }
                times.map(|time| share(time, (to - from) * histories.len() as u64))
            };
            (0..columns).map(cell).collect::<Vec<_>>()
        };
        Self { phase, begin, length, columns, ranks_a_row, cells: rows.flat_map(row).collect() }
    }
}

fn add(times: Times, to: &mut Times) {
    to.iter_mut().zip(times).for_each(|(all, time)| *all += time);
}

/// A share of 255.
fn share(part: u64, whole: u64) -> u8 {
    u8::try_from(u128::from(part) * 255 / u128::from(whole.max(1))).unwrap_or(u8::MAX)
}

/// The index of a stretch in [`Times`].
fn class(stretch: &Stretch) -> usize {
    let is_outside = OUTSIDE.contains(&&*stretch.operation);
    match stretch.detail.as_deref() {
        Some(WAIT) => 2,
        Some(COMPUTE) => 0,
        None if is_outside => 0,
        _ => 1,
    }
}

/// What was done between two moments. Stretches are in order.
fn sum(stretches: &[Stretch], from: u64, to: u64) -> Times {
    let mut times = Times::default();
    let first = stretches.partition_point(|stretch| stretch.end <= from);
    for stretch in stretches[first..].iter().take_while(|stretch| stretch.begin < to) {
        times[class(stretch)] += stretch.end.min(to) - stretch.begin.max(from);
    }
    times
}

/// Adds the phases of a rank. What had not ended when the rank was stopped lasts until the `end` of all.
fn add_phases(records: &Records, end: u64, stretches: &[Stretch], phases: &mut BTreeMap<Arc<str>, Phase>) {
    let last = if records.under_way.is_empty() { records.end() } else { end };
    let ends = records.phases.iter().skip(1).map(|next| next.begin).chain([last]);
    for (phase, end) in records.phases.iter().zip(ends) {
        // A rank that has forgotten its first operations may have begun a phase before what it knows of.
        let (name, begin) = (phase.name.clone(), phase.begin.clamp(records.begin(), end.max(records.begin())));
        let end = end.max(begin);
        let known = phases.entry(name.clone()).or_insert(Phase { name, when: Vec::new(), times: Times::default() });
        known.when.push((begin, end));
        add(sum(stretches, begin, end), &mut known.times);
    }
}

/// Adds the waits of a rank, likewise.
fn add_waits(
    rank: u32,
    records: &Records,
    end: u64,
    history: &History<'_>,
    waits: &mut BTreeMap<(bool, String), Reason>,
) {
    let over = records.waits.iter().map(|wait| (wait.begin, wait.end, &wait.what, wait.polls, false));
    let open = records.under_way.iter().filter(|open| open.kind == Kind::Wait);
    let under_way = open.map(|open| (open.begin, end.max(open.begin), &open.name, 0, true));
    for (begin, end, what, polls, under_way) in over.chain(under_way) {
        let what = format!("{}: {}", history.operation_at(begin, end), without_number(what));
        let reason = match waits.entry((under_way, what)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let what = new.key().1.clone();
                new.insert(Reason { what, total: 0, count: 0, polls: 0, longest: 0, rank, under_way })
            }
        };
        let length = end - begin;
        reason.total += length;
        reason.count += 1;
        reason.polls += polls;
        if length > reason.longest {
            (reason.longest, reason.rank) = (length, rank);
        }
    }
}

/// What is waited for, whichever of its kind it is: `chunk 3` is a chunk.
fn without_number(what: &str) -> &str {
    let (start, end) = what.rsplit_once(' ').unwrap_or((what, ""));
    if end.starts_with(|letter: char| letter.is_ascii_digit()) { start } else { what }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::with_enders;

    fn account(lines: &[&str]) -> Option<Account> {
        let mut trace = Trace::default();
        lines.iter().for_each(|line| trace.take(line).unwrap());
        Account::of(&with_enders(trace))
    }

    #[test]
    fn time_is_told_apart_by_rank_column_phase_and_reason() {
        let account = account(&[
            "0 c 1000000 0",
            "1 c 1000000 0",
            "0 m 0 first",
            "0 h 1 0 480 - 0 compute",
            "0 m 480 second",
            "0 h 2 480 540 1 32 MPB put",
            "0 t 7 1 ffffffff 500 540",
            "0 s 1 480 560 1 32 put",
            "0 s 0 0 600 - 0 program",
            "1 m 0 first",
            "1 p 7 ffffffff line 7",
            "1 w 2 20 540 0 9 ok message 3",
            "1 s 1 10 550 0 32 receive",
            "1 m 550 second",
            "1 s 0 0 960 - 0 program",
        ])
        .unwrap();
        assert_eq!(account.length, 960);
        let times: Vec<_> = account.ranks.iter().map(|rank| (rank.rank, rank.times)).collect();
        assert_eq!(times, [(0, [520, 80, 0]), (1, [420, 20, 520])]);
        // Two moments a column.
        let [whole, first, second] = &account.views[..] else { panic!("{}", account.views.len()) };
        assert_eq!((whole.columns, whole.cells.len()), (COLUMNS, 2 * COLUMNS));
        let columns = [0, 239, 240, 279, 280, 300].map(|column| whole.cells[column]);
        assert_eq!(columns, [[255, 0, 0], [255, 0, 0], [0, 255, 0], [0, 255, 0], [255, 0, 0], [0; 3]]);
        assert_eq!(whole.cells[COLUMNS + 100], [0, 0, 255]);
        assert_eq!((first.phase.as_deref(), first.begin, first.length), (Some("first"), 0, 550));
        // A moment a column, from 480 on.
        assert_eq!((second.begin, second.length), (480, 480));
        assert_eq!([0, 79, 80].map(|column| second.cells[column]), [[0, 255, 0], [0, 255, 0], [255, 0, 0]]);
        let phases: Vec<_> =
            account.phases.iter().map(|phase| (&*phase.name, phase.when[0], phase.length(), phase.times)).collect();
        assert_eq!(phases, [("first", (0, 550), 550, [490, 20, 520]), ("second", (480, 960), 480, [450, 80, 0])]);
        let waits: Vec<_> = account.waits.iter().map(|wait| (&*wait.what, wait.total, wait.polls, wait.rank)).collect();
        assert_eq!(waits, [("receive: message", 520, 9, 1)]);
    }

    #[test]
    fn what_had_not_ended_lasts_until_the_end() {
        let account = account(&[
            "0 c 1 0",
            "1 c 1 0",
            "0 o 0 0 - 0 s program",
            "0 o 1 10 1 0 s send",
            "0 o 2 20 1 0 w a message",
            "1 s 0 0 100 - 0 program",
            "2 c 1 0",
        ])
        .unwrap();
        assert_eq!(account.ranks[0].times, [10, 10, 80]);
        let wait = &account.waits[0];
        assert_eq!((&*wait.what, wait.total, wait.under_way), ("send: a message", 80, true));
        // Another rank that did not come to say anything changes nothing.
        assert_eq!((account.length, account.ranks.len()), (100, 2));
    }

    #[test]
    fn a_phase_that_comes_again_is_as_long_as_all_its_times() {
        let account = account(&[
            "0 c 1 0",
            "0 m 0 a",
            "0 m 10 b",
            "0 m 40 a",
            "0 s 0 0 60 - 0 program",
            "1 c 1 0",
            "1 m 5 a",
            "1 m 20 b",
            "1 s 0 5 30 - 0 program",
        ])
        .unwrap();
        let phases: Vec<_> = account.phases.iter().map(|phase| (&*phase.name, &*phase.when, phase.times[0])).collect();
        assert_eq!(phases, [("a", &[(0, 20), (40, 60)][..], 45), ("b", &[(10, 40)], 40)]);
        let (first, second) = (&account.views[1], &account.views[2]);
        assert_eq!((first.phase.as_deref(), first.begin, first.length), (Some("b"), 10, 30));
        assert_eq!((second.phase.as_deref(), second.length), (Some("a"), 20));
    }

    #[test]
    fn a_thousand_ranks_share_rows() {
        let lines: Vec<_> =
            (0..1000).flat_map(|rank| [format!("{rank} c 1 0"), format!("{rank} s 0 0 9 - 0 a")]).collect();
        let account = account(&lines.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
        let whole = &account.views[0];
        assert_eq!((whole.ranks_a_row, whole.columns, whole.cells.len()), (2, 61, 500 * 61));
    }

    #[test]
    fn a_run_of_no_length_and_no_run_at_all() {
        let nothing = account(&["0 c 1 0", "0 s 0 7 7 - 0 program"]).unwrap();
        assert_eq!((nothing.length, nothing.views[0].cells[0]), (0, [0; 3]));
        assert!(account(&["0 c 1 0"]).is_none() && account(&[]).is_none());
    }
}
