//! Writes a description as a file.

use std::fmt::Write;

use super::{Described, Key, Parameter, Value};

impl<Of> Described<Of> {
    /// The whole description as a file, without a base, with the sources as comments.
    pub fn to_toml(&self) -> String {
        let mut text = format!("about = {}\n", quoted(&self.about));
        let (mut section, mut comment) = ("", String::new());
        for parameter in self.values.parameters() {
            let key = parameter.key;
            let above = comment_of(parameter, &self.name);
            if key.section() != section {
                section = key.section();
                write!(text, "\n[{section}]\n").expect("texts take everything");
                comment.clear();
            }
            if above != comment {
                // An empty line ends what a comment counts for.
                text.push_str(if above.is_empty() { "\n" } else { &above });
                comment = above;
            }
            let name = key.name.strip_prefix(section).map_or(key.name, |name| &name[1..]);
            writeln!(text, "{name} = {}", value(key, &parameter.value)).expect("texts take everything");
        }
        text
    }
}

fn comment_of(parameter: &Parameter, name: &str) -> String {
    let source = &parameter.source;
    let of = if parameter.from == name { String::new() } else { format!(" (of {})", parameter.from) };
    match (source.kind.as_str(), source.text.as_str()) {
        ("", "") => String::new(),
        ("", text) => format!("# {text}{of}\n"),
        (kind, text) => format!("# {kind}: {text}{of}\n"),
    }
}

fn value(key: &Key, value: &Value) -> String {
    let number = |number: &u64| if key.is_hex { format!("{number:#x}") } else { number.to_string() };
    let list = |items: Vec<String>| format!("[{}]", items.join(", "));
    match value {
        Value::Number(one) => number(one),
        Value::Numbers(numbers) => list(numbers.iter().map(number).collect()),
        Value::Pairs(pairs) => list(pairs.iter().map(|pair| list(pair.iter().map(number).collect())).collect()),
        Value::Words(words) => list(words.iter().map(|word| quoted(word)).collect()),
        Value::Flag(flag) => flag.to_string(),
    }
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}
