use super::*;
use kernel::launch::{Only, Simulation, simulate};

fn run(words: &str) -> Simulation {
    simulate::<Only<Collectives>>(words, &[])
}

#[test]
fn every_operation_is_measured_and_right() {
    for name in Operation::NAMES {
        for algorithm in ["default", "two-sided"] {
            let algorithm = match (name, algorithm) {
                ("barrier", "two-sided") => continue,
                ("broadcast", "two-sided") => "binomial",
                (_, algorithm) => algorithm,
            };
            for cores in [1, 2, 5, 16] {
                let words =
                    format!("cores={cores} operation={name} algorithm={algorithm} sizes=0,8,4096 repetitions=2");
                let simulation = run(&words);
                assert!(simulation.success, "{words}: {}", simulation.console);
                for bytes in if name == "barrier" { &[0][..] } else { &[0, 8, 4096] } {
                    let line = format!(
                        "@samples algorithm={name}-{algorithm} ranks={cores} param=0 bytes={bytes} metric=latency unit=ns "
                    );
                    let found: Vec<_> =
                        simulation.console.lines().filter_map(|found| found.strip_prefix(&line)).collect();
                    assert_eq!(found.len(), 1, "{words}: {}", simulation.console);
                    assert_eq!(found[0].split(' ').count(), 2);
                }
            }
        }
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
    for (words, message) in [
        ("operation=sort", "option `operation=sort`: no such operation; there are barrier,broadcast,reduce"),
        ("algorithm=magic", "option `algorithm=magic`: no such"),
        ("operation=barrier algorithm=tree", "option `algorithm=tree`: no such barrier"),
        ("sizes=12", "option `sizes`: 12 is no multiple of 8"),
    ] {
        let simulation = run(&format!("cores=3 {words}"));
        assert!(!simulation.success);
        assert!(simulation.console.contains(message), "{}", simulation.console);
        assert_eq!(simulation.console.matches(" failed: ").count(), 1, "{}", simulation.console);
    }
}
