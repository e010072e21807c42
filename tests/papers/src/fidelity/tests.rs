use super::{entry::Status, *};
use std::collections::BTreeSet;

const ENTRY: Entry = entry("S, 1", "us", "none").what("w");
static PREDICTED: Entry = ENTRY.predicted(10.0, Band::Percent(10.0), |_| Ok(0.0));
static REPORTED: Entry = ENTRY.reported(10.0, "r", |_| Ok(0.0));

#[test]
fn what_leaves_its_band_fails_and_is_named() {
    let of = |entry, ours| conclude(&[Checked { entry, ours }, Checked { entry, ours: 10.0 }]);
    assert!(of(&PREDICTED, 10.9).is_ok() && of(&REPORTED, 99.0).is_ok());
    let message = of(&PREDICTED, 11.5).unwrap_err().to_string();
    let expected = "fidelity: 1 of 2 entries have left their bands: \
                    S, 1, w: 11.5 us, published 10 us (+15.0 %, band ± 10 %)";
    assert_eq!(message, expected);
}

#[test]
fn entries_are_found_by_any_part_of_their_text() {
    assert!(["", "s, 1", "W"].iter().all(|only| is_asked_for(&PREDICTED, only)));
    assert!(!is_asked_for(&PREDICTED, "table 2"));
    let message = part("no such thing").err().unwrap().to_string();
    assert_eq!(message, "no entry has `no such thing` in it");
}

#[test]
fn an_entry_that_cannot_be_measured_says_which_it_is() {
    static BROKEN: Entry = Entry { unit: "", ..PREDICTED };
    let measure = |entry: &Entry| if entry.unit == "us" { Ok(10.0) } else { bail!("no rows") };
    let of = |wanted: &[&'static Entry]| measured(wanted.to_vec(), measure).unwrap();
    let (checked, failed) = of(&[&BROKEN, &PREDICTED, &BROKEN]);
    assert_eq!((checked.len(), &failed[..]), (1, &["S, 1, w: no rows"; 2].map(str::to_owned)[..]));
    let message = all_measured(&failed).unwrap_err().to_string();
    assert_eq!(message, "fidelity: 2 entries cannot be measured, the first: S, 1, w: no rows");
    assert!(all_measured(&of(&[&PREDICTED]).1).is_ok());
}

#[test]
fn every_entry_can_be_told_from_the_others() {
    let names: BTreeSet<_> = entries().map(|entry| (entry.source, entry.what)).collect();
    assert_eq!(names.len(), entries().count());
}

#[test]
fn entries_are_well_formed() {
    for Entry { source, what, unit, published, band, status, .. } in entries() {
        let name = format!("{source}, {what}");
        assert!(source.contains(", "), "{name}: the paper, and where in it");
        assert!(!matches!(band, Band::Points(_)) || *unit == "%", "{name}: points are of percentages");
        assert!(!matches!(band, Band::Percent(_)) || *published != 0.0, "{name}: a share of nothing");
        assert!(!published.is_nan() || matches!(status, Status::Reported(_)), "{name}: there is no number to predict");
        assert!(status.why().is_some() || *band != Band::None, "{name}: without a band nothing is promised");
        assert!(status.why().is_none_or(|why| why.len() > 20), "{name}: a reason has to say something");
    }
}

#[test]
fn bands_of_the_goals_are_not_widened() {
    use Band::{AtLeast, AtMost, Percent, Points};
    for (published, band) in [
        (35.22, Percent(10.0)),
        (34.30, Percent(10.0)),
        (13.38, Percent(10.0)),
        (25.8, Percent(15.0)),
        (4.0, AtLeast),
        (0.5, AtMost),
        (15.0, AtMost),
    ] {
        let is_it = |entry: &&Entry| entry.published == published && entry.status == Status::Predicted;
        let found: Vec<_> = entries().filter(is_it).collect();
        assert!(!found.is_empty() && found.iter().all(|entry| entry.band == band), "{published}: {band:?}");
    }
    let growth = |entry: &&Entry| entry.source == "OC-Bcast, 3.2 and Fig. 3";
    assert_eq!(entries().filter(growth).map(|entry| entry.band).collect::<Vec<_>>(), [Points(3.0); 4]);
    let degrees = |entry: &&Entry| entry.what.contains("k = 7 is faster than k = 2") && entry.band != Band::None;
    assert_eq!(entries().filter(degrees).map(|entry| entry.band).collect::<Vec<_>>(), [Points(5.0); 3]);
}
