//! Tests of the console protocol.

use super::*;
use base64::{Engine, prelude::BASE64_STANDARD};

fn read(lines: &str) -> Transcript {
    Transcript::of(lines.lines())
}

/// A file as a guest sends it.
fn sent(name: &str, bytes: &[u8]) -> String {
    let mut text = format!("@data {name} {}\n", bytes.len());
    for part in BASE64_STANDARD.encode(bytes).as_bytes().chunks(76) {
        text += &format!("{}\n", std::str::from_utf8(part).unwrap());
    }
    text + &format!("@end {name} {:08x}\n", crc32fast::hash(bytes))
}

#[test]
fn files_arrive_whole() {
    for length in [0, 1, 2, 56, 57, 58, 5000] {
        let bytes: Vec<u8> = (0..length).map(|place: u32| (place * 7 % 251) as u8).collect();
        let transcript = read(&format!("hello\n{}bye\n@done ok", sent("terrain.pgm", &bytes)));
        assert_eq!(transcript.problems, Vec::<String>::new(), "{length}");
        assert_eq!(transcript.files, [File { name: "terrain.pgm".into(), bytes }]);
        assert_eq!(transcript.text, ["hello", "bye"]);
        assert_eq!(transcript.done, Some(Ok(())));
    }
}

#[test]
fn results_have_names() {
    let transcript = read("@result checksum 12e1b553\n@result title two words");
    let found: Vec<_> = transcript.results.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(found, [("checksum", "12e1b553"), ("title", "two words")]);
    for line in ["@result", "@result checksum", "@result checksum "] {
        assert_eq!(read(line).problems.len(), 1, "{line}");
    }
}

#[test]
fn samples_arrive_or_are_a_problem() {
    let line = "@samples algorithm=ring ranks=2 param=3 bytes=64 metric=latency unit=ns 1000 12";
    let transcript = read(&format!("{line}\n{line}"));
    assert_eq!((transcript.samples.len(), transcript.problems.len()), (2, 0));
    let transcript = read(&line.replace("ranks", "rinks"));
    assert_eq!((transcript.samples.len(), transcript.problems.len()), (0, 1));
}

#[test]
fn steps_arrive_or_are_a_problem() {
    let transcript = read("@step 3 fence drains=2 words_read=7\n@step 0 queue together\n@step 1 idle");
    let step = |rank, name: &str, is_together, counters: &[(&str, u64)]| Step {
        rank,
        name: name.into(),
        is_together,
        counters: counters.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect(),
    };
    let wanted = [
        step(3, "fence", false, &[("drains", 2), ("words_read", 7)]),
        step(0, "queue", true, &[]),
        step(1, "idle", false, &[]),
    ];
    assert_eq!(transcript.steps, wanted);
    for line in ["@step", "@step 3", "@step x fence", "@step 3 fence drains", "@step 3 fence drains=-1"] {
        assert_eq!(read(line).problems.len(), 1, "{line}");
    }
}

#[test]
fn a_lost_line_is_noticed() {
    let text = sent("a.bin", &[7; 200]);
    for lost in 1..5 {
        let lines: Vec<_> =
            text.lines().enumerate().filter(|(place, _)| *place != lost).map(|(_, line)| line).collect();
        let transcript = read(&lines.join("\n"));
        assert!(transcript.files.is_empty() && !transcript.problems.is_empty(), "line {lost}");
    }
}

#[test]
fn a_file_without_end_is_truncated() {
    let text = sent("a.bin", &[7; 200]);
    let transcript = read(text.rsplit_once("@end").unwrap().0);
    assert!(transcript.files.is_empty());
    assert!(transcript.problems[0].contains("a.bin is cut off"), "{:?}", transcript.problems);
}

#[test]
fn a_wrong_checksum_is_noticed() {
    let text = sent("a.bin", b"some bytes");
    let (head, _) = text.rsplit_once(' ').unwrap();
    let transcript = read(&format!("{head} 00000000"));
    assert!(transcript.files.is_empty());
    assert!(transcript.problems[0].contains("checksum"), "{:?}", transcript.problems);
}

#[test]
fn too_much_content_is_noticed_once() {
    let transcript = read("@data a.bin 3\nAAAA\nAAAA\nAAAA\n@end a.bin 00000000\nafter");
    assert_eq!(transcript.problems.len(), 1);
    assert_eq!(transcript.text, ["after"]);
}

#[test]
fn last_words_in_the_middle_of_a_file_are_shown() {
    let text = sent("a.bin", &[7; 200]);
    let mut lines: Vec<_> = text.lines().collect();
    lines.insert(2, "core 3: panic at src/terrain.rs:12: no halo");
    lines.insert(3, "@done failed panic on core 3");
    let transcript = read(&lines.join("\n"));
    assert_eq!(transcript.text, ["core 3: panic at src/terrain.rs:12: no halo"]);
    assert_eq!(transcript.done, Some(Err("panic on core 3".into())));
    assert_eq!(transcript.problems.len(), 1);
}

#[test]
fn names_stay_inside_the_result_directory() {
    for name in ["../x", "/etc/passwd", ".hidden", "a/b", "", "..", "a b"] {
        let transcript = read(&sent(name, b"x"));
        assert!(transcript.files.is_empty() && !transcript.problems.is_empty(), "{name}");
    }
}

#[test]
fn tests_and_counts() {
    let transcript =
        read("@test barrier ok\n@test put-undrained failed rank 1: saw 7, expected 0\n@tests 1 1\n@done failed 1 test");
    assert_eq!(
        transcript.tests,
        [
            Test { name: "barrier".into(), failure: None },
            Test { name: "put-undrained".into(), failure: Some("rank 1: saw 7, expected 0".into()) }
        ]
    );
    assert_eq!(transcript.counts, Some((1, 1)));
    assert_eq!(transcript.done, Some(Err("1 test".into())));
}

#[test]
fn counters_per_rank() {
    let transcript = read("@counters 3 mpb_lines_read=12 drains=0\n@counters 0");
    assert_eq!(transcript.counters.len(), 2);
    assert_eq!(transcript.counters[0].rank, 3);
    assert_eq!(transcript.counters[0].values["mpb_lines_read"], "12");
    assert!(transcript.counters[1].values.is_empty());
}

#[test]
fn ticks_are_kept() {
    assert_eq!(read("@ticks 5000000000").ticks, Some(5_000_000_000));
}

#[test]
fn fatal_programs_are_listed() {
    let transcript = read("@fatal panics a rank that panics");
    assert_eq!(transcript.fatal, [("panics".to_owned(), "a rank that panics".to_owned())]);
}

#[test]
fn nonsense_is_a_problem() {
    for line in [
        "@",
        "@bogus",
        "@done",
        "@done maybe",
        "@test x",
        "@test x perhaps",
        "@tests 1",
        "@tests a b",
        "@counters x",
        "@counters 1 a",
        "@data x",
        "@data x y",
        "@fatal x",
        "@ticks x",
        "@end x 0",
    ] {
        assert_eq!(read(line).problems.len(), 1, "{line}");
    }
}

#[test]
fn success_does_not_undo_failure() {
    assert_eq!(read("@done failed early\n@done ok").done, Some(Err("early".into())));
}

#[test]
fn phases_and_text_are_events() {
    let mut console = Console::default();
    assert_eq!(console.line("@phase diffusion"), Event::Phase("diffusion"));
    assert_eq!(console.line("plain"), Event::Text("plain"));
    assert_eq!(console.line(""), Event::Text(""));
    assert_eq!(console.finish().phase.as_deref(), Some("diffusion"));
}

#[test]
fn the_tail_is_bounded() {
    let transcript = read("1\n2\n3");
    assert_eq!(transcript.tail(2), ["2", "3"]);
    assert_eq!(transcript.tail(9).len(), 3);
}
