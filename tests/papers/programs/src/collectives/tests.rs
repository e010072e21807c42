use super::*;
use crate::testing::{refused, run};

#[test]
fn every_operation_is_measured_and_right() {
    for name in Operation::NAMES {
        for algorithm in ["default", "two-sided"] {
            let algorithm = match (name, algorithm) {
                ("barrier" | "dup" | "split", "two-sided") => continue,
                ("broadcast", "two-sided") => "binomial",
                (_, algorithm) => algorithm,
            };
            for cores in [1, 2, 5, 16] {
                let words =
                    format!("cores={cores} operation={name} algorithm={algorithm} sizes=0,8,4096 repetitions=2");
                let latencies = run::<Collectives>(&words).samples(&format!("{name}-{algorithm}"), "latency");
                let sizes = if ["barrier", "dup", "split"].contains(&name) {
                    &[(0, 0)][..]
                } else {
                    &[(0, 0), (0, 8), (0, 4096)]
                };
                assert!(latencies.keys().eq(sizes) && latencies.values().all(|of| of.len() == 2), "{words}");
            }
        }
    }
}

#[test]
fn communicators_of_some_are_measured_too() {
    for (members, ranks) in [("dup", 16), ("half", 8), ("odd", 8), ("row", 12), ("tile", 2)] {
        let words = format!("cores=16 operation=allgather sizes=8,1024 repetitions=2 members={members}");
        let latencies = run::<Collectives>(&words).samples(&format!("allgather-default-{members}"), "latency");
        assert!(latencies.keys().eq(&[(ranks, 8), (ranks, 1024)]), "{words}: {latencies:?}");
    }
}

#[test]
fn wrong_results_are_seen() {
    let operation = Operation::parse("allgather", "default").unwrap();
    let call = Call { number: 1, me: 0, size: 2, count: 3 };
    let mut receive = [0; 6];
    for from in 0..2 {
        let theirs = Call { me: from, ..call };
        operation.prepare(&theirs, &mut receive[from * 3..][..3], &mut []);
    }
    assert!(operation.check(&call, &receive).is_ok());
    assert!(operation.check(&Call { number: 2, ..call }, &receive).is_err());
    receive[5] ^= 1;
    assert!(operation.check(&call, &receive).is_err());
}

#[test]
fn what_cannot_be_measured_is_said_once() {
    refused::<Collectives>(&[
        ("cores=3 operation=sort", "option `operation=sort`: no such operation; there are barrier,broadcast,reduce"),
        ("cores=3 algorithm=magic", "option `algorithm=magic`: no such"),
        ("cores=3 operation=barrier algorithm=tree", "option `algorithm=tree`: no such barrier"),
        ("cores=3 operation=dup algorithm=tree", "option `algorithm=tree`: communicators are made in one way"),
        ("cores=3 members=few", "option `members=few`: no such ranks; there are all, dup, half, odd, row and tile"),
        ("cores=1 members=odd", "option `members=odd`: there are no such ranks"),
        ("cores=3 sizes=12", "option `sizes`: 12 is no multiple of 8"),
    ]);
}
