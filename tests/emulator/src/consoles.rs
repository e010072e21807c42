//! The consoles of all cores as one stream of lines.

/// Puts lines in an order in which a file stays in one piece: while a core sends one (from `@data` to `@end`), lines of
/// other cores wait. Everything else comes out as it goes in.
#[derive(Default)]
pub struct Consoles {
    /// The core that sends a file.
    sender: Option<usize>,
    waiting: Vec<(usize, String)>,
}

impl Consoles {
    /// Takes a line of a core, and shows what may be shown now.
    pub fn take(&mut self, core: usize, line: &str, mut show: impl FnMut(usize, &str)) {
        self.pass(core, line, &mut show);
        while self.sender.is_none() && !self.waiting.is_empty() {
            for (core, line) in std::mem::take(&mut self.waiting) {
                self.pass(core, &line, &mut show);
            }
        }
    }

    /// Shows what still waits for the end of a file, which will not come.
    pub fn finish(self, mut show: impl FnMut(usize, &str)) {
        self.waiting.iter().for_each(|(core, line)| show(*core, line));
    }

    fn pass(&mut self, core: usize, line: &str, show: &mut impl FnMut(usize, &str)) {
        if self.sender.is_some_and(|sender| sender != core) {
            self.waiting.push((core, line.to_owned()));
            return;
        }
        if line.starts_with("@data ") {
            self.sender = Some(core);
        } else if line.starts_with("@end ") {
            self.sender = None;
        }
        show(core, line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(lines: &[(usize, &str)]) -> Vec<String> {
        let (mut consoles, mut shown) = (Consoles::default(), Vec::new());
        let mut show = |core: usize, line: &str| shown.push(format!("{core}{line}"));
        lines.iter().for_each(|(core, line)| consoles.take(*core, line, &mut show));
        consoles.finish(&mut show);
        shown
    }

    #[test]
    fn files_that_cores_send_at_the_same_time_stay_in_one_piece() {
        let lines = [(0, "a"), (1, "@data f"), (0, "@data g"), (2, "b"), (1, "AA"), (0, "BB"), (1, "@end f")];
        assert_eq!(shown(&lines), ["0a", "1@data f", "1AA", "1@end f", "0@data g", "0BB", "2b"]);
        let more = [(0, "@end g"), (1, "c")];
        let all: Vec<_> = lines.into_iter().chain(more).collect();
        assert_eq!(shown(&all)[4..], ["0@data g", "0BB", "0@end g", "2b", "1c"]);
    }
}
