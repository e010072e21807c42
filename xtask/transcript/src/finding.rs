//! Mistakes of a program that the coherence checker has found.

/// A function, and a line of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Frame {
    /// The name of the function.
    pub function: String,
    /// Path of the source file.
    pub file: String,
    /// Its line.
    pub line: String,
}

impl Frame {
    /// Reads the three fields behind an `F`.
    pub(crate) fn parse(fields: &mut impl Iterator<Item = String>) -> Option<Self> {
        Some(Self { function: fields.next()?, file: fields.next()?, line: fields.next()? })
    }
}

/// An access to memory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Access {
    /// Who accesses.
    pub rank: u32,
    /// What it does, as the predicate of a sentence.
    pub what: String,
    /// Operations of protocols that it is part of.
    pub spans: String,
    /// Where it is, from the innermost function on.
    pub frames: Vec<Frame>,
}

impl Access {
    /// Reads fields: `A`, rank, what it does and spans; behind each access for each function `F`, its name, file and line.
    pub(crate) fn parse_all(fields: &mut impl Iterator<Item = String>) -> Option<Vec<Self>> {
        let mut accesses: Vec<Self> = Vec::new();
        while let Some(mark) = fields.next() {
            match mark.as_str() {
                "A" => {
                    let (rank, what, spans) = (fields.next()?.parse().ok()?, fields.next()?, fields.next()?);
                    accesses.push(Self { rank, what, spans, frames: Vec::new() });
                }
                "F" => accesses.last_mut()?.frames.push(Frame::parse(fields)?),
                _ => return None,
            }
        }
        Some(accesses)
    }
}

/// A mistake.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The name of its kind.
    pub kind: String,
    /// What is missing, and where.
    pub remedy: String,
    /// Which bytes.
    pub bytes: String,
    /// The access that has to change.
    pub place: Access,
    /// The one that it is at odds with.
    pub other: Option<Access>,
}

impl Finding {
    /// Reads fields between tabs: kind, what is missing, bytes; then for each access `A`, rank, what it does and spans; behind
    /// each access for each function `F`, its name, file and line.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split('\t').map(str::to_owned);
        let (kind, remedy, bytes) = (fields.next()?, fields.next()?, fields.next()?);
        let mut accesses = Access::parse_all(&mut fields)?.into_iter();
        let (place, other) = (accesses.next()?, accesses.next());
        accesses.next().is_none().then_some(Self { kind, remedy, bytes, place, other })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_taken_apart() {
        let line =
            "stale\tdrain\t4 bytes\tA\t1\tstores\tput\tF\trun\t/a.rs\t7\tF\tmain\t/b.rs\t8\tA\t0\tloads\t\tF\tf\t/c\t9";
        let finding = Finding::parse(line).unwrap();
        assert_eq!((finding.kind.as_str(), finding.place.rank, finding.place.frames.len()), ("stale", 1, 2));
        let other = finding.other.unwrap();
        assert_eq!((other.rank, other.spans.as_str(), other.frames[0].line.as_str()), (0, "", "9"));
        for wrong in ["", "stale\td\tb", "stale\td\tb\tF\tf\tg\t1", "stale\td\tb\tA\tx\ty\tz", "stale\td\tb\tA\t1"] {
            assert_eq!(Finding::parse(wrong), None, "{wrong}");
        }
    }
}
