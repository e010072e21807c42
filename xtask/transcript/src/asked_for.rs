//! Drains, invalidations and flushes of a program, and whether they were good for something.

use crate::finding::Frame;

/// All that a program has asked for at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedFor {
    /// A `drain`, an `invalidation`, a `flush` or a `purge`.
    pub what: String,
    /// How often.
    pub times: u64,
    /// How long all of it took, in picoseconds.
    pub time_ps: u64,
    /// Whether it has changed something, once at least.
    pub has_changed: bool,
    /// Where, from the innermost function on.
    pub frames: Vec<Frame>,
}

impl AskedFor {
    /// Reads fields between tabs: what, how often, picoseconds, `yes` or `no`; for each function `F`, its name, file and line.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split('\t').map(str::to_owned);
        let what = fields.next()?;
        let (times, time_ps) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        let has_changed = match fields.next()?.as_str() {
            "yes" => true,
            "no" => false,
            _ => return None,
        };
        let mut frames = Vec::new();
        while let Some(mark) = fields.next() {
            if mark != "F" {
                return None;
            }
            frames.push(Frame::parse(&mut fields)?);
        }
        Some(Self { what, times, time_ps, has_changed, frames })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_taken_apart() {
        let asked = AskedFor::parse("drain\t48\t1000\tno\tF\trun\t/a.rs\t7\tF\tmain\t/b.rs\t8").unwrap();
        assert_eq!((asked.what.as_str(), asked.times, asked.time_ps, asked.has_changed), ("drain", 48, 1000, false));
        assert_eq!((asked.frames.len(), asked.frames[1].line.as_str()), (2, "8"));
        for wrong in ["", "drain\t1\t2", "drain\t1\t2\tmaybe", "drain\tx\t2\tno", "drain\t1\t2\tno\tF\tf\tg"] {
            assert_eq!(AskedFor::parse(wrong), None, "{wrong}");
        }
    }
}
