use super::*;
use crate::testing::{refused, run};

#[test]
fn every_mode_is_measured_as_often_as_it_counts() {
    for cores in [1, 2, 5] {
        let modes = "modes=separated,together,back-to-back,skewed";
        let printed = run::<Bcast>(&format!("cores={cores} algorithm=oc-k2 sizes=0,1,3104 repetitions=3 {modes}"));
        for bytes in [0, 1, 3104] {
            let len = |metric| printed.at("oc-k2", metric, (0, bytes)).len();
            assert_eq!(["latency", "latency.data", "throughput", "latency.together", "skewed"].map(len), [3; 5]);
            assert_eq!(["back-to-back", "mpb_lines_read"].map(len), [1; 2]);
            assert_eq!(len("latency.back-to-back"), 3);
        }
    }
}

#[test]
fn latency_is_from_the_roots_call_to_the_last_return() {
    let printed = run::<Bcast>("cores=2 machine=scc+ideal algorithm=oc-k2 sizes=32 modes=separated,together");
    let of = |metric| printed.at("oc-k2", metric, (0, 32));
    // Put from memory, a flag until it can be seen, get into the own MPB, a flag, and get from there; a poll may have
    // missed the first flag by a moment.
    let least = (190 + 218 + 136) + (69 + 136 + 131) + (330 + 272) + (69 + 272) + (95 + 136 + 471);
    let latencies = of("latency");
    assert!(latencies.iter().all(|latency| (least - 1..least + 140).contains(latency)), "{latencies:?}, not {least}");
    assert!(latencies.iter().any(|latency| *latency != latencies[0]), "polls are in step: {latencies:?}");
    assert_eq!(of("latency.data"), latencies);
    let together = of("latency.together");
    let (fewest, most) = (together.iter().min().unwrap(), together.iter().max().unwrap());
    assert!(most - fewest <= 4 && (least - 1..least + 140).contains(fewest), "{together:?}, not {least}");
}

#[test]
fn sequences_overlap_and_in_them_a_root_may_be_ahead() {
    let printed = run::<Bcast>("cores=8 machine=scc+ideal algorithm=oc-k7 sizes=3072");
    let of = |metric| printed.at("oc-k7", metric, (0, 3072));
    let (alone, period, in_sequence) = (of("latency"), of("back-to-back"), of("latency.back-to-back"));
    assert!(period[0] < alone[0], "{period:?} of {alone:?}");
    assert!(alone.iter().max() < in_sequence.iter().max(), "{alone:?}, {in_sequence:?}");
    // Every rank but the root moves each line twice into an MPB or out of it to memory.
    assert_eq!(of("mpb_lines_read"), [7 * 2 * 96]);
}

#[test]
fn the_boards_clock_costs_three_accesses() {
    let of = |words: &str, metric: &str| {
        let printed =
            run::<Bcast>(&format!("cores=2 machine=scc+ideal algorithm=oc-k2 sizes=32 modes=separated {words}"));
        printed.at("oc-k2", metric, (0, 32))
    };
    let (core, board) = (of("clock=core", "latency"), of("clock=board", "latency.board"));
    assert_eq!((core.len(), board.len()), (5, 5));
    // Rank 0 and 1 are on one tile; an access takes 1210 ns and 10 for each router on the way.
    let layout = hal::Layout::scc();
    let routers = layout.tile(hal::CoreId::new(0)).routers_to(layout.board_tile());
    let least = 3 * (1210 + 10 * u64::from(routers));
    // A poll makes a difference of one read.
    let added = board.iter().max().unwrap() - core.iter().min().unwrap();
    assert!((least - 140..least + 280).contains(&added), "{board:?} - {core:?}: {added}, not {least}");
    assert!(of("clock=board", "latency").is_empty(), "times of both clocks would be pooled");
}

#[test]
fn baselines_have_rcces_payload() {
    let of = |words: &str| {
        let words = format!("cores=4 machine=scc+ideal algorithm=binomial sizes=8032 modes=together {words}");
        run::<Bcast>(&words).at("binomial", "latency.together", (0, 8032))[0]
    };
    assert!(of("profile") < of(""), "251 lines are one chunk");
}

#[test]
fn roots_are_found_by_where_they_are() {
    let words = "cores=48 algorithm=oc-k7 sizes=1 modes=separated repetitions=1 roots=corner,middle,opposite,0";
    let latencies = run::<Bcast>(words).samples("oc-k7", "latency");
    assert!(latencies.keys().eq(&[(0, 1), (16, 1), (46, 1)]) && latencies.values().all(|of| of.len() == 1));
}

#[test]
fn skews_are_drawn_from_the_seed() {
    let of = |seed: u64| {
        let printed =
            run::<Bcast>(&format!("cores=6 machine=scc+ideal algorithm=oc-k2 sizes=64 modes=skewed seed={seed}"));
        printed.at("oc-k2", "skewed", (0, 64))
    };
    assert!(of(1) == of(1) && of(1) != of(2));
}

#[test]
fn what_cannot_be_measured_is_said_once() {
    refused::<Bcast>(&[
        ("cores=3 algorithm=other", "option `algorithm=other`: no such broadcast"),
        ("cores=3 sizes=long,x", "option `sizes=long,x`: no such length; there are short, lines, long"),
        ("cores=3 roots=3", "rank 3"),
        ("cores=3 roots=top", "option `roots=top`: no such root; there are corner"),
        ("cores=3 clock=sundial", "option `clock=sundial`: no such clock; there are core and board"),
        ("cores=3 clock=board machine=cluster-fpga:2x2", "`clock=board`: this machine has no board"),
        ("cores=3 modes=fast", "option `modes=fast`: no such mode; there are separated, together"),
        ("cores=3 repetitions=0", "`repetitions=0`: there is nothing to measure"),
    ]);
}

#[test]
fn the_model_has_the_papers_table() {
    let printed = run::<Model>("cores=48 sizes=1,147456");
    let peak = |algorithm| printed.at(algorithm, "throughput.peak", (0, 0))[0];
    for (algorithm, published) in [("model-oc-k2", 35_220), ("model-oc-k7", 34_300), ("model-oc-k47", 35_880)] {
        let modelled = peak(algorithm);
        assert!(modelled.abs_diff(published) * 100 < published, "{algorithm}: {modelled}");
    }
    let scatter_allgather = peak("model-scatter-allgather");
    assert_eq!(printed.at("model-scatter-allgather", "throughput", (0, 147_456)), [scatter_allgather]);
    assert!(scatter_allgather.abs_diff(13_380) * 100 < 3 * 13_380, "{scatter_allgather}");
    let (slowest, mean, near) = (peak("bound-slowest"), peak("bound-mean"), peak("bound-near"));
    assert!(slowest < mean && slowest < near, "{slowest} {mean} {near}");
    // One rank has nothing to model.
    run::<Model>("cores=1");
}
