//! The names of the tests which see that a way to fail leaves a trace which ends with it, on each backend; or why it cannot happen there.

/// A test.
enum Seen {
    /// By this tool, which runs a program that has to end the machine: the case, and on which backend.
    Fatal(&'static str),
    Board(&'static str),
    Cluster(&'static str),
    /// By cargo: the file below the workspace, and the test.
    Test(&'static str, &'static str),
    /// It cannot happen, for this reason.
    Never(#[expect(dead_code, reason = "who reads this file reads it")] &'static str),
}

use Seen::{Board, Cluster, Fatal, Never, Test};

const LAUNCH: &str = "kernel/src/launch/tests.rs";
const ON_THREADS: &str = "kernel/src/launch/tests_of_faults.rs";
const SIMULATED: &str = "tests/tests/simulated/fatal.rs";
const EACH_WAY: &str = "each_way_to_fail_tells_traces";
const FAULTS: &str = "faults_and_endless_loops_leave_traces";
const ONE_MACHINE: &str = "it is one machine, no part of which goes on without the others";
const NO_RULES: &str = "what a core does has an effect, if only a fault";

/// In the simulator, on threads, in QEMU, on a cluster, and on the emulated board.
const TABLE: [(&str, [Seen; 5]); 6] = [
    (
        "panic",
        [
            Test(LAUNCH, EACH_WAY),
            Test(LAUNCH, EACH_WAY),
            Fatal("panics"),
            Cluster("cluster-panic-leaves-traces"),
            Board("panics"),
        ],
    ),
    (
        "fault",
        [
            Test(SIMULATED, FAULTS),
            Test(ON_THREADS, "faults_leave_the_trace_of_their_rank"),
            Fatal("reads_null"),
            Cluster("cluster-fault-leaves-traces"),
            Board("reads_null"),
        ],
    ),
    (
        "deadlock",
        [
            Test(LAUNCH, EACH_WAY),
            Test(LAUNCH, EACH_WAY),
            Fatal("waits_in_a_circle"),
            Cluster("cluster-deadlock-names-its-circle"),
            Board("waits_in_a_circle"),
        ],
    ),
    (
        "endless loop",
        [
            Test(SIMULATED, FAULTS),
            Test(ON_THREADS, "the_thread_is_reported_that_still_ran_when_it_was_told_to_end"),
            Fatal("loops"),
            Cluster("cluster-endless-loop-leaves-traces"),
            Board("loops"),
        ],
    ),
    (
        "node lost",
        [
            Never("nodes of its clusters are cores of one machine"),
            Never(ONE_MACHINE),
            Never(ONE_MACHINE),
            Cluster("cluster-node-is-killed"),
            Never(ONE_MACHINE),
        ],
    ),
    (
        "what the board does not allow",
        [Never(NO_RULES), Never(NO_RULES), Never(NO_RULES), Never(NO_RULES), Board("board-notices-lut-nowhere")],
    ),
];

#[test]
fn each_way_to_fail_leaves_a_trace_on_each_backend() {
    use super::{board, clusters};
    use crate::workspace;
    use std::fs;

    let read =
        |file: &str| fs::read_to_string(workspace::root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    // Images list their programs when they run; here it is enough that they are written down.
    let is_listed = |case: &str| read("tests/src/fatal.rs").contains(&format!("\"{case}\""));
    for (failure, [simulated, threads, qemu, cluster, board]) in TABLE {
        for seen in [simulated, threads, qemu, cluster, board] {
            let is_there = match seen {
                Fatal(case) => is_listed(case),
                Board(name) if name.starts_with("board-") => board::DAMAGES.iter().any(|damage| damage.name == name),
                Board(case) => is_listed(case),
                Cluster(name) => {
                    let failures = clusters::FAILURES.iter().map(|failure| failure.name);
                    failures.chain(clusters::DISTURBANCES.map(|(name, _)| name)).any(|known| known == name)
                }
                Test(file, name) => read(file).contains(&format!("fn {name}()")),
                Never(_) => true,
            };
            assert!(is_there, "nobody tests {failure}");
        }
    }
}
