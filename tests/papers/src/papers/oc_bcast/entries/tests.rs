use super::ENTRIES;

/// What the paper says, by place.
const QUOTES: [(&str, &str); 15] = [
    (
        "3.2 and Fig. 3",
        "for a given message size, the performance difference between the 1-hop distance […] and the 9-hop distance \
         (maximum distance) is only 30%",
    ),
    ("3.2 and Fig. 3 with instructions", "only 30%"),
    // o_get^mpb + 2 o^mpb + 4 L^hop: 0.33 + 2 * 0.126 + 4 * 0.005.
    ("Table 1 by formula 11", "L^hop 0.005 us, o^mpb 0.126 us, o_get^mpb 0.33 us, so that it is 0.602 us"),
    // o_put^mpb + 2 o^mpb + 4 L^hop.
    ("Table 1 by formula 7", "L^hop 0.005 us, o^mpb 0.126 us, o_put^mpb 0.069 us, so that it is 0.341 us"),
    (
        "3.3 and Fig. 4a",
        "up to 24 cores accessing the same MPB do not create any measurable contention; the slowest core is more than two \
         (2) times slower than the fastest one for get",
    ),
    (
        "3.3 and Fig. 4b",
        "do not create any measurable contention (0), and more than four (4) times slower for a put operation",
    ),
    ("3.3", "get latency […] with the heavily loaded link did not show any performance drop (0)"),
    ("4.1", "a binary tree (2) provides the lowest notification latency"),
    ("4.2", "the total time to transfer the message is roughly 2nδ. With double buffering, […] only nδ"),
    // Of a line: 0.208 + 0.126 + 4 * 0.005 = 0.354 into the MPB, and 0.126 + 0.461 + 4 * 0.005 = 0.607 to memory.
    ("4.2 with steps by formulas 8 and 12", "(0.354 + 0.607) / 0.607 = 1.58"),
    ("Table 2", "Throughput (MB/s) 35.22 34.3 35.88 13.38; 34.3 / 13.38 = 2.56"),
    (
        "6.2.1",
        "OC-Bcast with k = 7 provides 27% improvement compared to the binomial tree (16.6 µs vs. 21.6 µs), which is \
         5 µs",
    ),
    (
        "6.2.1 and Fig. 8a",
        "For message size between 96 and 192 cache lines, the latency of OC-Bcast with k = 7 is around 25% better than with \
         k = 2; k = 7 and k = 47 almost completely overlap (0)",
    ),
    ("6.2.2", "the throughput is about 16% lower than predicted"),
    // A drop that one sees in a figure is taken as a tenth of what is shown: 0.9 is left.
    ("6.2.2 and Fig. 8b", "performance drop for a message of 97 cache lines, of a tenth or more: 0.9"),
];

#[test]
fn published_numbers_are_in_the_text() {
    for entry in ENTRIES {
        let place = entry.source.strip_prefix("OC-Bcast, ").expect("the paper's name");
        let quote = QUOTES.iter().find(|(of, _)| *of == place);
        let (_, quote) = quote.unwrap_or_else(|| panic!("{place}: nothing is quoted"));
        let digits = |letter: char| !letter.is_ascii_digit() && letter != '.';
        let mut numbers = quote.split(digits).filter_map(|number| number.trim_end_matches('.').parse::<f64>().ok());
        let published = entry.published;
        assert!(published.is_nan() || numbers.any(|number| number == published), "{}: {published}", entry.source);
    }
}

#[test]
fn every_quote_is_of_an_entry() {
    let is_cited = |place: &str| ENTRIES.iter().any(|entry| entry.source == format!("OC-Bcast, {place}"));
    assert!(QUOTES.iter().all(|(place, _)| is_cited(place)));
}
