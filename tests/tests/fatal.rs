//! What has to end a machine ends the simulated one too, with the same reason in its report.

mod common;

use common::run;
use hal::sim::Machine;
use tests::fatal::{self, FATAL};

#[test]
fn every_case_ends_with_its_report() {
    for cores in [3, 5] {
        for (case, report) in FATAL {
            let failure = run(&Machine::scc(cores), |context| fatal::run(case, context)).expect_err(case);
            // The launcher says which rank failed; here it is the runner.
            let expected = report.replace("rank 0 failed: ", "rank 0: ");
            assert!(failure.contains(&expected), "{case} on {cores} cores: {failure}");
        }
    }
}
