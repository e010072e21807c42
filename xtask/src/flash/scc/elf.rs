//! What of an image has to be in a core's memory, as its ELF file says.

use anyhow::{Context, Result, bail, ensure};
use descriptions::boards::map;
use object::{
    Endianness,
    elf::{EM_386, ET_EXEC, FileHeader32, PF_W, PT_LOAD},
    read::elf::{FileHeader, ProgramHeader},
};

/// Offset in the reset page of the first instruction of a core, which is fetched 16 bytes below 4 GB.
const FIRST_INSTRUCTION: usize = 0xFF0;

/// That instruction: a jump to the page's first byte (`hal::hardware`, Reset).
const JUMP: [u8; 3] = [0xE9, 0x0D, 0xF0];

/// Bytes at a physical address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) address: u32,
    /// What is loaded; memory that the image clears itself is not in it.
    pub(super) bytes: Vec<u8>,
}

/// An image for boards.
#[derive(Clone, Debug)]
pub(super) struct Image {
    /// In the order of their addresses; the last one is the reset page.
    pub(super) segments: Vec<Segment>,
    /// Where the image's memory ends, with what it clears itself, but without the reset page.
    pub(super) end: u32,
    /// Bytes of what is loaded and written to later, of which the image keeps a copy.
    pub(super) written_bytes: u64,
}

impl Image {
    /// An image of no bytes: what does not fit beside it fits beside none.
    pub(super) fn nothing() -> Self {
        Self { segments: Vec::new(), end: map::IMAGE, written_bytes: 0 }
    }

    /// Takes an ELF file apart.
    pub(super) fn read(file: &[u8]) -> Result<Self> {
        let parts = parts(file)?;
        let (reset, parts): (Vec<_>, Vec<_>) = parts.into_iter().partition(|part| part.segment.address == map::RESET);
        let [Part { segment: reset, memory_bytes, .. }] = &reset[..] else {
            bail!("the image has no page at {:#x}, where a core starts: it is not linked for boards", map::RESET)
        };
        ensure!(
            *memory_bytes == u64::from(map::PAGE_BYTES)
                && reset.bytes.len() == map::PAGE_BYTES as usize
                && reset.bytes[FIRST_INSTRUCTION..].starts_with(&JUMP),
            "the image's page at {:#x} does not end in a jump to its first byte",
            map::RESET
        );
        let mut end = u64::from(map::IMAGE);
        for Part { segment, memory_bytes, .. } in &parts {
            let start = u64::from(segment.address);
            ensure!(
                start >= end,
                "the image has something at {start:#x}, where only what follows {end:#x} can be its own"
            );
            end = start + memory_bytes;
            // The end of this kind of memory depends on the board, but this is beyond every board's.
            ensure!(end <= u64::from(map::RESET), "the image goes on to {end:#x}, beyond all private memory");
        }
        let written = parts.iter().filter(|part| part.is_written);
        let written_bytes = written.map(|part| part.segment.bytes.len() as u64).sum();
        let mut segments: Vec<_> = parts.into_iter().map(|part| part.segment).collect();
        segments.retain(|segment| !segment.bytes.is_empty());
        ensure!(!segments.is_empty(), "the image has nothing to load");
        segments.push(reset.clone());
        // It is no more than the address of the reset page.
        Ok(Self { segments, end: u32::try_from(end)?, written_bytes })
    }
}

/// A segment with the memory that it takes.
struct Part {
    segment: Segment,
    memory_bytes: u64,
    is_written: bool,
}

/// All that is to be loaded, by address.
fn parts(file: &[u8]) -> Result<Vec<Part>> {
    let damaged = "the image is no whole ELF file of 32 bits";
    let header = FileHeader32::<Endianness>::parse(file).context(damaged)?;
    let endian = header.endian().context(damaged)?;
    ensure!(
        header.e_machine(endian) == EM_386 && header.e_type(endian) == ET_EXEC,
        "the image is not an executable for a 32-bit x86 processor"
    );
    let mut parts = Vec::new();
    for program in header.program_headers(endian, file).context(damaged)? {
        if program.p_type(endian) == PT_LOAD && program.p_memsz(endian) != 0 {
            let bytes = program.data(endian, file).ok().context(damaged)?.to_vec();
            let memory_bytes = u64::from(program.p_memsz(endian)).max(bytes.len() as u64);
            let segment = Segment { address: program.p_paddr(endian), bytes };
            parts.push(Part { segment, memory_bytes, is_written: program.p_flags(endian).contains(PF_W) });
        }
    }
    parts.sort_by_key(|part| part.segment.address);
    Ok(parts)
}

/// ELF files made by hand.
#[cfg(test)]
pub(super) mod made {
    use super::*;
    use object::{
        elf::{ELFOSABI_NONE, FileFlags, PF_R, PF_X},
        write::elf::{FileHeader as NewHeader, ProgramHeader as NewProgram, Writer},
    };

    /// A page that begins with a `nop` and has the jump.
    pub(in crate::flash) fn reset_page() -> Vec<u8> {
        let mut page = vec![0xF4; map::PAGE_BYTES as usize];
        page[0] = 0x90;
        page[FIRST_INSTRUCTION..][..JUMP.len()].copy_from_slice(&JUMP);
        page
    }

    /// An executable of these segments: physical address, bytes, and bytes in memory beyond them. Segments that have
    /// such are written to.
    pub(in crate::flash) fn elf(segments: &[(u32, &[u8], u32)]) -> Vec<u8> {
        let mut file = Vec::new();
        let mut writer = Writer::new(Endianness::Little, false, &mut file);
        writer.reserve_file_header();
        writer.reserve_program_headers(segments.len() as u32);
        let offsets: Vec<_> = segments.iter().map(|(_, bytes, _)| writer.reserve(bytes.len() as u64, 16)).collect();
        let header = NewHeader {
            os_abi: ELFOSABI_NONE,
            abi_version: 0,
            e_type: ET_EXEC,
            e_machine: EM_386,
            e_entry: u64::from(map::IMAGE),
            e_flags: FileFlags(0),
        };
        writer.write_file_header(&header).unwrap();
        for ((address, bytes, beyond), offset) in segments.iter().zip(&offsets) {
            let bytes = bytes.len() as u64;
            writer.write_program_header(&NewProgram {
                p_type: PT_LOAD,
                p_flags: if *beyond == 0 { PF_R | PF_X } else { PF_R | PF_W },
                p_offset: *offset,
                // What counts is the physical address.
                p_vaddr: u64::from(!address),
                p_paddr: u64::from(*address),
                p_filesz: bytes,
                p_memsz: bytes + u64::from(*beyond),
                p_align: 16,
            });
        }
        for ((_, bytes, _), offset) in segments.iter().zip(&offsets) {
            writer.pad_until(*offset);
            writer.write(bytes);
        }
        file
    }

    /// A small image that is right.
    pub(in crate::flash) fn image() -> Vec<u8> {
        elf(&[
            (map::RESET, &reset_page(), 0),
            (map::IMAGE, b"text of the image", 0),
            (map::IMAGE + 0x2010, b"data", 0x1FF0),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::{
        made::{elf, image, reset_page},
        *,
    };

    #[test]
    fn segments_are_where_they_are_loaded() {
        let image = Image::read(&image()).unwrap();
        let found: Vec<_> = image.segments.iter().map(|segment| (segment.address, segment.bytes.len())).collect();
        assert_eq!(found, [(map::IMAGE, 17), (map::IMAGE + 0x2010, 4), (map::RESET, 4096)]);
        assert_eq!(image.segments[1].bytes, b"data");
        assert_eq!((image.end, image.written_bytes), (map::IMAGE + 0x4004, 4));
    }

    #[test]
    fn memory_without_content_counts_but_is_not_loaded() {
        let page = reset_page();
        let file = elf(&[(map::IMAGE, b"x", 0), (map::IMAGE + 0x1000, b"", 0x1000), (map::RESET, &page, 0)]);
        let image = Image::read(&file).unwrap();
        assert_eq!((image.segments.len(), image.end), (2, map::IMAGE + 0x2000));
    }

    #[test]
    fn what_is_no_image_for_boards_is_refused_in_one_line() {
        let page = reset_page();
        let mut other_jump = page.clone();
        other_jump[FIRST_INSTRUCTION] = 0xEA;
        let mut other_machine = image();
        other_machine[18] = 62;
        for (file, reason) in [
            (Vec::new(), "no whole ELF file"),
            (b"\x7fELF nothing else".to_vec(), "no whole ELF file"),
            (image()[..200].to_vec(), "no whole ELF file"),
            (other_machine, "not an executable for a 32-bit x86"),
            (elf(&[(map::IMAGE, b"x", 0)]), "no page at 0xfffff000"),
            (elf(&[(map::IMAGE, b"x", 0), (map::RESET, &page[..4095], 0)]), "does not end in a jump"),
            (elf(&[(map::IMAGE, b"x", 0), (map::RESET, &other_jump, 0)]), "does not end in a jump"),
            (elf(&[(map::RESET, &page, 0)]), "nothing to load"),
            (elf(&[(map::IMAGE - 1, b"x", 0), (map::RESET, &page, 0)]), "at 0xfffff, where only what follows 0x100000"),
            (elf(&[(map::IMAGE, b"xy", 0), (map::IMAGE + 1, b"z", 0), (map::RESET, &page, 0)]), "follows 0x100002"),
            (elf(&[(map::IMAGE, b"x", u32::MAX - 1), (map::RESET, &page, 0)]), "beyond all private memory"),
        ] {
            let message = format!("{:#}", Image::read(&file).expect_err(reason));
            assert!(message.contains(reason) && !message.contains('\n'), "{message}");
        }
    }
}
