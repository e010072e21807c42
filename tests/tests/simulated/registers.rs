//! What registers are for, exhaustively.

use std::collections::BTreeSet;

use hal::{
    CoreId, LINE_BYTES, SharedAddress, TestAndSet, Topology, Uncached, kind,
    sim::{Machine, Spontaneous, explore_exhaustively},
};

/// SCOSCo's Algorithm 2 resets the match-vector bit without the register. In some order of operations that erases the
/// post of another target in the same word; with the register it never does.
#[test]
fn the_reset_needs_the_register() {
    let word = regions::of_a_test().region::<kind::Uncached>(SharedAddress::new(0, 0), LINE_BYTES);
    let (consumed, posted) = (0b01, 0b10);
    let finals = |reset_locks: bool| {
        let mut finals = BTreeSet::new();
        let exploration = explore_exhaustively(
            &Machine::scc(2),
            Spontaneous::default(),
            1_000_000,
            |core| {
                let locked = |change: &dyn Fn(u32) -> u32| {
                    let _guard = core.lock(CoreId::new(0), "the match vector");
                    core.store_word(word, 0, change(core.load_word(word, 0)));
                };
                match (core.core().index(), reset_locks) {
                    (0, true) => locked(&|posts| posts & !consumed),
                    (0, false) => core.store_word(word, 0, core.load_word(word, 0) & !consumed),
                    _ => locked(&|posts| posts | posted),
                }
                // The last one to come here sees the result.
                core.load_word(word, 0)
            },
            |outcome| {
                let results = outcome.expect("two cores and one register cannot deadlock").results();
                finals.insert(results.iter().any(|posts| posts & posted != 0 && posts & consumed == 0));
            },
        );
        assert!(exploration.complete);
        finals
    };
    assert!(!finals(true).contains(&false), "a post got lost under the register");
    assert!(finals(false).contains(&false), "the reset without the register erases no post");
}
