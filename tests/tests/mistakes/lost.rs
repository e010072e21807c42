//! Bytes that a write-back of a whole line, or one that comes late, puts old values over.

use hal::{Cached, Clock, Combined, MpbCoherence, MpbCopy, Uncached, sim::SimCore};

use crate::{
    cases,
    machine::{LATE, caches, data, me, mpb, tell, wait},
};

cases! {
    Lost on 2: two_ranks_in_one_cached_line;
    Lost on 3: a_table_with_an_element_for_each_rank;
    Lost on 2: a_put_beside_what_is_cached;
    Lost on 2: a_flag_beside_what_is_cached;
    Lost on 2: a_changed_line_is_kept_across_a_hand_over;
    Lost on 2: a_combined_store_is_kept_across_a_hand_over;
    Lost on 2: an_mpb_store_is_kept_across_a_hand_over;
    Lost on 2: a_line_is_stored_to_that_was_cached_before;
    Lost on 2: what_is_put_later_meets_a_late_write_back;
}

/// Words from one rank's to the next one's, so that they are in one line or not.
fn stride(wrong: bool) -> usize {
    if wrong { 1 } else { 8 }
}

fn two_ranks_in_one_cached_line(core: &SimCore, wrong: bool) {
    let mut view = core.claim::<u32>(data(), 32).unwrap();
    view.store(me(core) * stride(wrong), 5); // MISTAKE
    core.write_back_invalidate(&mut caches(core), data());
}

/// The ranks come one after the other by chance, and all seems well.
fn a_table_with_an_element_for_each_rank(core: &SimCore, wrong: bool) {
    core.compute(LATE * me(core) as u64);
    let mut view = core.claim::<u32>(data(), 32).unwrap();
    view.store(me(core) * stride(wrong), 5); // MISTAKE
    core.write_back_invalidate(&mut caches(core), data());
}

fn a_put_beside_what_is_cached(core: &SimCore, wrong: bool) {
    if me(core) == 0 {
        let mut view = core.claim::<u32>(data(), 32).unwrap();
        view.store(0, 5); // MISTAKE
        core.compute(LATE);
        core.write_back_invalidate(&mut caches(core), data());
    } else {
        core.write(data(), stride(wrong) * 4, &[6; 4]);
        core.drain();
    }
}

/// A flag in the line of its data.
fn a_flag_beside_what_is_cached(core: &SimCore, wrong: bool) {
    if me(core) == 0 {
        let mut view = core.claim::<u32>(data(), 32).unwrap();
        view.store(0, 5); // MISTAKE
        core.compute(LATE);
        core.write_back_invalidate(&mut caches(core), data());
    } else {
        core.store_word(data(), stride(wrong), 1);
    }
}

fn a_changed_line_is_kept_across_a_hand_over(core: &SimCore, wrong: bool) {
    if me(core) == 0 {
        let mut caches = caches(core);
        let mut view = core.claim::<u32>(data(), 32).unwrap();
        view.store(0, 5); // MISTAKE
        if !wrong {
            core.write_back_invalidate(&mut caches, data());
        }
        tell(core, 0);
        wait(core, 1);
        core.write_back_invalidate(&mut caches, data());
    } else {
        wait(core, 0);
        core.write(data(), 0, &[6; 4]);
        core.drain();
        tell(core, 1);
    }
}

fn a_combined_store_is_kept_across_a_hand_over(core: &SimCore, wrong: bool) {
    if me(core) == 0 {
        core.write(data(), 0, &[5; 4]); // MISTAKE
        if !wrong {
            core.drain();
        }
        tell(core, 0);
        wait(core, 1);
        core.drain();
    } else {
        wait(core, 0);
        core.write(data(), 0, &[6; 4]);
        core.drain();
        tell(core, 1);
    }
}

fn an_mpb_store_is_kept_across_a_hand_over(core: &SimCore, wrong: bool) {
    if me(core) == 0 {
        core.put(&[5; 40], mpb(1, 8)); // MISTAKE
        if !wrong {
            core.drain();
        }
        tell(core, 0);
        core.compute(LATE);
        core.drain();
    } else {
        wait(core, 0);
        core.put(&[6; 64], mpb(1, 8));
    }
}

/// The line came into the cache before the other rank's part of it was written.
fn a_line_is_stored_to_that_was_cached_before(core: &SimCore, wrong: bool) {
    let mut caches = caches(core);
    let mut view = core.claim::<u32>(data(), 32).unwrap();
    if me(core) == 0 {
        view.store(0, 4);
        core.write_back_invalidate(&mut caches, data());
        view.load(0);
        tell(core, 0);
        wait(core, 1);
        if !wrong {
            core.write_back_invalidate(&mut caches, data());
        }
        view.store(0, 5); // MISTAKE
        core.write_back_invalidate(&mut caches, data());
    } else {
        wait(core, 0);
        view.store(1, 6);
        core.write_back_invalidate(&mut caches, data());
        tell(core, 1);
    }
}

/// The write-back came first this time.
fn what_is_put_later_meets_a_late_write_back(core: &SimCore, wrong: bool) {
    if me(core) == 0 {
        let mut view = core.claim::<u32>(data(), 32).unwrap();
        view.store(0, 5); // MISTAKE
        core.write_back_invalidate(&mut caches(core), data());
        tell(core, 0);
    } else {
        core.compute(LATE);
        if !wrong {
            wait(core, 0);
        }
        core.write(data(), 4, &[6; 4]);
        core.drain();
    }
}
