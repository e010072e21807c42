//! A file on its way over the console: lines of base64 between `@data NAME LENGTH` and `@end NAME CRC32`.

use anyhow::{Context, Result, bail, ensure};
use base64::{
    Engine,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};

/// Padding is the sender's choice.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The largest file that is believed.
const MOST_BYTES: usize = 1 << 30;

/// A file that a guest has sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// A plain file name, without a directory.
    pub name: String,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// A file that has begun and not ended.
#[derive(Debug)]
pub struct UnfinishedFile {
    /// The name of the file.
    pub name: String,
    length: usize,
    text: String,
}

impl UnfinishedFile {
    /// Begins a file from the words after `@data`.
    ///
    /// # Errors
    /// When they are not a plain file name and a length.
    pub fn begin(words: &str) -> Result<Self> {
        let (name, length) = words.split_once(' ').context("`@data` needs a name and a length")?;
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
        // It becomes a path on the host.
        ensure!(
            !name.is_empty() && !name.starts_with('.') && name.chars().all(plain),
            "`{name}` is not a plain file name"
        );
        let length = length.trim().parse().with_context(|| format!("`{length}` is not the length of {name}"))?;
        ensure!(length <= MOST_BYTES, "{name} claims to have {length} bytes");
        Ok(Self { name: name.into(), length, text: String::new() })
    }

    /// Tells whether a line can be part of a file.
    pub fn is_content(line: &str) -> bool {
        line.bytes().all(|letter| letter.is_ascii_alphanumeric() || b"+/=".contains(&letter))
    }

    /// Takes one line of content.
    ///
    /// # Errors
    /// When there is more than was announced.
    pub fn push(&mut self, line: &str) -> Result<()> {
        self.text.push_str(line);
        if self.text.len() > self.length.div_ceil(3) * 4 {
            bail!("result file {} has more than its {} bytes", self.name, self.length);
        }
        Ok(())
    }

    /// Ends the file with the words after `@end`.
    ///
    /// # Errors
    /// When the name, the length or the checksum is another one, or the content is not base64.
    pub fn end(self, words: &str) -> Result<File> {
        let name = self.name;
        let (ended, sum) = words.split_once(' ').context("`@end` needs a name and a checksum")?;
        ensure!(ended == name, "result file {name} ends as {ended}");
        let digits = sum.trim();
        let expected = u32::from_str_radix(digits.strip_prefix("0x").unwrap_or(digits), 16)
            .with_context(|| format!("`{sum}` is not the checksum of {name}"))?;
        let bytes = BASE64.decode(&self.text).with_context(|| format!("result file {name} is damaged"))?;
        ensure!(
            bytes.len() == self.length,
            "result file {name} is cut off: {} of {} bytes arrived",
            bytes.len(),
            self.length
        );
        let found = crc32fast::hash(&bytes);
        ensure!(found == expected, "result file {name} is damaged: checksum {found:08x} instead of {expected:08x}");
        Ok(File { name, bytes })
    }
}
