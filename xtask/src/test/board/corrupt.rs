//! Damage to what `flash` has written, to see that it is noticed.

use anyhow::{Context, Result, ensure};
use object::{Object, ObjectSection, ObjectSymbol};
use std::{fs, path::Path};

/// The instruction `ret`.
const RETURN: u8 = 0xC3;

/// The word that ends with the jump back to the start of a reset page: its bytes are E9 0D F0, and one more.
const JUMP: u32 = 0x00F0_0DE9;

/// An image in which a function does nothing.
///
/// # Errors
///
/// When the image has no such function.
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

/// Gives a slot of a core's lookup table another entry.
///
/// # Errors
///
/// When there is no line for the slot, or more than one.
pub(super) fn lut_line(directory: &Path, tile: u32, register: u32, entry: u32) -> Result<()> {
    let prefix = format!("{tile:02x} 2 {register:08x} ");
    rewrite(&directory.join("lut_init.dat"), |line| line.starts_with(&prefix).then(|| format!("{prefix}{entry:08x}")))
}

/// Moves what a controller's file begins with at some origin by a line of 32 bytes.
///
/// # Errors
///
/// When no core's memory begins at this origin.
pub(super) fn origin(file: &Path, words: u64) -> Result<()> {
    rewrite(file, |line| {
        let found = u64::from_str_radix(line.strip_prefix("/origin ")?.trim(), 16).ok()?;
        (found == words).then(|| format!("/origin {:08x}", found + 8))
    })
}

/// Lets a reset page begin with something else than a jump into itself.
///
/// # Errors
///
/// When the file has no reset page.
pub(super) fn reset_page(file: &Path) -> Result<()> {
    let mut found = false;
    rewrite(file, |line| {
        let word = |text: &str| u32::from_str_radix(text, 16).ok();
        let is_jump = |text: &&str| text.len() == 8 && word(text).is_some_and(|word| word & 0xFF_FFFF == JUMP);
        let jump = line.split(' ').find(is_jump).filter(|_| !found)?;
        found = true;
        Some(line.replacen(jump, "00000000", 1))
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

    fn with(name: &str, text: &str) -> (tempfile::TempDir, std::path::PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join(name);
        fs::write(&file, text).unwrap();
        (directory, file)
    }

    #[test]
    fn one_entry_of_a_lookup_table() {
        let (directory, file) = with("lut_init.dat", "00 2 00000800 00000001\n00 2 00001000 00000002\n");
        lut_line(directory.path(), 0, 0x1000, 0x6000).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "00 2 00000800 00000001\n00 2 00001000 00006000\n");
        assert!(
            lut_line(directory.path(), 1, 0x1000, 7).unwrap_err().to_string().starts_with("0 lines of lut_init.dat")
        );
        // The same entry again would be no damage.
        assert!(lut_line(directory.path(), 0, 0x1000, 0x6000).is_err());
    }

    #[test]
    fn one_origin() {
        let (_directory, file) = with("mch_0_0.32.obj", "/origin 00000000\n/origin 7d000000\n00000001\n/eof\n");
        origin(&file, 0x7d00_0000).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "/origin 00000000\n/origin 7d000008\n00000001\n/eof\n");
        assert!(origin(&file, 0x7d00_0000).is_err());
    }

    #[test]
    fn the_first_reset_page() {
        let text = "/origin 1\n00000001 00f00de9 00000003\n/origin 2\n00f00de9\n/eof\n";
        let (_directory, file) = with("mch_0_0.32.obj", text);
        reset_page(&file).unwrap();
        let damaged = fs::read_to_string(&file).unwrap();
        assert_eq!(damaged, "/origin 1\n00000001 00000000 00000003\n/origin 2\n00f00de9\n/eof\n");
    }
}
