//! Objects of memory: `/origin`, words, `/eof` (`hal::hardware`, Loader files, and `writeMemFromOBJ` of sccKit).
//!
//! The tool knows tokens, not lines of text, and writes whole lines of 32 bytes. From that come its peculiarities,
//! which are all here:
//!
//! * what is before an origin in its line is written as zeros;
//! * a last line that is not full is completed with the words that the previous line had there;
//! * an origin in the line that is being filled drops what the line has so far, and zeros take its place;
//! * words before the first origin go nowhere;
//! * without `/eof` the last line goes nowhere unless it is full.
//!
//! What the tool would only complain about, or take for something else, is an error.

use crate::chip::Dram;

const WORDS: usize = 8;

/// The highest origin that the tool takes, in words.
const LAST_ORIGIN: u64 = 0x3_FFFF_FFFF;

/// A line that is being filled.
struct Filling {
    address: u64,
    words: [u32; WORDS],
    filled: usize,
    /// Whether a word came since the line was begun.
    any: bool,
}

impl Filling {
    fn at(origin: u64) -> Self {
        let address = origin / WORDS as u64 * WORDS as u64 * 4;
        Self { address, words: [0; WORDS], filled: (origin % WORDS as u64) as usize, any: false }
    }

    /// Writes the line, if there is something in it, and begins the next one, which has the same words until others
    /// come.
    fn write(&mut self, memory: &mut Dram, written: &mut u64) -> Result<(), String> {
        if self.any {
            if self.address >= memory.bytes() {
                return Err(format!(
                    "it has words for {:#x}, and the memory ends at {:#x}",
                    self.address,
                    memory.bytes()
                ));
            }
            let page = memory.page_mut(self.address);
            let line = &mut page[self.address as usize % 4096..][..WORDS * 4];
            line.chunks_exact_mut(4).zip(self.words).for_each(|(to, word)| to.copy_from_slice(&word.to_le_bytes()));
            *written += 1;
        }
        self.address += WORDS as u64 * 4;
        self.filled = 0;
        self.any = false;
        Ok(())
    }
}

/// Loads an object. Returns the number of lines that it wrote.
pub(super) fn load(memory: &mut Dram, text: &str) -> Result<u64, String> {
    let mut written = 0;
    let mut filling: Option<Filling> = None;
    let mut tokens = text.split_ascii_whitespace();
    while let Some(token) = tokens.next() {
        if token.starts_with("/origin") {
            let token = tokens.next().ok_or("it ends with an origin without an address")?;
            let origin = hexadecimal(token).ok_or_else(|| format!("\"{token}\" is no address of an origin"))?;
            if origin > LAST_ORIGIN {
                return Err(format!("the origin {origin:#x} is beyond {LAST_ORIGIN:#x}"));
            }
            let next = Filling::at(origin);
            if let Some(filling) = &mut filling
                && filling.address != next.address
            {
                filling.write(memory, &mut written)?;
            }
            filling = Some(next);
        } else if token.starts_with("/eof") {
            if let Some(filling) = &mut filling {
                filling.write(memory, &mut written)?;
            }
            return match tokens.next() {
                Some(token) => Err(format!("there is \"{token}\" after /eof")),
                None => Ok(written),
            };
        } else if let Some(filling) = &mut filling {
            let word = hexadecimal(token).and_then(|word| u32::try_from(word).ok());
            filling.words[filling.filled] = word.ok_or_else(|| format!("\"{token}\" is no word"))?;
            filling.filled += 1;
            filling.any = true;
            if filling.filled == WORDS {
                filling.write(memory, &mut written)?;
            }
        }
    }
    Ok(written)
}

fn hexadecimal(token: &str) -> Option<u64> {
    u64::from_str_radix(token.strip_prefix("0x").unwrap_or(token), 16).ok()
}
