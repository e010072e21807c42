//! What our own software takes on a core of the SCC, in cycles of its own: a table that is measured, never written by hand.
//!
//! `cargo xtask bench instructions` measures it on the emulated board, compares it with `software.toml`, and writes what that
//! file should be.

use std::collections::BTreeMap;

use crate::Error;

/// What software takes, in cycles in which a core does not wait for memory.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SoftwarePrices {
    /// What operations of the HAL take, by [`OPERATIONS`](Self::OPERATIONS).
    operations: BTreeMap<String, u64>,
    /// What operations of protocols take beside those of the HAL within them, by the names of their spans.
    spans: BTreeMap<String, SpanPrice>,
}

/// What an operation of a protocol takes, in tenths of cycles.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SpanPrice {
    /// Once.
    pub once: u64,
    /// For each peer that it does something for by itself.
    pub peer: u64,
    /// For each operation of the HAL in it.
    pub each: u64,
    /// For each line that it is about.
    pub line: u64,
}

/// The section of the spans.
const SPANS: &str = "spans";

/// The keys of a span's price.
const KEYS: [&str; 4] = ["once_tenths", "peer_tenths", "each_tenths", "line_tenths"];

impl SoftwarePrices {
    /// All operations of the HAL that have a price, in words of a bench: what is done, and whether the number is of a call, of a
    /// line within it, and so on.
    pub const OPERATIONS: &'static [(&'static str, &'static str)] = &[
        ("put", "call"),
        ("put", "line"),
        ("put-made", "call"),
        ("put-made", "line"),
        ("get", "call"),
        ("get", "line"),
        ("get-used", "call"),
        ("get-used", "line"),
        ("get-to-mpb", "call"),
        ("get-to-mpb", "line"),
        ("poll", "call"),
        ("poll", "line"),
        ("poll", "failed"),
        ("wait", "begin"),
        ("wait", "end"),
        ("flag", "set"),
        ("line", "load"),
        ("word", "load"),
        ("word", "store"),
        ("register", "acquire"),
        ("register", "free"),
    ];

    /// The measured table.
    ///
    /// # Panics
    /// If it is wrong, which tests rule out.
    pub fn measured() -> Self {
        Self::parse(include_str!("../software.toml")).expect("the table is one")
    }

    /// The table in a text.
    ///
    /// # Errors
    /// One line that says what is wrong in it.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let wrong = |why: &str| Error(format!("software.toml: {why}; `cargo xtask bench instructions` writes it anew"));
        let table: toml::Table = text.parse().map_err(|_| wrong("it is no TOML"))?;
        let number = |section: &toml::Value, key: &str| {
            let number = section.get(key).and_then(toml::Value::as_integer);
            number.and_then(|number| u64::try_from(number).ok())
        };
        let mut prices = Self::default();
        for (what, part) in Self::OPERATIONS {
            let price = table.get(*what).and_then(|section| number(section, part));
            let price = price.ok_or_else(|| wrong(&format!("{what}.{part} is missing")))?;
            prices.operations.insert(format!("{what}.{part}"), price);
        }
        for (name, span) in table.get(SPANS).and_then(toml::Value::as_table).into_iter().flatten() {
            let numbers = KEYS.map(|key| number(span, key));
            let [Some(once), Some(peer), Some(each), Some(line)] = numbers else {
                return Err(wrong(&format!("`{name}` does not have all of {}", KEYS.join(", "))));
            };
            prices.spans.insert(name.clone(), SpanPrice { once, peer, each, line });
        }
        Ok(prices)
    }

    /// A table of these numbers; nothing if an operation is missing.
    pub fn new(operations: impl Fn(&str, &str) -> Option<u64>, spans: BTreeMap<String, SpanPrice>) -> Option<Self> {
        let price = |(what, part): &(&str, &str)| Some((format!("{what}.{part}"), operations(what, part)?));
        let operations = Self::OPERATIONS.iter().map(price).collect::<Option<_>>()?;
        Some(Self { operations, spans })
    }

    /// Cycles of an operation.
    ///
    /// # Panics
    /// If it is none of [`OPERATIONS`](Self::OPERATIONS).
    pub fn operation(&self, what: &str, part: &str) -> u64 {
        self.operations[&format!("{what}.{part}")]
    }

    /// What a span takes, if it has a price.
    pub fn span(&self, name: &str) -> SpanPrice {
        self.spans.get(name).copied().unwrap_or_default()
    }

    /// All spans that have a price.
    pub fn spans(&self) -> impl Iterator<Item = (&str, SpanPrice)> {
        self.spans.iter().map(|(name, price)| (name.as_str(), *price))
    }

    /// The text of the table.
    pub fn text(&self) -> String {
        let mut text = String::from(
            "# Written by `cargo xtask bench instructions`: cycles of its own that a core of the SCC spends in our software, in those of\n\
             # the emulated board. Operations of the HAL; failed polls; waits that go on; and operations of protocols beside those, in tenths of\n\
             # cycles: once, for each peer, for each operation of the HAL in it, and for each line that it is about.\n",
        );
        let mut last = "";
        for (what, part) in Self::OPERATIONS {
            if *what != last {
                text += &format!("\n[{what}]\n");
                last = what;
            }
            text += &format!("{part} = {}\n", self.operation(what, part));
        }
        text += &format!("\n[{SPANS}]\n");
        for (name, SpanPrice { once, peer, each, line }) in &self.spans {
            let numbers = [once, peer, each, line];
            let numbers: Vec<_> = KEYS.iter().zip(numbers).map(|(key, number)| format!("{key} = {number}")).collect();
            text += &format!("{} = {{ {} }}\n", toml::Value::from(name.as_str()), numbers.join(", "));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_what_it_writes() {
        let measured = SoftwarePrices::measured();
        assert_eq!(measured.text(), include_str!("../software.toml"));
        assert_eq!(SoftwarePrices::parse(&measured.text()).unwrap(), measured);
        assert!(measured.spans().count() > 0 && measured.operation("put", "line") > 0);
    }

    #[test]
    fn what_is_missing_is_named() {
        let without = |line: &str| {
            let text: String = SoftwarePrices::measured()
                .text()
                .lines()
                .filter(|other| *other != line)
                .fold(String::new(), |text, line| text + line + "\n");
            SoftwarePrices::parse(&text)
        };
        let failed = format!("failed = {}", SoftwarePrices::measured().operation("poll", "failed"));
        let error = without(&failed).unwrap_err().to_string();
        assert!(error.contains("poll.failed is missing"), "{error}");
        assert!(SoftwarePrices::parse("x").is_err());
    }
}
