//! Areas of all layouts, which do not overlap.

use alloc::vec::Vec;

use super::{share::SHARES, *};

#[test]
fn areas_do_not_overlap_for_any_rank_count() {
    for ranks in 1..=MAX_RANKS {
        let layout = MpbLayout::new(ranks).unwrap();
        let (last_signal, _) = layout.signal_from(ranks - 1);
        assert!(last_signal < layout.cells().start && layout.cells().end == layout.message_head());
        assert_eq!(layout.message_head() + HEAD_LINES, layout.spare().start);
        assert!(layout.spare().end <= layout.message_lines().start);
        assert_eq!(layout.buffer(0) + layout.buffer_lines(), layout.buffer(1));
        assert_eq!(layout.buffer(1) + layout.buffer_lines(), MPB_LINES);
    }
}

#[test]
fn programs_get_lines_of_staging_or_of_the_payload() {
    for ranks in 1..=MAX_RANKS {
        let without = MpbLayout::new(ranks).unwrap();
        let end = without.spare().end;
        for end in [end + 1, end + 2, MPB_LINES - 2 * LEAST_STAGING_LINES] {
            let with = without.with_spare_to(end).unwrap();
            assert!((end..=end + 1).contains(&with.spare().end), "{ranks} ranks, {end}");
            assert_eq!((with.spare().end, with.spare().start), (with.message_lines().start, without.spare().start));
            assert_eq!(with.buffer(1) + with.buffer_lines(), MPB_LINES);
        }
        assert_eq!(without.with_spare_to(MPB_LINES - 2 * LEAST_STAGING_LINES + 1), None);
        let lines = without.rcce_lines().len();
        assert_eq!(without.with_program_lines(lines - 1).unwrap().rcce_payload().len(), 1);
        assert_eq!(without.with_program_lines(lines), None);
    }
    // What a program of 48 ranks gets in all: beside messages, and without them.
    let scc = MpbLayout::new(48).unwrap();
    let most = scc.with_spare_to(MPB_LINES - 2 * LEAST_STAGING_LINES).unwrap().spare().len();
    assert_eq!(most, scc.most_spare().len());
    assert_eq!(
        [scc.spare().len(), most, scc.rcce_lines().len() - 1].map(|lines| lines * LINE_BYTES),
        [960, 6080, 8000]
    );
}

#[test]
fn so_many_windows_have_marks_in_mpbs() {
    let fit = |ranks| MpbLayout::new(ranks).unwrap().windows_that_fit();
    assert_eq!([1, 48, 255, 1024].map(fit), [31, 10, 1, 0]);
}

#[test]
fn the_papers_buffers_fit_up_to_992_ranks() {
    assert_eq!(MpbLayout::new(48).unwrap().buffer_lines(), 96);
    assert_eq!([992, 993, 1024].map(|ranks| MpbLayout::new(ranks).unwrap().buffer_lines()), [96, 95, 95]);
    assert_eq!(MpbLayout::new(4096).unwrap().buffer_lines(), 47);
    assert_eq!(MpbLayout::new(4097), Err(Error::TooManyRanks { size: 4097 }));
}

#[test]
fn a_machine_has_all_lines_of_the_plan() {
    assert_eq!(MpbLayout::of_machine(2, MPB_LINES), MpbLayout::new(2));
    let error = MpbLayout::of_machine(2, 128).unwrap_err();
    assert_eq!(error, Error::MpbTooSmall { lines: 128 });
    assert_eq!(
        alloc::string::ToString::to_string(&error),
        "this machine's MPBs have 128 lines; a communicator's plan of them takes 256"
    );
}

fn divided(ranks: usize) -> MpbLayout {
    let all = MpbLayout::new(ranks).unwrap();
    all.with_spare_to(all.spare().end + DIVIDED_LINES).unwrap()
}

#[test]
fn communicators_have_lines_of_their_own_until_there_are_none_left() {
    for ranks in (1..=300).chain([992, 1024, MAX_RANKS]) {
        let all = divided(ranks);
        assert!(all.spare().end <= all.message_lines().start);
        let mut free = all.spare();
        for most in [ranks, ranks.div_ceil(2), 1, 1, 1, 1, 1, 1] {
            let own = Share::fitting(most, free.len()).map(|share| (free.start, share));
            let layout = all.beside(most, own);
            let (staging, buffers) = (layout.buffer(0), all.buffer(0)..all.buffer(1));
            assert!(staging >= buffers.start && layout.buffer(1) + layout.buffer_lines() <= buffers.end);
            match own {
                Some((first, share)) => {
                    assert_eq!(layout.own_lines(), first..first + share.lines(most));
                    assert!(layout.barrier().end == layout.shared().start);
                    assert!(layout.shared().end == layout.cells().start && layout.cells().end <= all.spare().end);
                    let last_cell = layout.cell(layout.turns() - 1, CELLS - 1);
                    assert_eq!(layout.tagged(), layout.shared().start..last_cell + 1);
                    assert!(layout.lent().end <= buffers.end);
                    free.start = layout.own_lines().end;
                }
                None => {
                    assert!(layout.cells().start == buffers.start && layout.cells().end == layout.shared().start);
                    assert!(layout.shared().end <= staging && layout.shared().len() >= 8, "{layout:?}");
                    assert_eq!(layout.tagged(), layout.shared());
                }
            }
            assert_eq!(layout.lent_from(&all), layout);
        }
    }
}

#[test]
fn rows_and_columns_of_the_scc_have_all_that_is_fast() {
    let free = divided(48).spare().len();
    let rows = Share::fitting(6, free).unwrap();
    let columns = Share::fitting(8, free - rows.lines(6)).unwrap();
    assert_eq!((rows, columns), (SHARES[1], SHARES[1]));
}

#[test]
fn duplicates_of_all_ranks_of_the_scc_share_the_spare_lines() {
    let mut free = divided(48).spare().len();
    let shares = core::array::from_fn(|_| {
        let share = Share::fitting(48, free)?;
        free -= share.lines(48);
        Some(share)
    });
    assert_eq!(shares, [Some(SHARES[0]), Some(SHARES[2]), Some(SHARES[3]), None]);
}

#[test]
fn rcce_has_its_payload_up_to_96_ranks() {
    let payload = |ranks| MpbLayout::new(ranks).unwrap().rcce_payload().len();
    assert_eq!([1, 48, 96, 97, 255, 4096].map(payload), [251, 251, 251, 250, 246, 126]);
}

#[test]
fn areas_and_spare_lines_are_all_lines() {
    for ranks in [1, 48, 150, 255, 992, MAX_RANKS] {
        let without = MpbLayout::new(ranks).unwrap();
        for layout in [Some(without), without.with_packets()].into_iter().flatten() {
            let mut areas: Vec<_> = layout.areas().map(|(_, lines)| lines).chain([layout.spare()]).collect();
            areas.sort_by_key(|lines| lines.start);
            // Beside packets a line may be left over.
            let follows = |pair: &[Range<usize>]| (pair[0].end..=pair[0].end + 1).contains(&pair[1].start);
            assert!(areas.windows(2).all(follows), "{ranks} ranks: {areas:?}");
            let (first, last) = (areas[0].start, areas[areas.len() - 1].end);
            assert_eq!((first, last), (0, MPB_LINES), "{ranks} ranks: {areas:?}");
        }
    }
}

#[test]
fn packets_take_lines_from_staging_only_and_give_them_back() {
    for ranks in 1..=MAX_RANKS {
        let without = MpbLayout::new(ranks).unwrap();
        assert_eq!(without.with_packets().is_some(), ranks <= 150, "{ranks} ranks");
        let Some(with) = without.with_packets() else { continue };
        assert_eq!((with.spare(), with.without_packets()), (without.spare(), without));
        assert_eq!(with.doorbell_lines().start, with.spare().end);
        let (last_doorbell, _) = with.doorbell_of(ranks - 1);
        let (last_acknowledgement, _) = with.acknowledgement_of(ranks - 1);
        assert!(last_doorbell < with.acknowledgement_of(0).0 && last_acknowledgement < with.section_of(0));
        assert!(with.section_of(ranks - 1) + with.section_lines() <= with.message_lines().start);
        assert!(with.buffer_lines() >= LEAST_STAGING_LINES);
    }
    let scc = MpbLayout::new(48).unwrap().with_packets().unwrap();
    assert_eq!((scc.section_lines(), scc.buffer_lines()), (3, 22));
}
