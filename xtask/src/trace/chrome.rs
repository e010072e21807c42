//! A trace as a file in Chrome's trace-event format, which Perfetto and `chrome://tracing` show.
//!
//! Each tile is a process and each of its ranks a thread of it, as far as ranks have said where they are; the machine is a
//! process, too. Operations and waits are complete events (`X`), [arrows](flows) pairs (`s`, `f`), and what ranks
//! [meet at](contention) counters (`C`). What had not ended when its rank was stopped lasts until the end of the trace, and
//! says so. The begin of a phase is an instant (`i`), and so is the failure of a run, the last event. Times are microseconds of the machine's clock.

use super::{Failure, contention, flows};
use anyhow::Result;
use serde_json::{Map, Value, json};
use std::{collections::BTreeSet, io::Write};
use transcript::trace::{Kind, Records, Span, Tile, Trace, UnderWay, Wait};

/// The process that stands for the machine.
const MACHINE: usize = 1;

/// The file of a trace whose waits know what ended them, and of what the run has failed with: one event a line.
pub(super) fn json(label: &str, trace: &Trace, failure: Option<&Failure>) -> Result<Vec<u8>> {
    let mut file = Events { bytes: b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n".to_vec(), is_first: true };
    let (clock, places) = (Clock(trace.moments_per_second.max(1)), Places::of(trace));
    places.name(label, trace, &mut file)?;
    for (rank, records) in &trace.ranks {
        rank_events(Track { process: places.process(*rank), rank: *rank }, records, trace.end(), clock, &mut file)?;
    }
    for (id, flow) in flows::find(trace).iter().enumerate() {
        for (phase, (rank, at)) in [("s", flow.from), ("f", flow.to)] {
            let mut end = json!({
                "ph": phase, "pid": places.process(rank), "tid": thread(rank), "id": id, "name": flow.kind, "cat": flow.kind,
                "ts": clock.us(at),
            });
            if phase == "f" {
                end["bp"] = "e".into();
            }
            file.add(&end)?;
        }
    }
    for (counter, values) in contention::count(trace, |rank| places.tile(rank)) {
        let process = counter.tile().map_or(MACHINE, of_tile);
        let lasts =
            |index: usize| values.get(index + 1).is_none_or(|next| clock.ns(next.0) > clock.ns(values[index].0));
        for (_, &(at, value)) in values.iter().enumerate().filter(|(index, _)| lasts(*index)) {
            let (name, ts) = (counter.name(), clock.us(at));
            file.add(&json!({"ph": "C", "pid": process, "name": name, "ts": ts, "args": {"value": value}}))?;
        }
    }
    if let Some(Failure { message, rank }) = failure {
        let rank = rank.filter(|rank| trace.ranks.contains_key(rank));
        let process = rank.map_or(MACHINE, |rank| places.process(rank));
        let mut args = json!({"message": message});
        rank.into_iter().for_each(|rank| args["rank"] = rank.into());
        file.add(&json!({
            "ph": "i", "pid": process, "tid": rank.map_or(0, thread), "name": "failure", "cat": "failure",
            "ts": clock.us(trace.end()), "s": "g", "args": args,
        }))?;
    }
    file.bytes.extend_from_slice(b"\n]}\n");
    Ok(file.bytes)
}

/// The number of the process that a tile is.
fn of_tile(tile: usize) -> usize {
    MACHINE + 1 + tile
}

/// The number of the thread that a rank is: Perfetto takes 0 for none, and the number of the process instead.
fn thread(rank: u32) -> u32 {
    rank + 1
}

/// The tiles of a machine, in the order of rows and columns.
struct Places<'t> {
    trace: &'t Trace,
    tiles: Vec<Tile>,
}

impl<'t> Places<'t> {
    fn of(trace: &'t Trace) -> Self {
        let tiles: BTreeSet<Tile> = trace.ranks.values().filter_map(|records| records.tile).collect();
        Self { trace, tiles: tiles.into_iter().collect() }
    }

    /// The number of a rank's tile.
    fn tile(&self, rank: u32) -> Option<usize> {
        self.tiles.binary_search(&self.trace.ranks.get(&rank)?.tile?).ok()
    }

    fn process(&self, rank: u32) -> usize {
        self.tile(rank).map_or(MACHINE, of_tile)
    }

    /// Names processes and threads.
    fn name(&self, label: &str, trace: &Trace, file: &mut Events) -> Result<()> {
        file.add(&json!({"ph": "M", "pid": MACHINE, "name": "process_name", "args": {"name": label}}))?;
        for (index, Tile { row, column, .. }) in self.tiles.iter().enumerate() {
            let mut add = |name: &str, args: Value| {
                file.add(&json!({"ph": "M", "pid": of_tile(index), "name": name, "args": args}))
            };
            add("process_name", json!({"name": format!("tile ({column}, {row})")}))?;
            add("process_sort_index", json!({"sort_index": index + 1}))?;
        }
        for rank in trace.ranks.keys() {
            let mut add = |name: &str, args: Value| {
                file.add(
                    &json!({"ph": "M", "pid": self.process(*rank), "tid": thread(*rank), "name": name, "args": args}),
                )
            };
            add("thread_name", json!({"name": format!("rank {rank}")}))?;
            add("thread_sort_index", json!({"sort_index": rank}))?;
        }
        Ok(())
    }
}

/// Where the events of a rank go.
#[derive(Clone, Copy)]
struct Track {
    process: usize,
    rank: u32,
}

struct Events {
    bytes: Vec<u8>,
    is_first: bool,
}

impl Events {
    fn add(&mut self, event: &Value) -> Result<()> {
        if !std::mem::take(&mut self.is_first) {
            self.bytes.extend_from_slice(b",\n");
        }
        serde_json::to_writer(&mut self.bytes, event)?;
        self.bytes.flush()?;
        Ok(())
    }
}

/// Moments in a second.
#[derive(Clone, Copy)]
struct Clock(u64);

impl Clock {
    /// A moment in whole nanoseconds, which is all that Perfetto keeps of it. What lies within something else still does, as it
    /// would not if begins and lengths were cut off.
    fn ns(self, moment: u64) -> u64 {
        let ns = u128::from(moment) * 1_000_000_000 / u128::from(self.0);
        u64::try_from(ns).unwrap_or(u64::MAX)
    }

    fn us(self, moment: u64) -> f64 {
        microseconds(self.ns(moment))
    }

    fn length_us(self, begin: u64, end: u64) -> f64 {
        microseconds(self.ns(end) - self.ns(begin))
    }
}

/// A number of microseconds of which a reader that multiplies it by a thousand, and cuts off the rest, gets this back.
fn microseconds(ns: u64) -> f64 {
    let us = ns as f64 / 1e3;
    if ((us * 1e3) as u64) < ns { us.next_up() } else { us }
}

fn rank_events(track: Track, records: &Records, last: u64, clock: Clock, file: &mut Events) -> Result<()> {
    let Track { process, rank } = track;
    let thread = thread(rank);
    if records.lost > 0 {
        let (name, ts) = (format!("{} older records are lost", records.lost), clock.us(records.begin()));
        file.add(&json!({"ph": "i", "pid": process, "tid": thread, "name": name, "ts": ts, "s": "t"}))?;
    }
    for phase in &records.phases {
        let ts = clock.us(phase.begin);
        file.add(
            &json!({"ph": "i", "pid": process, "tid": thread, "name": *phase.name, "cat": "phase", "ts": ts, "s": "t"}),
        )?;
    }
    // What begins first comes first, and what has something in it before that.
    let mut events: Vec<_> = records.spans.iter().map(|span| (span.begin, span.depth, span_event(span))).collect();
    events.extend(records.waits.iter().map(|wait| (wait.begin, wait.depth, wait_event(wait))));
    events.extend(records.under_way.iter().map(|open| (open.begin, open.depth, open_event(open, last))));
    events.sort_by_key(|(begin, depth, _)| (*begin, *depth));
    for (_, _, (name, category, begin, end, args)) in events {
        file.add(&json!({
            "ph": "X", "pid": process, "tid": thread, "name": name, "cat": category,
            "ts": clock.us(begin), "dur": clock.length_us(begin, end), "args": args,
        }))?;
    }
    Ok(())
}

type Event = (String, &'static str, u64, u64, Map<String, Value>);

fn span_event(span: &Span) -> Event {
    let mut args = Map::new();
    span.peer.into_iter().for_each(|peer| _ = args.insert("peer".into(), peer.into()));
    if span.bytes > 0 {
        args.insert("bytes".into(), span.bytes.into());
    }
    let category = if span.of_hardware { "hardware" } else { "operation" };
    (span.name.to_string(), category, span.begin, span.end, args)
}

fn open_event(open: &UnderWay, last: u64) -> Event {
    let (name, category) = match open.kind {
        Kind::Operation => (open.name.to_string(), "operation"),
        Kind::Hardware => (open.name.to_string(), "hardware"),
        Kind::Wait => (format!("wait for {}", open.name), "wait"),
    };
    let mut args = Map::new();
    args.insert("has ended".into(), false.into());
    open.peer.into_iter().for_each(|peer| _ = args.insert("peer".into(), peer.into()));
    if open.bytes > 0 {
        args.insert("bytes".into(), open.bytes.into());
    }
    (name, category, open.begin, last.max(open.begin), args)
}

fn wait_event(wait: &Wait) -> Event {
    let mut args = Map::new();
    args.insert("for".into(), (*wait.what).into());
    args.insert("polls in vain".into(), wait.polls.into());
    wait.peer.into_iter().for_each(|peer| _ = args.insert("peer".into(), peer.into()));
    let ended_by = match &wait.ender {
        _ if wait.is_late => "its deadline".into(),
        Some(ender) => format!("rank {}", ender.rank),
        None => "unknown".into(),
    };
    args.insert("ended by".into(), ended_by.into());
    if let Some(ender) = &wait.ender {
        args.insert("store to".into(), (*ender.place).into());
        args.insert("was there before".into(), wait.was_for().is_none().into());
    }
    (format!("wait for {}", wait.what), "wait", wait.begin, wait.end, args)
}

#[cfg(test)]
mod tests {
    use super::{super::enders, *};

    #[test]
    fn readers_get_back_whole_nanoseconds() {
        for ns in (0..5_000).chain(110_000_000..110_300_000).chain([(1 << 50) - 1]) {
            assert_eq!((microseconds(ns) * 1e3) as u64, ns);
        }
        // In picoseconds: what ends where the one around it ends still does.
        let clock = Clock(1_000_000_000_000);
        for ((outer, inner), end) in [((1_600, 2_900), 4_100), ((999, 1_000), 1_001), ((600, 2_000), 3_200)] {
            let ends = [outer, inner].map(|begin| {
                [clock.us(begin), clock.length_us(begin, end)].map(|us| (us * 1e3) as u64).iter().sum::<u64>()
            });
            assert_eq!(ends[0], ends[1]);
        }
    }

    #[test]
    fn events_of_a_wait_and_the_store_that_ended_it() {
        let mut trace = Trace::default();
        for line in [
            "0 c 1000000000 2",
            "1 c 1000000000 0",
            "0 s 0 1000 2500 1 64 send",
            "0 t 7 1 1 1990 2000",
            "1 p 7 ffffffff line 7",
            "1 w 1 1500 2250 0 4 ok a message",
            "1 s 0 1000 3000 - 0 receive",
        ] {
            trace.take(line).unwrap();
        }
        let file = json("a machine", &enders::find(trace), None).unwrap();
        let file: Value = serde_json::from_slice(&file).unwrap();
        let events = file["traceEvents"].as_array().unwrap();
        let of = |phase: &str| -> Vec<&Value> { events.iter().filter(|event| event["ph"] == phase).collect() };
        assert_eq!((of("M").len(), of("i").len()), (5, 1));
        assert_eq!(of("i")[0]["name"], "2 older records are lost");
        assert_eq!(
            *of("X")[0],
            json!({
                "ph": "X", "pid": 1, "tid": 1, "name": "send", "cat": "operation", "ts": 1.0, "dur": 1.5,
                "args": {"peer": 1, "bytes": 64},
            })
        );
        let wait = of("X")[2];
        assert_eq!(
            (&wait["ts"], &wait["dur"], &wait["name"]),
            (&json!(1.5), &json!(0.75), &json!("wait for a message"))
        );
        assert_eq!((&wait["args"]["ended by"], &wait["args"]["store to"]), (&json!("rank 0"), &json!("line 7")));
        assert_eq!((&of("s")[0]["tid"], &of("s")[0]["ts"], &of("s")[0]["id"]), (&json!(1), &json!(2.0), &json!(0)));
        assert_eq!((&of("f")[0]["tid"], &of("f")[0]["ts"], &of("f")[0]["bp"]), (&json!(2), &json!(2.0), &json!("e")));
    }

    #[test]
    fn tiles_are_processes_and_a_failure_comes_last() {
        let mut trace = Trace::default();
        for line in [
            "4 c 1000000 0",
            "4 l 2 1 2",
            "4 h 1 3 9 5 32 MPB put",
            "4 o 0 2 - 0 s program",
            "4 o 1 10 7 0 w a message",
            "5 c 1000000 0",
            "5 l 2 1 2",
            "5 s 0 1 9 - 0 program",
            "1 c 1000000 0",
            "1 l 0 0 2",
            "1 s 0 1 12 - 0 program",
        ] {
            trace.take(line).unwrap();
        }
        let failure = Failure { message: "core 4 waits".into(), rank: Some(4) };
        let file: Value = serde_json::from_slice(&json("a machine", &trace, Some(&failure)).unwrap()).unwrap();
        let events = file["traceEvents"].as_array().unwrap();
        let names: Vec<_> =
            events.iter().filter(|event| event["name"] == "process_name").map(|event| &event["args"]["name"]).collect();
        assert_eq!(names, ["a machine", "tile (0, 0)", "tile (2, 1)"]);
        let of = |phase: &str| -> Vec<&Value> { events.iter().filter(|event| event["ph"] == phase).collect() };
        let flow: Vec<_> =
            [of("s")[0], of("f")[0]].map(|end| (&end["pid"], &end["tid"], &end["ts"], &end["cat"])).into();
        assert_eq!(
            flow,
            [(&json!(3), &json!(5), &json!(3.0), &json!("put")), (&json!(3), &json!(6), &json!(9.0), &json!("put"))]
        );
        let wait = of("X").into_iter().find(|event| event["name"] == "wait for a message").unwrap();
        assert_eq!((&wait["dur"], &wait["args"]), (&json!(2.0), &json!({"has ended": false, "peer": 7})));
        let mpbs: Vec<_> = of("C").into_iter().filter(|event| event["name"] == "accesses to MPBs").collect();
        assert_eq!((mpbs.len(), &mpbs[0]["pid"], &mpbs[0]["args"]), (2, &json!(3), &json!({"value": 1})));
        let last = json!({
            "ph": "i", "pid": 3, "tid": 5, "name": "failure", "cat": "failure", "ts": 12.0, "s": "g",
            "args": {"message": "core 4 waits", "rank": 4},
        });
        assert_eq!(*events.last().unwrap(), last);
    }
}
