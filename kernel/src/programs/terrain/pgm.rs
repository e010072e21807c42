//! Binary PGM files (`P5`): grey pictures of 8 or 16 bits.
//!
//! Written here because nothing has to be converted or copied: what is read is a header and a position. (Crates for
//! this format decode into a buffer of their own.)

use alloc::{format, vec::Vec};
use core::fmt;

/// Why a file is no PGM that can be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PgmError {
    /// It does not begin with `P5`.
    Magic,
    /// It is a picture, but of another kind.
    OtherKind(char),
    /// The header ends too early.
    Header(&'static str),
    /// There is something else where a number is expected.
    NotANumber(&'static str),
    /// A number is 0 or too large.
    Range(&'static str, u32),
    /// No white space stands between header and samples.
    Separator,
    /// There are fewer samples than the header says.
    Truncated { expected: u64, present: usize },
    /// A sample is larger than the largest.
    Sample { x: usize, y: usize, sample: u16, max: u16 },
}

impl fmt::Display for PgmError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Magic => write!(out, "it does not begin with P5, as a binary PGM does"),
            Self::OtherKind(kind) => write!(out, "it is a P{kind} picture; what is needed is a binary PGM (P5)"),
            Self::Header(what) => write!(out, "it ends before the {what}"),
            Self::NotANumber(what) => write!(out, "the {what} is not a number"),
            Self::Range(what @ "largest value", max) => write!(out, "the {what} must be 1 to {max}"),
            Self::Range(what, max) => write!(out, "the {what} must be 1 to {max} samples"),
            Self::Separator => write!(out, "no white space follows the largest value"),
            Self::Truncated { expected, present } => {
                write!(out, "it is cut off: {expected} bytes of samples are announced, {present} are there")
            }
            Self::Sample { x, y, sample, max } => {
                write!(out, "the sample at column {x}, row {y} is {sample}, but the largest value is {max}")
            }
        }
    }
}

impl core::error::Error for PgmError {}

/// Largest width and height.
const MAX_SIDE: u32 = 65_535;

/// Where the samples of a PGM file are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Header {
    pub(super) width: usize,
    pub(super) height: usize,
    /// 1 or 2, in which case the higher byte comes first.
    pub(super) bytes_per_sample: usize,
    /// Offset of the first sample in the file.
    pub(super) samples_at: usize,
}

impl Header {
    /// Reads the header of a file, and makes sure that its samples are there and in range. What follows them is
    /// ignored: a file may have several pictures.
    pub(super) fn parse(file: &[u8]) -> Result<Self, PgmError> {
        let mut reader = match file {
            [b'P', b'5', rest @ ..] => Reader { file, rest },
            [b'P', kind @ (b'1'..=b'4' | b'6' | b'7' | b'F' | b'f'), ..] => {
                return Err(PgmError::OtherKind(char::from(*kind)));
            }
            _ => return Err(PgmError::Magic),
        };
        let width = reader.number("width", MAX_SIDE)?;
        let height = reader.number("height", MAX_SIDE)?;
        let max = reader.number("largest value", 65_535)? as u16;
        match reader.rest {
            [separator, rest @ ..] if separator.is_ascii_whitespace() => reader.rest = rest,
            [] => return Err(PgmError::Header("samples")),
            _ => return Err(PgmError::Separator),
        }
        let header = Self {
            width: width as usize,
            height: height as usize,
            bytes_per_sample: if max > 255 { 2 } else { 1 },
            samples_at: file.len() - reader.rest.len(),
        };
        let expected = u64::from(width) * u64::from(height) * header.bytes_per_sample as u64;
        if (reader.rest.len() as u64) < expected {
            return Err(PgmError::Truncated { expected, present: reader.rest.len() });
        }
        header.check_samples(file, max)?;
        Ok(header)
    }

    fn check_samples(&self, file: &[u8], max: u16) -> Result<(), PgmError> {
        if max == 255 || max == 65_535 {
            return Ok(());
        }
        for y in 0..self.height {
            if let Some((x, sample)) = self.row(file, y).enumerate().find(|(_, sample)| *sample > max) {
                return Err(PgmError::Sample { x, y, sample, max });
            }
        }
        Ok(())
    }

    /// The samples of row `y`.
    pub(super) fn row<'f>(&self, file: &'f [u8], y: usize) -> impl Iterator<Item = u16> + use<'f> {
        let row_bytes = self.width * self.bytes_per_sample;
        let row = &file[self.samples_at + y * row_bytes..][..row_bytes];
        row.chunks_exact(self.bytes_per_sample).map(|bytes| match *bytes {
            [high, low] => u16::from_be_bytes([high, low]),
            _ => u16::from(bytes[0]),
        })
    }
}

struct Reader<'f> {
    file: &'f [u8],
    rest: &'f [u8],
}

impl Reader<'_> {
    /// A number from 1 to `max`, after white space and comments.
    fn number(&mut self, what: &'static str, max: u32) -> Result<u32, PgmError> {
        let before = self.rest.len();
        self.skip_white_space_and_comments();
        let digits = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if self.rest.is_empty() {
            return Err(PgmError::Header(what));
        }
        // "P5" and the numbers have to be told apart.
        if digits == 0 || self.rest.len() == before && before < self.file.len() {
            return Err(PgmError::NotANumber(what));
        }
        let mut value = 0u32;
        for byte in &self.rest[..digits] {
            value = value.saturating_mul(10).saturating_add(u32::from(byte - b'0'));
        }
        self.rest = &self.rest[digits..];
        if (1..=max).contains(&value) { Ok(value) } else { Err(PgmError::Range(what, max)) }
    }

    fn skip_white_space_and_comments(&mut self) {
        while let [first, rest @ ..] = self.rest {
            match first {
                b'#' => {
                    let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
                    self.rest = &rest[end..];
                }
                byte if byte.is_ascii_whitespace() => self.rest = rest,
                _ => break,
            }
        }
    }
}

/// A PGM file of 16 bits.
pub(super) fn encode(width: usize, height: usize, samples: impl Iterator<Item = u16>) -> Vec<u8> {
    let header = format!("P5\n{width} {height}\n65535\n");
    let mut file = Vec::with_capacity(header.len() + width * height * 2);
    file.extend_from_slice(header.as_bytes());
    samples.for_each(|sample| file.extend_from_slice(&sample.to_be_bytes()));
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(file: &[u8]) -> Result<Vec<u16>, PgmError> {
        let header = Header::parse(file)?;
        Ok((0..header.height).flat_map(|y| header.row(file, y)).collect())
    }

    #[test]
    fn both_depths_and_comments() {
        assert_eq!(samples(b"P5 2 1 255 \x01\xff"), Ok([1, 255].into()));
        assert_eq!(samples(b"P5\n# a # b\n2# c\n2\n#\n65535\n\0\x01\x01\0\xff\xff\0\0"), Ok([1, 256, 65535, 0].into()));
        assert_eq!(samples(b"P5 1 1 256\n\x01\x00 and more"), Ok([256].into()));
        // The first sample may look like white space or a comment.
        assert_eq!(samples(b"P5 2 1 100\n\n#"), Ok([10, 35].into()));
    }

    #[test]
    fn what_is_written_can_be_read() {
        let file = encode(3, 2, [0, 1, 255, 256, 4711, 65535].into_iter());
        assert_eq!(samples(&file), Ok([0, 1, 255, 256, 4711, 65535].into()));
    }

    #[test]
    fn mistakes_are_named_in_one_line() {
        use PgmError::*;
        for (file, error) in [
            (&b""[..], Magic),
            (b"P", Magic),
            (b"PNG", Magic),
            (b"P2 1 1 255 7", OtherKind('2')),
            (b"P6 1 1 255 abc", OtherKind('6')),
            (b"P5", Header("width")),
            (b"P5 # only a comment", Header("width")),
            (b"P51 1 255 a", NotANumber("width")),
            (b"P5 x", NotANumber("width")),
            (b"P5 1 -1", NotANumber("height")),
            (b"P5 1 1", Header("largest value")),
            (b"P5 0 1 255 ", Range("width", 65535)),
            (b"P5 1 65536 255 ", Range("height", 65535)),
            (b"P5 99999999999999999999 1 255 ", Range("width", 65535)),
            (b"P5 1 1 0 a", Range("largest value", 65535)),
            (b"P5 1 1 65536 aa", Range("largest value", 65535)),
            (b"P5 1 1 255", Header("samples")),
            (b"P5 1 1 255x", Separator),
            (b"P5 2 2 255 abc", Truncated { expected: 4, present: 3 }),
            (b"P5 65535 65535 65535 a", Truncated { expected: 8_589_672_450, present: 1 }),
            (b"P5 2 2 100 \0\0\0\x65", Sample { x: 1, y: 1, sample: 101, max: 100 }),
        ] {
            let found = super::Header::parse(file);
            assert_eq!(found, Err(error), "{}", std::string::String::from_utf8_lossy(file));
            assert!(!format!("{error}").contains('\n'));
        }
    }
}
