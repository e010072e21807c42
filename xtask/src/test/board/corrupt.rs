//! Damage to what `flash` has written, to see that it is noticed.

use anyhow::{Context, Result, ensure};
use object::{
    LittleEndian, Object, ObjectSection, ObjectSymbol,
    elf::{FileHeader32, PT_LOAD, ProgramHeader32},
    read::elf::{FileHeader, ProgramHeader},
};
use std::{fs, mem::offset_of, path::Path};

/// The instruction `ret`.
const RETURN: u8 = 0xC3;

/// The instruction `nop`.
const DO_NOTHING: u8 = 0x90;

/// The word that ends with the jump back to the start of a reset page: its bytes are E9 0D F0, and one more.
const JUMP: u32 = 0x00F0_0DE9;

/// What says in an object where the data goes that follows, in words.
const ORIGIN: &str = "/origin ";

/// What no processor takes for an instruction.
const NO_INSTRUCTION: &str = "ffffffff";

/// Where a segment's header says how much memory it needs.
const MEMORY_BYTES: usize = offset_of!(ProgramHeader32<LittleEndian>, p_memsz);

/// An image in which a function does nothing.
pub(super) fn without(image: &[u8], function: &str) -> Result<Vec<u8>> {
    let file = object::File::parse(image).context("the image is no ELF file")?;
    let symbol = file.symbols().find(|symbol| symbol.name() == Ok(function));
    let symbol = symbol.with_context(|| format!("the image has no function {function}"))?;
    let section = symbol.section_index().and_then(|index| file.section_by_index(index).ok());
    let place = section.and_then(|section| {
        let (offset, len_bytes) = section.file_range()?;
        let inside = symbol.address().checked_sub(section.address())?;
        (inside < len_bytes).then(|| usize::try_from(offset + inside).ok())?
    });
    let place = place.with_context(|| format!("the code of {function} is not in the image"))?;
    let mut image = image.to_vec();
    image[place] = RETURN;
    Ok(image)
}

/// An image without some instructions: a section says where each begins and ends, in pairs of addresses.
pub(super) fn without_each(image: &[u8], section: &str) -> Result<Vec<u8>> {
    let file = object::File::parse(image).context("the image is no ELF file")?;
    let places = file.section_by_name(section).with_context(|| format!("the image has no section {section}"))?;
    let (pairs, rest) = places.data().context("a section is not in the image")?.as_chunks::<8>();
    ensure!(!pairs.is_empty() && rest.is_empty(), "section {section} is not one of pairs of addresses");
    let mut changed = image.to_vec();
    for pair in pairs {
        let [begin, end] = [0, 4].map(|at| u32::from_le_bytes([pair[at], pair[at + 1], pair[at + 2], pair[at + 3]]));
        let place = file.sections().find_map(|code| {
            let (offset, len_bytes) = code.file_range()?;
            let inside = u64::from(begin).checked_sub(code.address())?;
            (code.address() > 0 && inside < len_bytes).then(|| usize::try_from(offset + inside).ok())?
        });
        let place = place.with_context(|| format!("the code at {begin:#x} is not in the image"))?;
        let bytes = changed.get_mut(place..place + end.saturating_sub(begin) as usize);
        bytes.context("the image is cut off")?.fill(DO_NOTHING);
    }
    Ok(changed)
}

/// An image whose first segment needs this much memory.
pub(super) fn enlarged(image: &[u8], memory_bytes: u32) -> Result<Vec<u8>> {
    let header = FileHeader32::<LittleEndian>::parse(image).context("the image is no ELF file")?;
    let segments = header.program_headers(LittleEndian, image).context("the image has no segments")?;
    let is_image = |segment: &ProgramHeader32<LittleEndian>| {
        segment.p_type(LittleEndian) == PT_LOAD && segment.p_paddr(LittleEndian) < descriptions::boards::map::RESET
    };
    let index = segments.iter().rposition(is_image).context("the image has no segment")?;
    let field =
        header.e_phoff(LittleEndian) as usize + index * size_of::<ProgramHeader32<LittleEndian>>() + MEMORY_BYTES;
    let mut image = image.to_vec();
    image.get_mut(field..field + 4).context("the image is cut off")?.copy_from_slice(&memory_bytes.to_le_bytes());
    Ok(image)
}

/// Gives a slot of a core's lookup table another entry.
pub(super) fn lut_line(directory: &Path, tile: u32, register: u32, entry: impl Fn(u32) -> u32) -> Result<()> {
    let prefix = format!("{tile:02x} 2 {register:08x} ");
    rewrite(&directory.join("lut_init.dat"), |line| {
        let found = u32::from_str_radix(line.strip_prefix(&prefix)?.trim(), 16).ok()?;
        Some(format!("{prefix}{:08x}", entry(found)))
    })
}

/// Moves a piece of memory in an object, counted from the last one, by a line of 32 bytes.
pub(super) fn origin(file: &Path, from_end: usize) -> Result<()> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let origins = text.lines().rev().filter(|line| line.starts_with(ORIGIN));
    let chosen = origins.into_iter().nth(from_end).context("there are not so many origins")?;
    rewrite(file, |line| {
        let words = u64::from_str_radix(line.strip_prefix(ORIGIN)?.trim(), 16).ok()?;
        (line == chosen).then(|| format!("{ORIGIN}{:08x}", words + 8))
    })
}

/// Takes the jump to its start from the end of the first reset page.
pub(super) fn reset_page(file: &Path) -> Result<()> {
    let mut found = false;
    rewrite(file, |line| {
        let word = |text: &str| u32::from_str_radix(text, 16).ok();
        let is_jump = |text: &&str| text.len() == 8 && word(text).is_some_and(|word| word & 0xFF_FFFF == JUMP);
        let jump = line.split(' ').find(is_jump).filter(|_| !found)?;
        found = true;
        Some(line.replacen(jump, NO_INSTRUCTION, 1))
    })
}

/// Writes a file again with the one line that changes.
fn rewrite(file: &Path, mut change: impl FnMut(&str) -> Option<String>) -> Result<()> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {name}"))?;
    let mut changed = 0;
    let mut rewritten = String::with_capacity(text.len());
    for line in text.lines() {
        let new = change(line);
        changed += usize::from(new.as_deref().is_some_and(|new| new != line));
        rewritten.push_str(new.as_deref().unwrap_or(line));
        rewritten.push('\n');
    }
    ensure!(changed == 1, "{changed} lines of {name} could be damaged, and it should be one");
    fs::write(file, rewritten).with_context(|| format!("cannot write {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use object::{
        Architecture, BinaryFormat, Endianness, SymbolFlags, SymbolKind, SymbolScope,
        write::{Object as Writer, StandardSection, Symbol, SymbolSection},
    };

    #[test]
    fn a_function_of_the_image_becomes_a_return() {
        let mut writer = Writer::new(BinaryFormat::Elf, Architecture::I386, Endianness::Little);
        let text = writer.section_id(StandardSection::Text);
        writer.append_section_data(text, &[0x90; 64], 16);
        writer.add_symbol(Symbol {
            name: b"purge".to_vec(),
            value: 16,
            size: 4,
            kind: SymbolKind::Text,
            scope: SymbolScope::Linkage,
            weak: false,
            section: SymbolSection::Section(text),
            flags: SymbolFlags::None,
        });
        let image = writer.write().unwrap();
        let damaged = without(&image, "purge").unwrap();
        let different: Vec<_> = (0..image.len()).filter(|place| image[*place] != damaged[*place]).collect();
        assert_eq!((image.len(), different.len(), damaged[different[0]]), (damaged.len(), 1, RETURN));
        assert_eq!(&image[different[0] - 16..different[0] + 48], [0x90; 64]);
        assert!(without(&image, "drain").unwrap_err().to_string().contains("no function drain"));
        assert!(without(b"nothing", "purge").is_err());
    }

    #[test]
    fn a_segment_is_enlarged() {
        // An ELF header of 52 bytes, and behind it the headers of a note and of what is loaded.
        let mut image = vec![0; 52 + 2 * 32];
        image[..7].copy_from_slice(&[0x7F, b'E', b'L', b'F', 1, 1, 1]);
        for (place, byte) in [(16, 2), (18, 3), (20, 1), (28, 52), (40, 52), (42, 32), (44, 2), (52, 4), (84, 1)] {
            image[place] = byte;
        }
        let enlarged = enlarged(&image, 0x1234_5678).unwrap();
        assert_eq!(&enlarged[84 + 20..84 + 24], [0x78, 0x56, 0x34, 0x12]);
        assert!(super::enlarged(&image[..52], 1).is_err());
    }

    fn with(name: &str, text: &str) -> (tempfile::TempDir, std::path::PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join(name);
        fs::write(&file, text).unwrap();
        (directory, file)
    }

    #[test]
    fn one_entry_of_a_lookup_table() {
        let (directory, file) = with("lut_init.dat", "00 2 00000800 00000001\n00 2 00001000 00000002\n");
        lut_line(directory.path(), 0, 0x1000, |_| 0x6000).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "00 2 00000800 00000001\n00 2 00001000 00006000\n");
        assert!(
            lut_line(directory.path(), 1, 0x1000, |_| 7)
                .unwrap_err()
                .to_string()
                .starts_with("0 lines of lut_init.dat")
        );
        // The same entry again would be no damage.
        assert!(lut_line(directory.path(), 0, 0x1000, |_| 0x6000).is_err());
    }

    #[test]
    fn one_origin() {
        let (_directory, file) = with("mch_0_0.32.obj", "/origin 00000000\n/origin 7d000000\n00000001\n/eof\n");
        origin(&file, 0).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "/origin 00000000\n/origin 7d000008\n00000001\n/eof\n");
        origin(&file, 1).unwrap();
        assert!(fs::read_to_string(&file).unwrap().starts_with("/origin 00000008\n/origin 7d000008\n"));
        fs::write(&file, "/eof\n").unwrap();
        assert!(origin(&file, 0).is_err());
    }

    #[test]
    fn the_first_reset_page() {
        let text = "/origin 1\n00000001 00f00de9 00000003\n/origin 2\n00f00de9\n/eof\n";
        let (_directory, file) = with("mch_0_0.32.obj", text);
        reset_page(&file).unwrap();
        let damaged = fs::read_to_string(&file).unwrap();
        assert_eq!(damaged, "/origin 1\n00000001 ffffffff 00000003\n/origin 2\n00f00de9\n/eof\n");
    }
}
