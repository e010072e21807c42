//! A trace as a file in Chrome's trace-event format, which Perfetto and `chrome://tracing` show.
//!
//! The machine is a process and each rank a thread of it. Operations and waits are complete events (`X`), and an arrow
//! (`s`, `f`) goes from the store that ended a wait to that wait; the begin of a phase is an instant (`i`). Times are microseconds of the machine's clock.

use anyhow::Result;
use serde_json::{Map, Value, json};
use std::io::Write;
use transcript::trace::{Records, Span, Trace, Wait};

/// The file of a trace whose waits know what ended them: one event a line.
///
/// # Errors
///
/// When an event cannot be written.
pub(super) fn json(label: &str, trace: &Trace) -> Result<Vec<u8>> {
    let mut file = Events { bytes: b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n".to_vec(), is_first: true };
    file.add(&json!({"ph": "M", "pid": 0, "name": "process_name", "args": {"name": label}}))?;
    let clock = Clock(trace.moments_per_second.max(1) as f64 / 1e6);
    let mut arrows = 0;
    for (rank, records) in &trace.ranks {
        let name = |what: &str, args: Value| json!({"ph": "M", "pid": 0, "tid": rank, "name": what, "args": args});
        file.add(&name("thread_name", json!({"name": format!("rank {rank}")})))?;
        file.add(&name("thread_sort_index", json!({"sort_index": rank})))?;
        rank_events(*rank, records, clock, &mut arrows, &mut file)?;
    }
    file.bytes.extend_from_slice(b"\n]}\n");
    Ok(file.bytes)
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

/// Moments in a microsecond.
#[derive(Clone, Copy)]
struct Clock(f64);

impl Clock {
    fn us(self, moments: u64) -> f64 {
        // Not a product: this is as exact as a number can be, and as short when it is written.
        moments as f64 / self.0
    }
}

fn rank_events(rank: u32, records: &Records, clock: Clock, arrows: &mut u64, file: &mut Events) -> Result<()> {
    if records.lost > 0 {
        let (name, ts) = (format!("{} older records are lost", records.lost), clock.us(records.begin()));
        file.add(&json!({"ph": "i", "pid": 0, "tid": rank, "name": name, "ts": ts, "s": "t"}))?;
    }
    for phase in &records.phases {
        let ts = clock.us(phase.begin);
        file.add(&json!({"ph": "i", "pid": 0, "tid": rank, "name": *phase.name, "cat": "phase", "ts": ts, "s": "t"}))?;
    }
    // What begins first comes first, and what has something in it before that.
    let mut events: Vec<_> = records.spans.iter().map(|span| (span.begin, span.depth, span_event(span))).collect();
    events.extend(records.waits.iter().map(|wait| (wait.begin, wait.depth, wait_event(wait))));
    events.sort_by_key(|(begin, depth, _)| (*begin, *depth));
    for (_, _, (name, category, begin, end, args)) in events {
        file.add(&json!({
            "ph": "X", "pid": 0, "tid": rank, "name": name, "cat": category,
            "ts": clock.us(begin), "dur": clock.us(end - begin), "args": args,
        }))?;
    }
    for (wait, ender) in records.waits.iter().filter_map(|wait| Some((wait, wait.ender.as_ref()?))) {
        // Inside the wait, or an arrow would end at what follows.
        let seen = ender.at.clamp(wait.begin, wait.end);
        let id = *arrows;
        let arrow = |phase: &str, tid: u32, at: u64| {
            let ts = clock.us(at);
            json!({"ph": phase, "pid": 0, "tid": tid, "id": id, "name": "ended", "cat": "wait", "ts": ts})
        };
        file.add(&arrow("s", ender.rank, ender.at))?;
        let mut end = arrow("f", rank, seen);
        end["bp"] = "e".into();
        file.add(&end)?;
        *arrows += 1;
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
        let file = json("a machine", &enders::find(trace)).unwrap();
        let file: Value = serde_json::from_slice(&file).unwrap();
        let events = file["traceEvents"].as_array().unwrap();
        let of = |phase: &str| -> Vec<&Value> { events.iter().filter(|event| event["ph"] == phase).collect() };
        assert_eq!((of("M").len(), of("i").len()), (5, 1));
        assert_eq!(of("i")[0]["name"], "2 older records are lost");
        assert_eq!(
            *of("X")[0],
            json!({
                "ph": "X", "pid": 0, "tid": 0, "name": "send", "cat": "operation", "ts": 1.0, "dur": 1.5,
                "args": {"peer": 1, "bytes": 64},
            })
        );
        let wait = of("X")[2];
        assert_eq!(
            (&wait["ts"], &wait["dur"], &wait["name"]),
            (&json!(1.5), &json!(0.75), &json!("wait for a message"))
        );
        assert_eq!((&wait["args"]["ended by"], &wait["args"]["store to"]), (&json!("rank 0"), &json!("line 7")));
        assert_eq!((&of("s")[0]["tid"], &of("s")[0]["ts"], &of("s")[0]["id"]), (&json!(0), &json!(2.0), &json!(0)));
        assert_eq!((&of("f")[0]["tid"], &of("f")[0]["ts"], &of("f")[0]["bp"]), (&json!(1), &json!(2.0), &json!("e")));
    }
}
