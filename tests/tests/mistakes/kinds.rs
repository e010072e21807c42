//! One core that reaches the same bytes by two mappings.

use hal::{Cached, Combined, MpbCoherence, Uncached, sim::SimCore};

use crate::{
    cases,
    machine::{caches, data},
};

cases! {
    MixedKinds on 1: what_is_cached_is_read_past_the_cache;
    MixedKinds on 1: what_is_cached_is_loaded_as_a_word;
    MixedKinds on 1: what_is_written_past_the_cache_is_loaded_from_it;
    MixedKinds on 1: what_is_not_drained_is_loaded_from_the_cache;
    MixedKinds on 1: what_is_not_drained_is_loaded_as_a_word;
    MixedKinds on 1: a_word_is_read_that_l1_has;
    MixedKinds on 1: a_word_is_loaded_that_the_cache_has;
    MixedKinds on 1: a_write_back_overwrites_the_own_write;
    MixedKinds on 1: a_cached_array_is_copied_past_the_cache;
}

fn what_is_cached_is_read_past_the_cache(core: &SimCore, wrong: bool) {
    let mut view = core.claim::<u32>(data(), 32).unwrap();
    view.store(1, 5); // MISTAKE
    if !wrong {
        core.write_back_invalidate(&mut caches(core), data());
    }
    core.read(data(), 4, &mut [0; 4]);
}

fn what_is_cached_is_loaded_as_a_word(core: &SimCore, wrong: bool) {
    let mut view = core.claim::<u32>(data(), 32).unwrap();
    view.store(1, 5); // MISTAKE
    if !wrong {
        core.write_back_invalidate(&mut caches(core), data());
    }
    core.load_word(data(), 1);
}

fn what_is_written_past_the_cache_is_loaded_from_it(core: &SimCore, wrong: bool) {
    let mut caches = caches(core);
    let mut view = core.claim::<u32>(data(), 32).unwrap();
    view.store(0, 4);
    core.write_back_invalidate(&mut caches, data());
    view.load(0);
    core.write(data(), 0, &[5; 4]);
    core.drain();
    if !wrong {
        core.write_back_invalidate(&mut caches, data());
    }
    view.load(0); // MISTAKE
}

fn what_is_not_drained_is_loaded_from_the_cache(core: &SimCore, wrong: bool) {
    let view = core.claim::<u32>(data(), 32).unwrap();
    core.write(data(), 0, &[5; 4]); // MISTAKE
    if !wrong {
        core.drain();
    }
    view.load(0);
}

fn what_is_not_drained_is_loaded_as_a_word(core: &SimCore, wrong: bool) {
    core.write(data(), 0, &[5; 4]); // MISTAKE
    if !wrong {
        core.drain();
    }
    core.load_word(data(), 0);
}

fn a_word_is_read_that_l1_has(core: &SimCore, wrong: bool) {
    core.store_word(data(), 0, 4);
    core.read(data(), 0, &mut [0; 4]);
    core.store_word(data(), 0, 5);
    if !wrong {
        core.invalidate_mpb();
    }
    core.read(data(), 0, &mut [0; 4]); // MISTAKE
}

fn a_word_is_loaded_that_the_cache_has(core: &SimCore, wrong: bool) {
    let view = core.claim::<u32>(data(), 32).unwrap();
    core.store_word(data(), 0, 4);
    view.load(0);
    core.store_word(data(), 0, 5);
    if !wrong {
        core.write_back_invalidate(&mut caches(core), data());
    }
    view.load(0); // MISTAKE
}

fn a_write_back_overwrites_the_own_write(core: &SimCore, wrong: bool) {
    let mut caches = caches(core);
    let mut view = core.claim::<u32>(data(), 32).unwrap();
    view.store(0, 4); // MISTAKE
    if !wrong {
        core.write_back_invalidate(&mut caches, data());
    }
    core.write(data(), 4, &[5; 4]);
    core.drain();
    core.write_back_invalidate(&mut caches, data());
}

fn a_cached_array_is_copied_past_the_cache(core: &SimCore, wrong: bool) {
    let mut view = core.claim::<u64>(data(), 16).unwrap();
    view.copy_from(0, &[5; 8]); // MISTAKE
    if !wrong {
        core.write_back_invalidate(&mut caches(core), data());
    }
    core.copy(data(), 0, data(), 64, 64);
}
