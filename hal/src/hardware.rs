#![doc = include_str!("hardware.md")]

#[cfg(test)]
mod tests {
    extern crate std;

    use std::{
        fs,
        path::{Path, PathBuf},
        string::{String, ToString},
        vec::Vec,
    };

    const PAGE: &str = include_str!("hardware.md");

    /// How a section of the page is cited: this, and its heading.
    const CITATION: [&str; 2] = ["hal::hardware`, ", "hal::hardware, "];

    /// Kinds of files that cite the page.
    const KINDS: [&str; 3] = ["rs", "toml", "md"];

    fn headings() -> Vec<&'static str> {
        PAGE.lines().filter_map(|line| line.strip_prefix("## ")).collect()
    }

    /// The text of a file as one line, without what marks its comments.
    fn joined(text: &str) -> String {
        let bare = |line: &str| line.trim().trim_start_matches(['/', '!', '#']).trim().to_string();
        text.lines().map(bare).collect::<Vec<_>>().join(" ")
    }

    /// What is cited as a section and is none, as far as it can be told.
    fn unknown(text: &str) -> (usize, Vec<String>) {
        let (text, headings) = (joined(text), headings());
        let cited: Vec<_> =
            CITATION.iter().flat_map(|mark| text.match_indices(mark).map(|(at, _)| &text[at + mark.len()..])).collect();
        let ends = |rest: &str| rest.is_empty() || rest.starts_with([')', ';', ',', '.', ':', ' ']);
        let is_section = |rest: &&&str| headings.iter().any(|heading| rest.strip_prefix(heading).is_some_and(ends));
        let wrong = cited.iter().filter(|rest| !is_section(rest)).map(|rest| rest.chars().take(40).collect());
        (cited.len(), wrong.collect())
    }

    /// Files of the tree that may cite the page, but for what was built.
    fn files(directory: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                files(&path, found);
            } else if path.extension().is_some_and(|kind| KINDS.iter().any(|known| kind == *known)) {
                found.push(path);
            }
        }
    }

    #[test]
    fn every_section_that_is_cited_is_there() {
        let mut found = Vec::new();
        files(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut found);
        let mut count = 0;
        for path in found.iter().filter(|path| !path.ends_with("hal/src/hardware.rs")) {
            let (cited, wrong) = unknown(&fs::read_to_string(path).unwrap());
            assert!(wrong.is_empty(), "{} cites what is no section of hal::hardware: {wrong:?}", path.display());
            count += cited;
        }
        assert!(count >= 30, "only {count} citations were found");
    }

    #[test]
    fn a_citation_may_be_broken_over_two_lines_of_a_comment() {
        let (broken, good) = ("//! so (`hal::hardware`, MPB\n//! type).", "# so (hal::hardware, Reset; own_mpb)");
        assert_eq!((unknown(broken), unknown(good)), ((1, Vec::new()), (1, Vec::new())));
        assert_eq!(unknown("/// (`hal::hardware`, MPB types)").1, ["MPB types)"]);
    }
}
