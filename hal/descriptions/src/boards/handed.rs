//! What an image is told by the memory that it is loaded into: its board, its command line, its input files.
//!
//! A block of little-endian words at [`HANDED`](map::HANDED): a header, the [`Geometry`], a table of modules, and
//! the texts. It has a checksum, so that an image which was loaded without it, or next to an old one, says so.

use core::{fmt, str};

use bytemuck::{Pod, Zeroable};

use super::{Geometry, map};

const MAGIC: u32 = u32::from_le_bytes(*b"atol");

/// To be raised with every change of the block.
const VERSION: u32 = 3;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Header {
    magic: u32,
    version: u32,
    /// Bytes of the block.
    len_bytes: u32,
    /// The checksum of all bytes after this word.
    checksum: u32,
    setting: Setting,
    geometry: Geometry,
    command_line_bytes: u32,
    modules: u32,
}

/// What is chosen for a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Setting {
    /// Cores that run the program: the first ones of the board.
    pub cores: u32,
    /// Slots of private memory that each core has, from slot 0 on.
    pub private_slots: u32,
    /// Where a core's heap ends at the latest.
    pub heap_end: u32,
    /// Where the image ends, with what it clears itself. The image knows that by itself; it is for who reads the block.
    pub image_end: u32,
    /// Whether core 0 alone is started and loaded, and starts the others.
    pub starts_others: u32,
}

/// An input file in a core's private memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Module<'a> {
    /// The file's name.
    pub name: &'a str,
    /// Address of its first byte.
    pub start: u32,
    /// The length of the input file in bytes.
    pub len_bytes: u32,
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct ModuleEntry {
    start: u32,
    len_bytes: u32,
    name_bytes: u32,
}

/// What an image is told.
#[derive(Clone, Copy, Debug)]
pub struct Handed<'a> {
    /// What was chosen.
    pub setting: Setting,
    /// The board.
    pub geometry: Geometry,
    /// Words for the program.
    pub command_line: &'a str,
    entries: &'a [u8],
    names: &'a str,
}

/// Why bytes are no block that an image can use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wrong {
    /// The bytes do not begin as a block does.
    Magic,
    /// The block has this version, since other tools made it than the image.
    Version(u32),
    /// The block is shorter than its length says, or longer than a block may be.
    Length,
    /// The checksum does not fit: some bytes have changed.
    Checksum,
    /// A text is none.
    Text,
}

impl fmt::Display for Wrong {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Magic => write!(out, "there is no description of the board at {:#x}", map::HANDED),
            Self::Version(found) => {
                write!(out, "the description of the board is of version {found}, and the image wants {VERSION}")
            }
            Self::Length => out.write_str("the description of the board has a wrong length"),
            Self::Checksum => out.write_str("the description of the board is damaged"),
            Self::Text => out.write_str("the description of the board contains texts that are none"),
        }
    }
}

impl core::error::Error for Wrong {}

/// Takes a value from the front of bytes that may be anywhere.
fn take<T: Pod>(bytes: &mut &[u8]) -> Option<T> {
    let (front, rest) = bytes.split_at_checked(size_of::<T>())?;
    *bytes = rest;
    Some(bytemuck::pod_read_unaligned(front))
}

/// Adler-32 of the bytes: short code, and good enough for what a board's loader may do to a block.
fn checksum(bytes: &[u8]) -> u32 {
    const MODULUS: u32 = 65_521;
    let (first, second) = bytes.iter().fold((1, 0), |(first, second), byte| {
        let first = (first + u32::from(*byte)) % MODULUS;
        (first, (second + first) % MODULUS)
    });
    second << 16 | first
}

impl<'a> Handed<'a> {
    /// Reads the block that `bytes` begin with.
    ///
    /// # Errors
    /// [`Wrong`] if there is none.
    pub fn read(bytes: &'a [u8]) -> Result<Self, Wrong> {
        let mut rest = bytes;
        let header: Header = take(&mut rest).ok_or(Wrong::Length)?;
        if header.magic != MAGIC {
            return Err(Wrong::Magic);
        }
        if header.version != VERSION {
            return Err(Wrong::Version(header.version));
        }
        let block = bytes.get(..header.len_bytes as usize).ok_or(Wrong::Length)?;
        let summed = block.get(4 * size_of::<u32>()..).ok_or(Wrong::Length)?;
        if checksum(summed) != header.checksum {
            return Err(Wrong::Checksum);
        }
        let rest = block.get(size_of::<Header>()..).ok_or(Wrong::Length)?;
        let entry_bytes = (header.modules as usize).checked_mul(size_of::<ModuleEntry>()).ok_or(Wrong::Length)?;
        let (entries, texts) = rest.split_at_checked(entry_bytes).ok_or(Wrong::Length)?;
        let texts = str::from_utf8(texts).map_err(|_| Wrong::Text)?;
        let (command_line, names) = texts.split_at_checked(header.command_line_bytes as usize).ok_or(Wrong::Text)?;
        Ok(Self { setting: header.setting, geometry: header.geometry, command_line, entries, names })
    }

    /// The input files.
    pub fn modules(&self) -> impl Iterator<Item = Module<'a>> + use<'a> {
        let (mut entries, mut names) = (self.entries, self.names);
        core::iter::from_fn(move || {
            let entry: ModuleEntry = take(&mut entries)?;
            let (name, rest) = names.split_at_checked(entry.name_bytes as usize)?;
            names = rest;
            Some(Module { name, start: entry.start, len_bytes: entry.len_bytes })
        })
    }
}

/// Makes the block. Nothing if it would be longer than it may be.
#[cfg(feature = "files")]
pub fn block(setting: Setting, geometry: Geometry, command_line: &str, modules: &[Module<'_>]) -> Option<Vec<u8>> {
    let mut rest = Vec::new();
    for module in modules {
        let name_bytes = module.name.len() as u32;
        let entry = ModuleEntry { start: module.start, len_bytes: module.len_bytes, name_bytes };
        rest.extend_from_slice(bytemuck::bytes_of(&entry));
    }
    rest.extend_from_slice(command_line.as_bytes());
    modules.iter().for_each(|module| rest.extend_from_slice(module.name.as_bytes()));
    let len_bytes = size_of::<Header>() + rest.len();
    if len_bytes > map::HANDED_BYTES as usize {
        return None;
    }
    let header = Header {
        magic: MAGIC,
        version: VERSION,
        len_bytes: len_bytes as u32,
        checksum: 0,
        setting,
        geometry,
        command_line_bytes: command_line.len() as u32,
        modules: modules.len() as u32,
    };
    let mut block = bytemuck::bytes_of(&header).to_vec();
    block.extend(rest);
    let sum = checksum(&block[4 * size_of::<u32>()..]);
    block[3 * size_of::<u32>()..4 * size_of::<u32>()].copy_from_slice(&sum.to_le_bytes());
    Some(block)
}

#[cfg(all(test, feature = "files"))]
mod tests {
    use super::*;

    fn made() -> Vec<u8> {
        let setting = Setting { cores: 3, ..Setting::zeroed() };
        let geometry = Geometry { columns: 2, ..Geometry::zeroed() };
        let modules = [
            Module { name: "a.pgm", start: 0x40_0000, len_bytes: 7 },
            Module { name: "", start: 0x50_0000, len_bytes: 0 },
        ];
        block(setting, geometry, "program=terrain steps=2", &modules).unwrap()
    }

    #[test]
    fn what_is_handed_over_arrives() {
        let mut bytes = made();
        bytes.extend([0xFF; 40]);
        let handed = Handed::read(&bytes).unwrap();
        assert_eq!((handed.setting.cores, handed.geometry.columns), (3, 2));
        assert_eq!(handed.command_line, "program=terrain steps=2");
        let modules: Vec<_> = handed.modules().map(|module| (module.name, module.start, module.len_bytes)).collect();
        assert_eq!(modules, [("a.pgm", 0x40_0000, 7), ("", 0x50_0000, 0)]);
    }

    #[test]
    fn every_damaged_byte_is_noticed() {
        let good = made();
        for place in 0..good.len() {
            let mut bytes = good.clone();
            bytes[place] ^= 0x10;
            assert!(Handed::read(&bytes).is_err(), "byte {place}");
        }
        assert_eq!(Handed::read(&good[..good.len() - 1]).unwrap_err(), Wrong::Length);
        assert_eq!(Handed::read(&[]).unwrap_err(), Wrong::Length);
        assert_eq!(Handed::read(&vec![0; good.len()]).unwrap_err(), Wrong::Magic);
    }

    #[test]
    fn too_much_is_refused() {
        let line = "x".repeat(map::HANDED_BYTES as usize);
        assert!(block(Setting::zeroed(), Geometry::zeroed(), &line, &[]).is_none());
    }
}
