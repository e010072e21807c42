//! Finds instructions in an image that a Pentium P54C does not have.
//!
//! QEMU's `-cpu pentium,-mmx` executes some of them all the same (long nops, `fcomi`), so an image that works there may
//! die on the board. What a P54C has is said in the crate `p54c`, for the emulator of boards, too.

use crate::{progress::Progress, symbols, workspace};
use anyhow::{Context, Result, bail, ensure};
use iced_x86::{Decoder, DecoderOptions};
use object::{Object, ObjectSection, ObjectSymbol, SectionFlags, SymbolKind, elf::SHF_EXECINSTR};
use std::{collections::BTreeMap, fs, path::Path};

/// What an image is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Processor {
    P54c,
    /// The core of the SCC, which has one instruction more.
    Scc,
}

/// How many violations are shown.
const SHOWN: usize = 10;

/// An instruction that the processor lacks.
#[derive(Debug, PartialEq, Eq)]
struct Violation {
    address: u64,
    function: String,
    instruction: String,
}

/// Fails on any instruction of an image that the processor lacks.
pub(crate) fn check_image(image: &Path, processor: Processor) -> Result<()> {
    let shown = workspace::display(image);
    let _progress = Progress::new("checking the instructions of the image");
    let file = fs::read(image).with_context(|| format!("cannot read {shown}"))?;
    let (_, violations) = check(&file, processor).with_context(|| format!("cannot check {shown}"))?;
    let Some(first) = violations.first() else { return Ok(()) };
    for violation in violations.iter().take(SHOWN) {
        eprintln!("{:#x}: {} in {}", violation.address, violation.instruction, violation.function);
    }
    bail!(
        "{shown} has {} instructions that a P54C lacks, the first `{}` at {:#x} in {}",
        violations.len(),
        first.instruction,
        first.address,
        first.function
    );
}

/// Counts the instructions of an image and finds those that the processor lacks.
fn check(file: &[u8], processor: Processor) -> Result<(usize, Vec<Violation>)> {
    let file = object::File::parse(file).context("it is no ELF file")?;
    ensure!(file.architecture() == object::Architecture::I386, "it is no image for a 32-bit PC");
    let (mut checked, mut violations) = (0, Vec::new());
    for section in file.sections() {
        let SectionFlags::Elf { sh_flags, .. } = section.flags() else { continue };
        if !sh_flags.contains(SHF_EXECINSTR) {
            continue;
        }
        let bytes = section.data().context("a section is cut short")?;
        let (start, end) = (section.address(), section.address() + bytes.len() as u64);
        let mut names = BTreeMap::from([(start, "")]);
        let mut data = Vec::new();
        for symbol in file.symbols().filter(|symbol| symbol.section_index() == Some(section.index())) {
            let name = symbol.name().unwrap_or_default();
            if symbol.kind() == SymbolKind::Data {
                let after = symbol.address() + symbol.size();
                data.push(symbol.address()..after);
                names.entry(after).or_default();
            }
            if !name.is_empty() {
                names.insert(symbol.address(), name);
            }
        }
        // What stands behind data, or before a function, is not of the same instruction.
        let ends = names.keys().copied().skip(1).chain([end]);
        for ((&from, name), to) in names.iter().zip(ends) {
            if from >= end || data.iter().any(|range| range.contains(&from)) {
                continue;
            }
            let code = &bytes[(from - start) as usize..(to.min(end) - start) as usize];
            checked += walk(code, from, processor, |address, instruction| {
                violations.push(Violation { address, function: symbols::demangled(name), instruction });
            });
        }
    }
    ensure!(checked > 0, "it has no instructions");
    Ok((checked, violations))
}

/// Decodes code at an address, and returns how many instructions it has.
fn walk(code: &[u8], address: u64, processor: Processor, mut refuse: impl FnMut(u64, String)) -> usize {
    let mut decoder = Decoder::with_ip(32, code, address, DecoderOptions::NONE);
    let mut checked = 0;
    while decoder.can_decode() {
        checked += 1;
        let at = decoder.position();
        if processor == Processor::Scc && code[at..].starts_with(&p54c::CL1INVMB) {
            let behind = at + p54c::CL1INVMB.len();
            decoder.set_ip(address + behind as u64);
            // It is within the code.
            let _ = decoder.set_position(behind);
            continue;
        }
        let instruction = decoder.decode();
        if p54c::refusal(&instruction).is_some() {
            let bytes: Vec<_> = code[at..decoder.position()].iter().map(|byte| format!("{byte:02x}")).collect();
            let name = format!("{:?}", instruction.mnemonic()).to_lowercase();
            refuse(address + at as u64, format!("{name} ({})", bytes.join(" ")));
        }
    }
    checked
}

#[cfg(test)]
mod tests {
    use super::*;
    use object::{
        Architecture, BinaryFormat, Endianness, SectionKind, SymbolFlags, SymbolScope,
        write::{Object, Symbol, SymbolSection},
    };

    const LACKING: [u8; 3] = [0x0F, 0x44, 0xC8];

    /// An object file with one section of code, and symbols in it: name, place, size, kind.
    fn file(code: &[u8], symbols: &[(&str, u64, u64, SymbolKind)]) -> Vec<u8> {
        let mut object = Object::new(BinaryFormat::Elf, Architecture::I386, Endianness::Little);
        let section = object.add_section(Vec::new(), b".text".to_vec(), SectionKind::Text);
        object.append_section_data(section, code, 4);
        for &(name, value, size, kind) in symbols {
            object.add_symbol(Symbol {
                name: name.into(),
                value,
                size,
                kind,
                scope: SymbolScope::Compilation,
                weak: false,
                section: SymbolSection::Section(section),
                flags: SymbolFlags::None,
            });
        }
        object.write().unwrap()
    }

    #[test]
    fn a_violation_says_where() {
        let code = [&[0xC3, 0x90, 0x90, 0x90][..], &LACKING, &[0xEB, 0xF7]].concat();
        let symbols = [("_ZN6kernel4mainE", 0, 1, SymbolKind::Text), ("boot_entry", 4, 5, SymbolKind::Text)];
        let (checked, violations) = check(&file(&code, &symbols), Processor::P54c).unwrap();
        assert_eq!(checked, 6);
        let violation = Violation { address: 4, function: "boot_entry".into(), instruction: "cmove (0f 44 c8)".into() };
        assert_eq!(violations, [violation]);
        let (_, violations) = check(&file(&[LACKING, LACKING].concat(), &symbols[..1]), Processor::P54c).unwrap();
        assert_eq!(violations.iter().map(|found| found.function.as_str()).collect::<Vec<_>>(), ["kernel::main"; 2]);
    }

    #[test]
    fn data_among_code_is_no_code() {
        let code = [&[0x90][..], &LACKING, &LACKING].concat();
        let table = [("table", 1, 3, SymbolKind::Data)];
        let (checked, violations) = check(&file(&code, &table), Processor::P54c).unwrap();
        assert_eq!((checked, violations.len(), violations[0].address), (2, 1, 4));
    }

    #[test]
    fn a_board_has_one_more() {
        let code = [&p54c::CL1INVMB[..], &[0x0F, 0x04, 0xC3]].concat();
        let symbols = [("end", 4, 1, SymbolKind::Text)];
        let (checked, violations) = check(&file(&code, &symbols), Processor::Scc).unwrap();
        assert_eq!((checked, violations.len(), violations[0].address), (3, 1, 2));
        assert_eq!(check(&file(&code, &symbols), Processor::P54c).unwrap().1[0].address, 0);
    }

    #[test]
    fn a_file_that_is_no_image_is_refused() {
        let text = tempfile::NamedTempFile::new().unwrap();
        assert!(check_image(text.path(), Processor::P54c).is_err());
        let host = std::env::current_exe().unwrap();
        let message = format!("{:#}", check_image(&host, Processor::P54c).unwrap_err());
        assert!(message.contains("32-bit"), "{message}");
    }
}
