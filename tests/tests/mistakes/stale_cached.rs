//! Stale loads of cached memory: what was not written back, and what was not forgotten.

use hal::{Cached, Combined, MpbCoherence, Uncached, sim::SimCore};

use crate::{
    cases,
    machine::{caches, data, me, more, spin, tell, wait},
};

cases! {
    Stale on 2: a_store_is_not_written_back;
    Stale on 2: combined_loads_do_not_see_what_is_cached;
    Stale on 2: words_do_not_see_what_is_cached;
    Stale on 2: the_wrong_region_is_written_back;
    Stale on 2: a_region_is_too_short;
    Stale on 2: a_write_back_comes_too_early;
    Stale on 3: what_is_passed_on_is_not_written_back;
    Stale on 2: a_copied_array_is_not_written_back;
    Stale on 2: the_cache_has_it_from_before;
    Stale on 2: the_cache_has_the_neighbour_from_before;
    Stale on 2: the_cache_has_what_was_put_since;
    Stale on 2: the_cache_has_what_was_a_word_since;
    Stale on 2: a_slice_is_from_before;
    Stale on 2: one_of_two_buffers_is_forgotten;
    Stale on 2: an_invalidation_of_l1_is_none_of_the_cache;
}

fn a_store_is_not_written_back(core: &SimCore, wrong: bool) {
    let mut caches = caches(core);
    let mut view = core.claim::<u32>(data(), 32).unwrap();
    if me(core) == 0 {
        view.store(3, 5); // MISTAKE
        if !wrong {
            core.write_back_invalidate(&mut caches, data());
        }
        tell(core, 0);
    } else {
        wait(core, 0);
        view.load(3);
    }
}

fn combined_loads_do_not_see_what_is_cached(core: &SimCore, wrong: bool) {
    if me(core) == 0 {
        let mut view = core.claim::<u32>(data(), 32).unwrap();
        view.store(3, 5); // MISTAKE
        if !wrong {
            core.write_back_invalidate(&mut caches(core), data());
        }
        tell(core, 0);
    } else {
        wait(core, 0);
        core.read(data(), 12, &mut [0; 4]);
    }
}

fn words_do_not_see_what_is_cached(core: &SimCore, wrong: bool) {
    if me(core) == 0 {
        let mut view = core.claim::<u32>(data(), 32).unwrap();
        view.store(3, 5); // MISTAKE
        if !wrong {
            core.write_back_invalidate_all(&mut caches(core));
        }
        tell(core, 0);
    } else {
        wait(core, 0);
        core.load_word(data(), 3);
    }
}

fn the_wrong_region_is_written_back(core: &SimCore, wrong: bool) {
    let mut caches = caches(core);
    let mut view = core.claim::<u32>(data(), 32).unwrap();
    if me(core) == 0 {
        view.store(3, 5); // MISTAKE
        core.write_back_invalidate(&mut caches, if wrong { more() } else { data() });
        tell(core, 0);
    } else {
        wait(core, 0);
        view.load(3);
    }
}

fn a_region_is_too_short(core: &SimCore, wrong: bool) {
    let mut caches = caches(core);
    let mut view = core.claim::<u32>(data(), 32).unwrap();
    if me(core) == 0 {
        view.store(7, 4);
        view.store(8, 5); // MISTAKE
        let words = if wrong { 8 } else { 9 };
        core.write_back_invalidate(&mut caches, data().lines_around(0, words * 4));
        tell(core, 0);
    } else {
        wait(core, 0);
        view.copy_to(7, &mut [0; 2]);
    }
}

fn a_write_back_comes_too_early(core: &SimCore, wrong: bool) {
    let mut caches = caches(core);
    let mut view = core.claim::<u32>(data(), 32).unwrap();
    if me(core) == 0 {
        view.store(0, 4);
        core.write_back_invalidate(&mut caches, data());
        view.store(1, 5); // MISTAKE
        if !wrong {
            core.write_back_invalidate(&mut caches, data());
        }
        tell(core, 0);
    } else {
        wait(core, 0);
        view.copy_to(0, &mut [0; 2]);
    }
}

fn what_is_passed_on_is_not_written_back(core: &SimCore, wrong: bool) {
    let mut caches = caches(core);
    let mut view = core.claim::<u32>(data(), 32).unwrap();
    match me(core) {
        0 => {
            view.store(3, 5); // MISTAKE
            if !wrong {
                core.write_back_invalidate(&mut caches, data());
            }
            tell(core, 0);
        }
        1 => {
            wait(core, 0);
            tell(core, 1);
        }
        _ => {
            wait(core, 1);
            view.load(3);
        }
    }
}

fn a_copied_array_is_not_written_back(core: &SimCore, wrong: bool) {
    let mut caches = caches(core);
    let mut view = core.claim::<u64>(data(), 16).unwrap();
    if me(core) == 0 {
        view.copy_from(2, &[5; 10]); // MISTAKE
        if !wrong {
            core.write_back_invalidate(&mut caches, data());
        }
        tell(core, 0);
    } else {
        wait(core, 0);
        view.copy_to(2, &mut [0; 10]);
    }
}

fn the_cache_has_it_from_before(core: &SimCore, wrong: bool) {
    let mut caches = caches(core);
    let mut view = core.claim::<u32>(data(), 32).unwrap();
    if me(core) == 0 {
        for round in [0, 2] {
            view.store(3, 4);
            core.write_back_invalidate(&mut caches, data());
            tell(core, round);
            wait(core, round + 1);
        }
        return;
    }
    for round in [0, 2] {
        wait(core, round);
        if !wrong {
            core.write_back_invalidate(&mut caches, data());
        }
        view.load(3); // MISTAKE
        tell(core, round + 1);
    }
}

fn the_cache_has_the_neighbour_from_before(core: &SimCore, wrong: bool) {
    let mut caches = caches(core);
    let mut view = core.claim::<u32>(data(), 32).unwrap();
    if me(core) == 0 {
        view.store(3, 4);
        core.write_back_invalidate(&mut caches, data());
        tell(core, 0);
        wait(core, 1);
        view.store(4, 5);
        core.write_back_invalidate(&mut caches, data());
        tell(core, 2);
        return;
    }
    wait(core, 0);
    view.load(3);
    tell(core, 1);
    wait(core, 2);
    if !wrong {
        core.write_back_invalidate(&mut caches, data());
    }
    view.load(4); // MISTAKE
}

/// A part of a window is put to past the caches of its owner.
fn the_cache_has_what_was_put_since(core: &SimCore, wrong: bool) {
    if me(core) == 0 {
        wait(core, 0);
        core.write(data(), 0, &[5; 8]);
        core.drain();
        tell(core, 1);
        return;
    }
    let mut caches = caches(core);
    let mut view = core.claim::<u32>(data(), 32).unwrap();
    view.store(0, 4);
    core.write_back_invalidate(&mut caches, data());
    view.load(0);
    tell(core, 0);
    wait(core, 1);
    if !wrong {
        core.write_back_invalidate(&mut caches, data());
    }
    view.load(0); // MISTAKE
}

fn the_cache_has_what_was_a_word_since(core: &SimCore, wrong: bool) {
    if me(core) == 0 {
        core.store_word(data(), 0, 4);
        tell(core, 0);
        wait(core, 1);
        core.store_word(data(), 0, 5);
        tell(core, 2);
        return;
    }
    let view = core.claim::<u32>(data(), 32).unwrap();
    wait(core, 0);
    view.load(0);
    tell(core, 1);
    wait(core, 2);
    if !wrong {
        core.write_back_invalidate(&mut caches(core), data());
    }
    view.load(0); // MISTAKE
}

fn a_slice_is_from_before(core: &SimCore, wrong: bool) {
    let mut caches = caches(core);
    let mut view = core.claim::<u32>(data(), 8).unwrap();
    if me(core) == 0 {
        for round in [0, 2] {
            view.copy_from(0, &[4; 8]);
            core.write_back_invalidate(&mut caches, data());
            tell(core, round);
            wait(core, round + 1);
        }
        return;
    }
    for round in [0, 2] {
        wait(core, round);
        if !wrong {
            core.write_back_invalidate(&mut caches, data());
        }
        // SAFETY: nobody stores to it before the next flag.
        let _ = unsafe { view.as_slice(&caches) }; // MISTAKE
        tell(core, round + 1);
    }
}

/// Two buffers take turns, and the rank that computes forgets only the first.
fn one_of_two_buffers_is_forgotten(core: &SimCore, wrong: bool) {
    let mut caches = caches(core);
    let mut buffers = [data(), more()].map(|region| core.claim::<u32>(region, 32).unwrap());
    for step in 0..4 {
        let region = buffers[step % 2].region();
        if me(core) == 0 {
            buffers[step % 2].store(0, step as u32);
            core.write_back_invalidate(&mut caches, region);
            tell(core, step);
            wait(core, step + 4);
        } else {
            wait(core, step);
            if step % 2 == 0 || !wrong {
                core.write_back_invalidate(&mut caches, region);
            }
            buffers[step % 2].load(0); // MISTAKE
            tell(core, step + 4);
        }
    }
}

fn an_invalidation_of_l1_is_none_of_the_cache(core: &SimCore, wrong: bool) {
    let mut caches = caches(core);
    let mut view = core.claim::<u32>(data(), 32).unwrap();
    if me(core) == 0 {
        for round in [0, 2] {
            view.store(3, 4);
            core.write_back_invalidate(&mut caches, data());
            tell(core, round);
            spin(core, round + 1);
        }
        return;
    }
    for round in [0, 2] {
        spin(core, round);
        if wrong {
            core.invalidate_mpb();
        } else {
            core.write_back_invalidate(&mut caches, data());
        }
        view.load(3); // MISTAKE
        tell(core, round + 1);
    }
}
