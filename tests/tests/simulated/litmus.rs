//! Litmus tests, exhaustively: every order of operations, every spontaneous drain and eviction.

use std::collections::BTreeSet;

use hal::{
    Cached, CoreId, LINE_BYTES, MpbLine, SharedAddress, Topology,
    sim::{Machine, Spontaneous, explore_exhaustively},
};
use tests::litmus::{CARES, Care, MEMORIES, MESSAGE_PASSING, Memory, SHAPES, Shape, Variables};

fn outcomes(shape: &Shape, memory: Memory, care: Care, spontaneous: Spontaneous) -> BTreeSet<Vec<u32>> {
    let machine = Machine::scc(shape.cores.len());
    let lines = [MpbLine::new(CoreId::new(0), 10), MpbLine::new(CoreId::new(shape.cores.len() - 1), 11)];
    let shared = regions::of_a_test().region(SharedAddress::new(0, 0), 2 * LINE_BYTES);
    let mut seen = BTreeSet::new();
    let exploration = explore_exhaustively(
        &machine,
        spontaneous,
        3_000_000,
        |core| {
            let mut caches = core.take_caches().expect("it is asked for once");
            let mut variables = Variables::at(core, memory, lines, shared).expect("there are no other views");
            variables.execute(core, &mut caches, shape.cores[core.core().index()], care, || {})
        },
        |outcome| {
            let outcome = outcome.expect("a litmus test comes to its end");
            seen.insert(outcome.results().concat());
        },
    );
    assert!(exploration.complete, "{} in {memory:?} memory, {care:?}: too many runs", shape.name);
    seen
}

#[test]
fn each_kind_of_memory_allows_what_the_table_says() {
    for shape in SHAPES {
        for memory in MEMORIES {
            for care in CARES {
                let evictions = memory == Memory::Cached;
                let spontaneous = Spontaneous { drains: true, evictions, ..Spontaneous::default() };
                let seen = outcomes(shape, memory, care, spontaneous);
                let allowed = all(shape.loads()).filter(|outcome| shape.allows(memory, care, outcome)).collect();
                assert_eq!(seen, allowed, "{} in {memory:?} memory, {care:?}", shape.name);
            }
        }
    }
}

/// Whether a store to a line that is not cached stays private or goes to memory at once is for no program to rely on:
/// the simulator does both.
#[test]
fn a_store_miss_goes_either_way() {
    let spontaneous = Spontaneous { stores_through: true, ..Spontaneous::default() };
    for shape in SHAPES {
        let seen = outcomes(shape, Memory::Cached, Care::NoPublish, spontaneous);
        assert!(seen.iter().all(|outcome| shape.allows(Memory::Cached, Care::NoPublish, outcome)), "{seen:?}");
    }
    let seen = outcomes(&MESSAGE_PASSING, Memory::Cached, Care::NoPublish, spontaneous);
    assert!(seen.contains(&vec![0, 0]) && seen.contains(&vec![1, 1]), "{seen:?}");
}

/// All outcomes of `loads` loads of 0 or 1.
fn all(loads: usize) -> impl Iterator<Item = Vec<u32>> {
    (0..1u32 << loads).map(move |bits| (0..loads).map(|load| bits >> load & 1).collect())
}
