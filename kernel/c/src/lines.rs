//! Standard output, line by line: lines of different ranks never mix.

use alloc::{string::String, vec::Vec};
use core::mem;

/// What was printed of a line that has not ended yet.
#[derive(Default)]
pub(crate) struct Lines {
    begun: Vec<u8>,
    /// The line was ended for the program, which may end it once more.
    was_ended: bool,
}

impl Lines {
    /// Takes bytes, and hands on each line that ends in them, without its end.
    pub(crate) fn take(&mut self, bytes: &[u8], print: &mut dyn FnMut(&str)) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.begun.extend_from_slice(&rest[..end]);
            rest = &rest[end + 1..];
            // The end of a line that stands there already.
            let is_printed = mem::take(&mut self.was_ended) && self.begun.is_empty();
            if !is_printed {
                self.print(print);
            }
        }
        self.begun.extend_from_slice(rest);
        self.was_ended &= self.begun.is_empty();
    }

    /// Ends a line that was begun: whoever waits for others now is not to be overtaken by their lines.
    pub(crate) fn end(&mut self, print: &mut dyn FnMut(&str)) {
        if !self.begun.is_empty() {
            self.print(print);
            self.was_ended = true;
        }
    }

    fn print(&mut self, print: &mut dyn FnMut(&str)) {
        let line = mem::take(&mut self.begun);
        print(String::from_utf8_lossy(&line).trim_end_matches('\r'));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(pieces: &[&str], ends: bool) -> Vec<String> {
        let (mut lines, mut printed) = (Lines::default(), Vec::new());
        for piece in pieces {
            lines.take(piece.as_bytes(), &mut |line| printed.push(line.into()));
            if ends {
                lines.end(&mut |line| printed.push(line.into()));
            }
        }
        lines.end(&mut |line| printed.push(line.into()));
        printed
    }

    #[test]
    fn pieces_become_lines() {
        assert_eq!(printed(&["a", "b\nc\n\nd"], false), ["ab", "c", "", "d"]);
        assert_eq!(printed(&["\n", "x\r\n"], false), ["", "x"]);
        assert_eq!(printed(&[], false), [""; 0]);
    }

    #[test]
    fn a_line_that_was_ended_ends_once() {
        assert_eq!(printed(&["\na", "\nb", "\n\nc"], true), ["", "a", "b", "", "c"]);
        assert_eq!(printed(&["a", "b\n"], true), ["a", "b"]);
    }
}
