//! What a trace file has to be, by the published description of the trace-event format and by what Perfetto's importer makes
//! of it, for traces of any program. This knows nothing of the code that writes them.
//!
//! Perfetto keeps whole nanoseconds of a slice's begin and of its length. It drops an arrow that has no slice at one of its ends, a slice that ends within another one that it did not begin in,
//! and events whose values are no numbers, all in silence; so here each of these is an error.

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A process and a thread of it.
type Track = (u64, u64);

/// One end of an arrow: where, when, and whether it begins there.
type FlowEnd = (Track, i64, bool);

/// What is in a trace file.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The names of processes.
    pub(super) processes: BTreeMap<u64, String>,
    /// The names of threads.
    pub(super) threads: BTreeMap<Track, String>,
    /// Begin and end in nanoseconds, and name, of the slices of each thread, in the order of the file.
    pub(super) slices: BTreeMap<Track, Vec<(i64, i64, String)>>,
    /// Arrows of each category.
    pub(super) flows: BTreeMap<String, usize>,
    /// Values of each counter.
    pub(super) counters: BTreeMap<(u64, String), Vec<f64>>,
    /// The last event, if it says what a run has failed with: the rank and the message.
    pub(super) failure: Option<(Option<u64>, String)>,
}

impl Found {
    /// Ranks that have done something.
    pub(super) fn ranks(&self) -> BTreeSet<u64> {
        self.slices.keys().map(|(_, rank)| *rank).collect()
    }
}

/// Reads a trace file.
///
/// # Errors
/// When it is none, or something in it would get lost.
pub(super) fn read(bytes: &[u8]) -> Result<Found> {
    let file: Value = serde_json::from_slice(bytes).context("the trace is no JSON")?;
    ensure!(["ns", "ms"].map(Into::into).contains(&file["displayTimeUnit"]), "displayTimeUnit is neither ns nor ms");
    let events = file["traceEvents"].as_array().context("there is no array `traceEvents`")?;
    let mut found = Found::default();
    let mut reader = Reader::default();
    for (index, event) in events.iter().enumerate() {
        let is_last = index + 1 == events.len();
        reader.event(event, is_last, &mut found).with_context(|| format!("event {index}: {event}"))?;
    }
    for track in found.slices.keys() {
        ensure!(found.threads.contains_key(track), "thread {track:?} has no name");
    }
    let pids = found.slices.keys().map(|(pid, _)| pid).chain(found.counters.keys().map(|(pid, _)| pid));
    for pid in pids {
        ensure!(found.processes.contains_key(pid), "process {pid} has no name");
    }
    reader.finish(&mut found)?;
    Ok(found)
}

#[derive(Default)]
struct Reader {
    /// Slices that are open at the end of the last one of each thread.
    open: BTreeMap<Track, Vec<i64>>,
    /// The time of the last value of each counter.
    counted: BTreeMap<(u64, String), i64>,
    /// Ends of arrows, by category and number: where, when, and whether it begins there.
    ends: BTreeMap<(String, u64), Vec<FlowEnd>>,
    last_ns: i64,
}

impl Reader {
    fn event(&mut self, event: &Value, is_last: bool, found: &mut Found) -> Result<()> {
        let fields = event.as_object().context("it is no object")?;
        let phase = text(fields, "ph")?;
        let pid = number(fields, "pid")?;
        let name = text(fields, "name")?.to_owned();
        if phase == "M" {
            return metadata(fields, pid, &name, found);
        }
        ensure!(
            pid > 0 && fields.get("tid").is_none_or(|tid| tid != 0 || name == "failure"),
            "0 is no number for Perfetto"
        );
        let ts = time(fields, "ts")?;
        self.last_ns = self.last_ns.max(ts);
        match phase {
            "X" => {
                let track = (pid, number(fields, "tid")?);
                let end = ts + time(fields, "dur")?;
                self.last_ns = self.last_ns.max(end);
                ensure!(fields.get("args").is_none_or(Value::is_object), "args are no object");
                text(fields, "cat")?;
                let slices = found.slices.entry(track).or_default();
                ensure!(slices.last().is_none_or(|(begin, ..)| *begin <= ts), "it begins before the one before it");
                let open = self.open.entry(track).or_default();
                open.retain(|until| *until > ts);
                ensure!(open.iter().all(|until| end <= *until), "it ends after one that it is within, at {open:?}");
                open.push(end);
                slices.push((ts, end, name));
            }
            "s" | "f" => {
                let (track, id) = ((pid, number(fields, "tid")?), number(fields, "id")?);
                ensure!(phase == "s" || fields.get("bp") == Some(&"e".into()), "it ends at what follows");
                self.ends.entry((text(fields, "cat")?.into(), id)).or_default().push((track, ts, phase == "s"));
            }
            "C" => {
                let values = fields.get("args").and_then(Value::as_object).context("it has no values")?;
                ensure!(!values.is_empty() && values.values().all(Value::is_number), "its values are no numbers");
                let last = self.counted.insert((pid, name.clone()), ts);
                ensure!(last.is_none_or(|last| last < ts), "it does not come after the value before it");
                let values = values.values().filter_map(Value::as_f64);
                found.counters.entry((pid, name)).or_default().extend(values);
            }
            "i" => {
                let scope = text(fields, "s")?;
                ensure!(["g", "p", "t"].contains(&scope), "there is no scope {scope}");
                if name == "failure" {
                    ensure!(is_last, "something comes after the failure");
                    ensure!(ts >= self.last_ns, "something happens after the failure");
                    let args = fields.get("args").and_then(Value::as_object).context("it says nothing")?;
                    found.failure = Some((args.get("rank").and_then(Value::as_u64), text(args, "message")?.into()));
                }
            }
            _ => bail!("there is no phase {phase} in these traces"),
        }
        Ok(())
    }

    /// Judges arrows, which may come before what they begin or end in.
    fn finish(self, found: &mut Found) -> Result<()> {
        for ((category, id), ends) in self.ends {
            let [(from, begin, true), (to, end, false)] = ends.as_slice() else {
                bail!("arrow {id} of {category} has the ends {ends:?}");
            };
            ensure!(*begin <= *end, "arrow {id} of {category} ends before it begins");
            for (track, at) in [(from, begin), (to, end)] {
                let slices = found.slices.get(track).map_or(&[][..], Vec::as_slice);
                let within = slices.iter().any(|(begin, end, _)| begin <= at && at <= end);
                ensure!(within, "arrow {id} of {category} has nothing at {at} ns on {track:?}");
            }
            *found.flows.entry(category).or_default() += 1;
        }
        Ok(())
    }
}

fn metadata(fields: &Map<String, Value>, pid: u64, name: &str, found: &mut Found) -> Result<()> {
    let args = fields.get("args").and_then(Value::as_object).context("it says nothing")?;
    let twice = match name {
        "process_name" => found.processes.insert(pid, text(args, "name")?.into()).is_some(),
        "thread_name" => found.threads.insert((pid, number(fields, "tid")?), text(args, "name")?.into()).is_some(),
        "process_sort_index" | "thread_sort_index" => {
            number(args, "sort_index")?;
            false
        }
        _ => bail!("there is no metadata of that name"),
    };
    ensure!(!twice, "that has a name already");
    Ok(())
}

fn text<'f>(fields: &'f Map<String, Value>, key: &str) -> Result<&'f str> {
    fields.get(key).and_then(Value::as_str).with_context(|| format!("`{key}` is no text"))
}

fn number(fields: &Map<String, Value>, key: &str) -> Result<u64> {
    fields.get(key).and_then(Value::as_u64).with_context(|| format!("`{key}` is no number"))
}

/// A time, which is in microseconds, in nanoseconds.
fn time(fields: &Map<String, Value>, key: &str) -> Result<i64> {
    let time = fields.get(key).and_then(Value::as_f64).with_context(|| format!("`{key}` is no time"))?;
    ensure!(time.is_finite() && time >= 0.0, "`{key}` is no time");
    Ok((time * 1e3) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: &str = r#"{"ph":"M","pid":1,"name":"process_name","args":{"name":"tile"}},
        {"ph":"M","pid":1,"tid":7,"name":"thread_name","args":{"name":"rank 0"}}"#;

    fn slice(ts: f64, dur: f64) -> String {
        format!(r#"{{"ph":"X","pid":1,"tid":7,"name":"x","cat":"c","ts":{ts},"dur":{dur}}}"#)
    }

    fn of(events: &[&str]) -> Result<Found> {
        read(format!(r#"{{"displayTimeUnit":"ns","traceEvents":[{NAMES},{}]}}"#, events.join(",")).as_bytes())
    }

    #[test]
    fn what_is_right_is_found() {
        let flow = |phase: &str, ts: f64| {
            format!(r#"{{"ph":"{phase}","pid":1,"tid":7,"id":3,"name":"put","cat":"put","ts":{ts},"bp":"e"}}"#)
        };
        let (slices, flows) =
            ([slice(0.0, 10.0), slice(1.0, 2.0), slice(3.0, 0.0), slice(3.0, 7.0)], [flow("s", 1.5), flow("f", 9.0)]);
        let counter = r#"{"ph":"C","pid":1,"name":"n","ts":2,"args":{"value":1}}"#;
        let failure = r#"{"ph":"i","pid":1,"tid":7,"s":"g","name":"failure","ts":10,"args":{"message":"no","rank":0}}"#;
        let mut events: Vec<&str> = slices.iter().chain(&flows).map(String::as_str).collect();
        events.extend([counter, failure]);
        let found = of(&events).unwrap();
        assert_eq!((found.slices[&(1, 7)].len(), found.flows["put"], found.counters.len()), (4, 1, 1));
        assert_eq!((found.failure, found.processes.len()), (Some((Some(0), "no".into())), 1));
    }

    #[test]
    fn what_would_get_lost_is_refused() {
        let error = |events: &[&str]| format!("{:#}", of(events).unwrap_err());
        let late = r#"{"ph":"i","pid":1,"tid":7,"s":"g","name":"failure","ts":1,"args":{"message":"no"}}"#;
        let half = r#"{"ph":"s","pid":1,"tid":7,"id":3,"name":"put","cat":"put","ts":1}"#;
        let end = r#"{"ph":"f","pid":1,"tid":7,"id":3,"name":"put","cat":"put","ts":20,"bp":"e"}"#;
        let text = r#"{"ph":"C","pid":1,"name":"n","ts":2,"args":{"value":"1"}}"#;
        let nobody = r#"{"ph":"X","pid":2,"tid":7,"name":"x","cat":"c","ts":0,"dur":1}"#;
        for (events, why) in [
            (&[&*slice(0.0, 5.0), &slice(4.0, 5.0)][..], "it ends after one that it is within"),
            (&[&slice(3.0, 1.0), &slice(2.0, 1.0)], "it begins before"),
            (&[&slice(-1.0, 1.0)], "`ts` is no time"),
            (&[&slice(0.0, 5.0), half], "has the ends"),
            (&[&slice(0.0, 5.0), half, end], "has nothing at 20000 ns"),
            (&[&slice(0.0, 5.0), late], "something happens after the failure"),
            (&[late, &slice(0.0, 0.5)], "something comes after the failure"),
            (&[text], "its values are no numbers"),
            (&[nobody], "thread (2, 7) has no name"),
            (&[r#"{"ph":"B","pid":1,"tid":7,"name":"x","ts":1}"#], "there is no phase B"),
        ] {
            let error = error(events);
            assert!(error.contains(why), "{error} instead of {why}");
        }
    }
}
