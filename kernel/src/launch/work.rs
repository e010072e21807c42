//! What a simulation costs the host, for those who want to know how fast the simulator is.

use core::fmt;
use std::fs;

use hal::sim::Work;

/// What a run, which a user has given a name, has cost. As lines of samples:
///
/// * `accesses` and `skipped-polls`, see [`Work`];
/// * `host-us`: time for which this process has had a processor of the host until now, in µs, so that others on the
///   host count as little as can be; from its start, since a machine has to be built, too;
/// * `peak-kib`: the most memory that it has had at a time.
///
/// The last two are Linux's, and missing elsewhere.
pub(super) struct Account<'a> {
    pub(super) name: &'a str,
    pub(super) ranks: usize,
    pub(super) work: Work,
}

impl fmt::Display for Account<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let metrics = [
            ("accesses", Some(self.work.accesses)),
            ("skipped-polls", Some(self.work.skipped_polls)),
            ("host-us", processor_us()),
            ("peak-kib", peak_kib()),
        ];
        for (metric, value) in metrics.into_iter().filter_map(|(metric, value)| Some((metric, value?))) {
            let Self { name, ranks, .. } = self;
            writeln!(
                out,
                "@samples algorithm={name} ranks={ranks} param=0 bytes=0 metric={metric} unit=count {value}"
            )?;
        }
        Ok(())
    }
}

/// The first number of `schedstat` is what the main thread, which is the only one, has run for, in nanoseconds.
fn processor_us() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<u64>().ok()? / 1_000)
}

fn peak_kib() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_run_has_cost_is_told_in_samples() {
        let work = Work { accesses: 12, skipped_polls: 3 };
        let text = Account { name: "a", ranks: 4, work }.to_string();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "@samples algorithm=a ranks=4 param=0 bytes=0 metric=accesses unit=count 12");
        assert_eq!(lines[1], "@samples algorithm=a ranks=4 param=0 bytes=0 metric=skipped-polls unit=count 3");
        if cfg!(target_os = "linux") {
            assert!(lines.len() == 4 && processor_us().is_some() && peak_kib() > Some(100), "{text}");
        }
    }
}
