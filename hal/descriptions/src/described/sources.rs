//! Comments of files: where each parameter comes from.

use std::collections::BTreeMap;

/// Where a parameter comes from.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Source {
    /// What kind of source that is, one of [`KINDS`]; empty where the file does not say.
    pub kind: String,
    /// The source itself.
    pub text: String,
}

/// Kinds of sources: a paper's table or text; the project's notes on hardware; counted instructions; derived from the
/// former; chosen, since there is no source; fitted on a published measurement.
pub const KINDS: [&str; 6] = ["paper", "facts", "counted", "derived", "chosen", "fitted"];

impl Source {
    fn of(comment: &str) -> Self {
        match comment.split_once(':') {
            Some((kind, text)) if KINDS.contains(&kind) => Self { kind: kind.into(), text: text.trim().into() },
            _ => Self { kind: String::new(), text: comment.into() },
        }
    }
}

/// The comment above each parameter, by `section.key`: it counts up to the next comment or empty line.
pub(super) fn sources(text: &str) -> BTreeMap<String, Source> {
    let (mut section, mut comment, mut is_open) = (String::new(), String::new(), false);
    let mut sources = BTreeMap::new();
    for line in text.lines().map(str::trim) {
        if let Some(more) = line.strip_prefix('#') {
            if !is_open {
                comment.clear();
            }
            is_open = true;
            comment.push(' ');
            comment.push_str(more.trim());
            continue;
        }
        is_open = false;
        // A comment may be behind the section's name.
        let header = line.strip_prefix('[').and_then(|line| line.split('#').next()?.trim_end().strip_suffix(']'));
        if let Some(name) = header {
            section = name.trim().into();
            comment.clear();
        } else if line.is_empty() {
            comment.clear();
        } else if let Some((key, _)) = line.split_once('=')
            && !comment.is_empty()
        {
            sources.insert(format!("{section}.{}", key.trim()), Source::of(comment.trim()));
        }
    }
    sources
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_counts_for_what_follows_it() {
        let text = "# of nothing\n\n[prices]\n# paper: Table 1,\n#  L^hop\nhop_ps = 1 # behind\nmpb_ps = 2\n# my guess: 3\n\
                    cache_sets = 3\n\ncache_ways = 4\n[ layout ] # where cores are\n# facts: a ruler\nrows = 4\n";
        let sources = sources(text);
        let source = |name: &str| sources.get(name).map(|source| (source.kind.as_str(), source.text.as_str()));
        assert_eq!(source("prices.hop_ps"), Some(("paper", "Table 1, L^hop")));
        assert_eq!(source("prices.mpb_ps"), source("prices.hop_ps"));
        assert_eq!(source("prices.cache_sets"), Some(("", "my guess: 3")));
        assert_eq!(source("prices.cache_ways"), None);
        assert_eq!(source("layout.rows"), Some(("facts", "a ruler")));
    }
}
