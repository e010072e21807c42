//! What `sccBoot -g` does with a directory, as its source says it (`hal::hardware`, Loader files), with all that it
//! gets wrong. It knows nothing of how the files are written.

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    path::Path,
};

/// Words in a line that is written as a whole.
const LINE_WORDS: usize = 8;

/// Memory behind one controller: lines by their number, only those that were written.
pub(super) type Lines = HashMap<u64, [u32; LINE_WORDS]>;

/// A chip that was loaded.
#[derive(Default)]
pub(super) struct Loaded {
    /// By the tile of the controller.
    pub(super) memory: BTreeMap<(u32, u32), Lines>,
    /// By tile number, sub-destination and address.
    pub(super) registers: BTreeMap<(u64, u64, u64), u64>,
}

/// Loads a directory.
pub(super) fn load(directory: &Path) -> Result<Loaded, String> {
    let mut loaded = Loaded::default();
    for y in 0..4 {
        for x in 0..6 {
            if let Ok(text) = fs::read_to_string(directory.join(format!("mch_{x}_{y}.32.obj"))) {
                loaded.memory.insert((x, y), object(&text)?);
            }
        }
    }
    if loaded.memory.is_empty() {
        return Err("given path doesn't contain memory image".into());
    }
    let luts = fs::read_to_string(directory.join("lut_init.dat")).map_err(|_| "no LUT file")?;
    loaded.registers = flits(&luts)?;
    Ok(loaded)
}

/// Writes what an object says.
pub(super) fn object(text: &str) -> Result<Lines, String> {
    let mut lines = Lines::new();
    let mut buffer = [0; LINE_WORDS];
    let (mut line, mut index) = (0, 0);
    // Whether there was an origin, and whether there is something to write.
    let (mut valid, mut available) = (false, false);
    let mut tokens = text.split_ascii_whitespace();
    while let Some(token) = tokens.next() {
        let (mut flush, mut origin, mut eof) = (false, None, false);
        if token.starts_with("/origin") {
            let word = tokens.next().and_then(|token| u64::from_str_radix(token, 16).ok()).ok_or("sscanf of origin")?;
            if word > 0x3_FFFF_FFFF {
                return Err(format!("failed to write at application memory address {word:#x}"));
            }
            flush = valid && word / LINE_WORDS as u64 != line;
            origin = Some(word);
        } else if token.starts_with("/eof") {
            (flush, eof) = (true, true);
        } else if valid {
            buffer[index] = u32::from_str_radix(token, 16).map_err(|_| format!("sscanf of {token}"))?;
            index += 1;
            available = true;
            flush = index == LINE_WORDS;
        }
        if flush {
            if valid && available {
                // The whole line, with whatever the buffer holds from the line before.
                lines.insert(line, buffer);
            }
            valid &= !eof;
            if valid {
                (line, index, available) = (line + 1, 0, false);
            }
        }
        if let Some(word) = origin {
            (line, index) = (word / LINE_WORDS as u64, word as usize % LINE_WORDS);
            buffer = [0; LINE_WORDS];
            valid = true;
        }
    }
    Ok(lines)
}

/// Writes the registers that a file says.
pub(super) fn flits(text: &str) -> Result<BTreeMap<(u64, u64, u64), u64>, String> {
    let mut registers = BTreeMap::new();
    for (number, line) in text.lines().enumerate() {
        let columns: Vec<_> = line.split_whitespace().map(|column| u64::from_str_radix(column, 16)).collect();
        match columns[..] {
            [Ok(tile), Ok(destination), Ok(address), Ok(value)] => {
                registers.insert((tile, destination, address), value);
            }
            _ => return Err(format!("wrong data format in line {}", number + 1)),
        }
    }
    Ok(registers)
}

impl Loaded {
    /// The entry of a core's lookup table.
    pub(super) fn entry(&self, tile: u64, table: u64, slot: u64) -> Option<u64> {
        self.registers.get(&(tile, 2, table + 8 * slot)).copied()
    }

    /// A byte where a core sees it, through its lookup table; nothing where it leads nowhere or nothing was written.
    pub(super) fn byte(&self, tile: u64, table: u64, address: u32) -> Option<u8> {
        let entry = self.entry(tile, table, u64::from(address >> 24))?;
        let (x, y) = ((entry >> 13 & 0xF) as u32, (entry >> 17 & 0xF) as u32);
        let place = (entry & 0x3FF) << 24 | u64::from(address & 0xFF_FFFF);
        let line = self.memory.get(&(x, y))?.get(&(place / 32))?;
        Some(line[(place % 32 / 4) as usize].to_le_bytes()[(place % 4) as usize])
    }
}

#[test]
fn it_gets_wrong_what_the_loader_gets_wrong() {
    // Words before an origin within its line become zeros.
    let lines = object("/origin 6 aa bb /origin 10 1 2 3 4 5 6 7 8 /eof").unwrap();
    assert_eq!(lines[&0], [0, 0, 0, 0, 0, 0, 0xAA, 0xBB]);
    assert_eq!((lines[&2], lines.len()), ([1, 2, 3, 4, 5, 6, 7, 8], 2));
    // What is missing of the last line is that of the line before.
    let lines = object("/origin 0 1 2 3 4 5 6 7 8 9 /eof").unwrap();
    assert_eq!(lines[&1], [9, 2, 3, 4, 5, 6, 7, 8]);
    // A second origin within a line undoes the first.
    let lines = object("/origin 0 1 2 /origin 4 5 6 7 8 /eof").unwrap();
    assert_eq!(lines[&0], [0, 0, 0, 0, 5, 6, 7, 8]);
    // Origins without words write nothing, nor do words without an origin.
    assert!(object("7 /origin 0 /origin 8 /eof").unwrap().is_empty());
    assert!(object("/origin 400000000 /eof").is_err() && object("/origin x").is_err());
    assert!(object("/origin 0 /oops").is_err());
    assert!(flits("00 2 00000800 00006000\n00 2 800\n").unwrap_err().ends_with("line 2"));
    assert!(flits("00 2 00000800 0000600g\n").is_err());
}
