//! Drains, invalidations, flushes and purges that change nothing, which the checker names if it is asked to, and others that do,
//! which it does not. None of it is a mistake.

use std::{fs, path::Path};

use hal::{
    Cached, Caches, Combined, Mpb, MpbCoherence, MpbCopy,
    kit::Upkeep,
    sim::{AskedFor, Machine, Options, SimCore},
};

use crate::{
    machine::{caches, data, me, more, mpb, spin, tell, wait},
    marked_line,
};

type Case = (&'static str, Upkeep, fn(&SimCore, bool));

/// The name of the function, what is wasted if it is asked to be, and the function; the line is marked by `WASTED`.
macro_rules! cases {
    ($($upkeep:ident: $run:ident;)*) => {
        const CASES: &[Case] = &[$((stringify!($run), Upkeep::$upkeep, $run)),*];
    };
}

cases! {
    Drain: nothing_was_stored;
    Drain: it_is_drained_twice;
    Drain: whole_lines_are_drained;
    Drain: a_flag_has_drained;
    Invalidation: nothing_was_loaded;
    Invalidation: nobody_has_stored;
    Invalidation: a_wait_invalidates_as_well;
    Invalidation: another_one_comes_later;
    Invalidation: nothing_is_loaded_afterwards;
    Flush: nothing_was_cached;
    Flush: it_is_flushed_twice;
    Flush: it_was_evicted;
    Flush: nobody_else_has_stored;
    Flush: another_region_is_flushed;
    Purge: all_is_clean_and_current;
    Purge: regions_are_flushed_before_all;
}

fn nothing_was_stored(core: &SimCore, wrong: bool) {
    if !wrong {
        core.put(&[1; 8], mpb(me(core), 8));
    }
    core.drain(); // WASTED
    tell(core, me(core));
}

fn it_is_drained_twice(core: &SimCore, wrong: bool) {
    core.put(&[1; 8], mpb(me(core), 8));
    core.drain();
    if wrong {
        core.drain(); // WASTED
    }
    tell(core, me(core));
}

/// They leave the write-combine buffer by themselves.
fn whole_lines_are_drained(core: &SimCore, wrong: bool) {
    let len = if wrong { 64 } else { 40 };
    core.put(&vec![1; len], mpb(me(core), 8));
    core.drain(); // WASTED
    tell(core, me(core));
}

fn a_flag_has_drained(core: &SimCore, wrong: bool) {
    core.put(&[1; 8], mpb(me(core), 8));
    if wrong {
        core.set_flag(mpb(me(core), 9), 0, 1);
    }
    core.drain(); // WASTED
    tell(core, me(core));
}

/// Core 0 copies a line that core 1 has stored to, and once more when core 1 may have done so again.
fn copied_twice(core: &SimCore, stores_again: bool, before_first: impl Fn(), before_second: impl Fn()) {
    if me(core) == 1 {
        core.put(&[4; 32], mpb(0, 8));
        tell(core, 0);
        spin(core, 1);
        if stores_again {
            core.put(&[5; 32], mpb(0, 8));
        }
        tell(core, 2);
    } else {
        spin(core, 0);
        before_first();
        core.get(mpb(0, 8), &mut [0; 32]);
        tell(core, 1);
        spin(core, 2);
        before_second();
        core.get(mpb(0, 8), &mut [0; 32]);
    }
}

fn nothing_was_loaded(core: &SimCore, wrong: bool) {
    let before_first = || {
        if wrong {
            core.invalidate_mpb(); // WASTED
        }
    };
    copied_twice(core, true, before_first, || core.invalidate_mpb());
}

fn nobody_has_stored(core: &SimCore, wrong: bool) {
    let before_second = || {
        core.invalidate_mpb(); // WASTED
    };
    copied_twice(core, !wrong, || (), before_second);
}

fn a_wait_invalidates_as_well(core: &SimCore, wrong: bool) {
    let before_second = || {
        core.invalidate_mpb(); // WASTED
        if wrong {
            wait(core, 2);
        }
    };
    copied_twice(core, true, || (), before_second);
}

fn another_one_comes_later(core: &SimCore, wrong: bool) {
    let before_second = || {
        core.invalidate_mpb(); // WASTED
        if wrong {
            core.invalidate_mpb();
        }
    };
    copied_twice(core, true, || (), before_second);
}

fn nothing_is_loaded_afterwards(core: &SimCore, wrong: bool) {
    copied_twice(core, true, || (), || core.invalidate_mpb());
    if wrong {
        core.invalidate_mpb(); // WASTED
    }
    tell(core, 3 + me(core));
}

fn nothing_was_cached(core: &SimCore, wrong: bool) {
    let mut caches = caches(core);
    let mut view = core.claim::<u32>(if me(core) == 0 { data() } else { more() }, 32).unwrap();
    if !wrong {
        view.store(0, 1);
    }
    core.write_back_invalidate(&mut caches, view.region()); // WASTED
    tell(core, me(core));
}

fn it_is_flushed_twice(core: &SimCore, wrong: bool) {
    let mut caches = caches(core);
    let mut view = core.claim::<u32>(if me(core) == 0 { data() } else { more() }, 32).unwrap();
    view.store(0, 1);
    core.write_back_invalidate(&mut caches, view.region());
    if wrong {
        core.write_back_invalidate(&mut caches, view.region()); // WASTED
    }
    tell(core, me(core));
}

/// What was evicted before would have been written back.
fn it_was_evicted(core: &SimCore, wrong: bool) {
    let mut caches = caches(core);
    let mut view = core.claim::<u32>(if me(core) == 0 { data() } else { more() }, 32).unwrap();
    view.store(0, 1);
    core.provoke_eviction();
    core.write_back_invalidate(&mut caches, view.region());
    if wrong {
        core.write_back_invalidate(&mut caches, view.region()); // WASTED
    }
    tell(core, me(core));
}

/// Core 0 loads cached memory that core 1 has stored to, and once more when core 1 may have done so again.
fn loaded_twice(core: &SimCore, stores_again: bool, before_second: impl Fn(&mut Caches)) {
    let mut caches = caches(core);
    if me(core) == 1 {
        core.write(data(), 0, &[4; 32]);
        tell(core, 0);
        spin(core, 1);
        if stores_again {
            core.write(data(), 0, &[5; 32]);
        }
        tell(core, 2);
    } else {
        let view = core.claim::<u32>(data(), 8).unwrap();
        spin(core, 0);
        view.load(3);
        tell(core, 1);
        spin(core, 2);
        before_second(&mut caches);
        view.load(3);
    }
}

fn nobody_else_has_stored(core: &SimCore, wrong: bool) {
    let before_second = |caches: &mut Caches| {
        core.write_back_invalidate(caches, data()); // WASTED
    };
    loaded_twice(core, !wrong, before_second);
}

fn another_region_is_flushed(core: &SimCore, wrong: bool) {
    let before_second = |caches: &mut Caches| {
        core.write_back_invalidate(caches, data());
        if wrong {
            core.write_back_invalidate(caches, more()); // WASTED
        }
    };
    loaded_twice(core, true, before_second);
}

fn all_is_clean_and_current(core: &SimCore, wrong: bool) {
    let before_second = |caches: &mut Caches| {
        core.write_back_invalidate_all(caches); // WASTED
    };
    loaded_twice(core, !wrong, before_second);
}

fn regions_are_flushed_before_all(core: &SimCore, wrong: bool) {
    let mut caches = caches(core);
    let mut view = core.claim::<u32>(if me(core) == 0 { data() } else { more() }, 32).unwrap();
    view.store(0, 1);
    if wrong {
        core.write_back_invalidate(&mut caches, view.region());
    }
    core.write_back_invalidate_all(&mut caches); // WASTED
    tell(core, me(core));
}

fn asked_for(run: fn(&SimCore, bool), wrong: bool) -> Vec<AskedFor> {
    let options = Options { lint: true, ..Options::default() };
    let checked = Machine::scc(2).with_options(options).check(|core, _| run(core, wrong));
    assert!(checked.result.is_ok() && checked.findings.is_empty(), "{:?}", checked.findings);
    checked.asked_for.into_iter().filter(|asked| !asked.has_changed).collect()
}

#[test]
fn what_is_wasted_is_named() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file!());
    let source = fs::read_to_string(source).expect("the sources are there");
    for (name, upkeep, run) in CASES {
        assert_eq!(asked_for(*run, false), [], "{name}");
        let wasted = asked_for(*run, true);
        let found = wasted.iter().map(|asked| {
            let frame = asked.frames.iter().find(|frame| frame.file.ends_with(file!())).expect("it is of a case");
            (asked.upkeep, frame.line)
        });
        let mut found: Vec<_> = found.collect();
        found.dedup();
        assert_eq!(found, [(*upkeep, marked_line(&source, name, "// WASTED"))], "{name}");
        // The simulator has no price for a drain that has nothing to do.
        let has_price = |asked: &AskedFor| asked.times > 0 && (asked.time_ps > 0) == (*upkeep != Upkeep::Drain);
        assert!(wasted.iter().all(has_price), "{name}: {wasted:?}");
    }
}

#[test]
fn nothing_is_noted_if_nobody_asks() {
    let checked = Machine::scc(2).check(|core, _| nothing_was_stored(core, true));
    assert_eq!(checked.asked_for, []);
}
