//! Memory as text, in the form that sccKit's tools exchange: `.32.obj` files (`hal::hardware`, Loader files).
//!
//! `/origin` and an address in words of 32 bits, then words in base 16, then the next `/origin`; `/eof` ends it. The
//! loader writes lines of 32 bytes and gets wrong what does not begin and end on one: words before an origin become
//! zeros, what is missing of the last line is taken from the line before, and a second origin within a line undoes the
//! first. So what is written here is [`Run`]s of whole lines, each line at most once.

use anyhow::{Result, ensure};
use descriptions::boards::map::LINE_BYTES;
use std::io::{self, Write};

/// Words in a line of text.
const WORDS_PER_LINE: usize = 4;

/// Bytes at an address, of which whoever made them wants to be told the name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) what: String,
    pub(super) address: u32,
    pub(super) bytes: Vec<u8>,
}

/// Whole lines of memory without a gap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// Address of the first byte, a multiple of a line.
    pub(super) address: u32,
    /// A multiple of a line.
    pub(super) bytes: Vec<u8>,
}

/// Whole lines of a core's memory, and the same as text.
pub(super) struct Content {
    pub(super) run: Run,
    pub(super) text: Vec<u8>,
}

impl Run {
    /// The address after the last byte.
    fn end(&self) -> u64 {
        u64::from(self.address) + self.bytes.len() as u64
    }
}

/// Puts pieces into lines, with zeros around them, and joins those that share a line or follow each other directly.
///
/// # Errors
/// When two of them claim the same byte.
pub(super) fn runs(pieces: &[Piece]) -> Result<Vec<Run>> {
    let mut pieces: Vec<_> = pieces.iter().filter(|piece| !piece.bytes.is_empty()).collect();
    pieces.sort_by_key(|piece| piece.address);
    let mut runs: Vec<Run> = Vec::new();
    // The end of what was added last, without its padding, and its name.
    let (mut end, mut last) = (0, "");
    for piece in pieces {
        let start = u64::from(piece.address);
        ensure!(start >= end, "{} and {last} would both be at {start:#x}", piece.what);
        end = start + piece.bytes.len() as u64;
        ensure!(end <= 1 << 32, "{} would go on beyond 4 GB", piece.what);
        last = &piece.what;
        let first_line = piece.address / LINE_BYTES * LINE_BYTES;
        if runs.last().is_none_or(|run| run.end() < u64::from(first_line)) {
            runs.push(Run { address: first_line, bytes: Vec::new() });
        }
        let Some(run) = runs.last_mut() else { continue };
        let offset = (piece.address - run.address) as usize;
        run.bytes.truncate(offset);
        run.bytes.resize(offset, 0);
        run.bytes.extend(&piece.bytes);
        run.bytes.resize(run.bytes.len().next_multiple_of(LINE_BYTES as usize), 0);
    }
    Ok(runs)
}

/// The words of whole lines as text, four in a line as sccKit's tools write them.
pub(super) fn text(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes.len() / 4 * 9);
    for (index, word) in bytes.as_chunks().0.iter().enumerate() {
        text.extend_from_slice(&digits(u32::from_le_bytes(*word)));
        text.push(if index % WORDS_PER_LINE == WORDS_PER_LINE - 1 { b'\n' } else { b' ' });
    }
    text
}

/// The digits of a word in base 16, all at once: an image has a million words, and this tool is not optimised.
fn digits(word: u32) -> [u8; 8] {
    let mut digits = u64::from(word);
    // Each nibble goes to a byte of its own, and those above 9 become letters.
    for (shift, mask) in [(16, 0x0000_FFFF_0000_FFFF), (8, 0x00FF_00FF_00FF_00FF), (4, 0x0F0F_0F0F_0F0F_0F0F)] {
        digits = (digits | digits << shift) & mask;
    }
    let letters = (digits + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101;
    (digits + 0x3030_3030_3030_3030 + letters * u64::from(b'a' - b'9' - 1)).to_be_bytes()
}

/// Writes where the following words go.
pub(super) fn origin(out: &mut impl Write, address: u64) -> io::Result<()> {
    writeln!(out, "/origin {:08x}", address >> 2)
}

/// Writes the end.
pub(super) fn end(out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "/eof")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(address: u32, bytes: &[u8]) -> Piece {
        Piece { what: format!("the one at {address:#x}"), address, bytes: bytes.to_vec() }
    }

    #[test]
    fn pieces_become_whole_lines() {
        let runs = runs(&[piece(0x65, b"abc"), piece(0, b"x"), piece(0x100, b"")]).unwrap();
        assert_eq!(runs.iter().map(|run| (run.address, run.bytes.len())).collect::<Vec<_>>(), [(0, 32), (0x60, 32)]);
        assert_eq!(runs[1].bytes[..9], *b"\0\0\0\0\0abc\0");
    }

    #[test]
    fn pieces_that_share_a_line_or_touch_are_one() {
        let sharing = runs(&[piece(0x30, &[1; 3]), piece(0x38, &[2; 8]), piece(0x40, &[3; 33])]).unwrap();
        assert_eq!(sharing.len(), 1);
        assert_eq!((sharing[0].address, sharing[0].bytes.len()), (0x20, 0x60));
        assert_eq!(sharing[0].bytes[0x10..0x22], [1, 1, 1, 0, 0, 0, 0, 0, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3][..]);
        let apart = runs(&[piece(0, &[1]), piece(0x40, &[2])]).unwrap();
        assert_eq!(apart.len(), 2);
    }

    #[test]
    fn no_byte_is_claimed_twice() {
        let message = runs(&[piece(0x20, &[1; 9]), piece(0x28, &[2])]).unwrap_err().to_string();
        assert_eq!(message, "the one at 0x28 and the one at 0x20 would both be at 0x28");
        assert!(runs(&[piece(u32::MAX, &[1, 2])]).is_err());
        assert_eq!(runs(&[piece(0xFFFF_FFE0, &[7; 32])]).unwrap()[0].bytes.len(), 32);
    }

    #[test]
    fn words_are_little_endian() {
        let bytes: Vec<u8> = (0..32).collect();
        let lines = "03020100 07060504 0b0a0908 0f0e0d0c\n13121110 17161514 1b1a1918 1f1e1d1c\n";
        assert_eq!(text(&bytes), lines.as_bytes());
    }

    #[test]
    fn origins_are_in_words() {
        let mut out = Vec::new();
        for address in [0, 0x1_0000, 0xFFFF_F000, 0x3_F4FF_F000] {
            origin(&mut out, address).unwrap();
        }
        end(&mut out).unwrap();
        let lines = "/origin 00000000\n/origin 00004000\n/origin 3ffffc00\n/origin fd3ffc00\n/eof\n";
        assert_eq!(String::from_utf8(out).unwrap(), lines);
    }
}
