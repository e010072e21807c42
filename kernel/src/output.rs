//! Result files on their way to the host: lines of base64 between two lines that name the file.

use core::{
    fmt::{self, Write},
    str,
};

use base64::{Engine, engine::general_purpose::STANDARD};

use crate::Failure;

/// Bytes of a line, and letters that they become.
const LINE_BYTES: usize = 57;
const LINE_LETTERS: usize = LINE_BYTES / 3 * 4;

/// A file, displayed as the lines that carry it. It is encoded line by line while it is printed.
pub struct Frame<'f> {
    name: &'f str,
    bytes: &'f [u8],
}

impl<'f> Frame<'f> {
    /// A file of these bytes.
    ///
    /// # Errors
    /// If the name is not that of a plain file: letters, digits, `.`, `_` and `-`, and no dot first.
    pub fn new(name: &'f str, bytes: &'f [u8]) -> Result<Self, Failure> {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
        if name.is_empty() || name.starts_with('.') || !name.chars().all(plain) {
            return Err(Failure::new(format_args!("`{name}` cannot be the name of a result file")));
        }
        Ok(Self { name, bytes })
    }
}

impl fmt::Display for Frame<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "@data {} {}", self.name, self.bytes.len())?;
        for chunk in self.bytes.chunks(LINE_BYTES) {
            let mut letters = [0; LINE_LETTERS];
            let len = STANDARD.encode_slice(chunk, &mut letters).map_err(|_| fmt::Error)?;
            writeln!(out, "{}", str::from_utf8(&letters[..len]).map_err(|_| fmt::Error)?)?;
        }
        writeln!(out, "@end {} {:08x}", self.name, crc32fast::hash(self.bytes))
    }
}

/// Text of a program, of which no line begins with `@`: those lines are for the host's tools.
pub(crate) struct Plain<'t>(pub(crate) fmt::Arguments<'t>);

impl fmt::Display for Plain<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = Lines { out, at_start: true };
        lines.write_fmt(self.0)
    }
}

/// Writes text on, and looks where lines start.
struct Lines<'l, 'o> {
    out: &'l mut fmt::Formatter<'o>,
    at_start: bool,
}

impl Write for Lines<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for letter in text.chars() {
            if self.at_start && letter == '@' {
                self.out.write_char(' ')?;
            }
            self.out.write_char(letter)?;
            self.at_start = letter == '\n';
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::{String, ToString};

    #[test]
    fn a_file_becomes_lines() {
        let bytes: std::vec::Vec<u8> = (0..58).collect();
        let text = Frame::new("a-b_1.pgm", &bytes).unwrap().to_string();
        let lines: std::vec::Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "@data a-b_1.pgm 58");
        assert_eq!(lines[1].len(), 76);
        assert_eq!(lines[2], "OQ==");
        assert_eq!(lines[3], std::format!("@end a-b_1.pgm {:08x}", crc32fast::hash(&bytes)));
        assert_eq!(lines.len(), 4);
        let mut decoded = [0; 60];
        let len = STANDARD.decode_slice(lines[1].to_string() + lines[2], &mut decoded).unwrap();
        assert_eq!(decoded[..len], bytes);
        assert_eq!(Frame::new("none", &[]).unwrap().to_string(), "@data none 0\n@end none 00000000\n");
    }

    #[test]
    fn names_with_paths_are_refused() {
        for name in ["", ".x", "a/b", "a b", "ä", &String::from("a\n")] {
            assert!(Frame::new(name, &[]).is_err(), "{name}");
        }
    }

    #[test]
    fn text_does_not_speak_to_the_tools() {
        let line = "@done ok";
        assert_eq!(Plain(format_args!("{line}\nx@\n{}", '@')).to_string(), " @done ok\nx@\n @");
    }
}
