//! On the host: all ranks are in one process, and each gets a copy of the program, with statics of its own.
//!
//! A program is a position-independent executable without any libraries, so all that it takes is to map its file once
//! more and to relocate it. The system's loader would take seconds for thousands of copies. Copies lie side by side and never go
//! away: the process ends with the run.

use std::{
    collections::BTreeMap,
    ffi::c_void,
    fs::File,
    io,
    os::fd::AsRawFd,
    ptr,
    sync::{
        Mutex, OnceLock, PoisonError,
        atomic::{
            AtomicBool,
            Ordering::{Acquire, Relaxed, Release},
        },
    },
};

use kernel::{Failure, hal::sim};
use object::{
    Endianness,
    elf::{self, FileHeader64},
    read::elf::{FileHeader, ProgramHeader, Rela, SectionHeader},
};

use crate::entry::{Start, of_malloc};

type Header = FileHeader64<Endianness>;

const PAGE_BYTES: usize = 4096;

/// Bytes of a way of L2: at places that differ by a multiple of it, copies are the same for a core's caches, as the program models them (`spent.c`).
const WAY_BYTES: usize = 64 << 10;

/// A program that can be loaded, and where its copies lie.
struct Image {
    file: File,
    segments: Vec<Segment>,
    /// Where words are, relative to the copy, that are addresses in it: place and what to add.
    relocations: Vec<(usize, usize)>,
    start: usize,
    /// The table that unwinding needs, if there is one.
    frames: Option<usize>,
    /// The first copy, and the distance of copies.
    base: usize,
    stride: usize,
    copies: Vec<Copy>,
}

/// What was done with the place of a copy.
#[derive(Default)]
struct Copy {
    /// A rank runs it.
    runs: AtomicBool,
    /// It was there before.
    made: AtomicBool,
}

/// The right to make and run a copy, which nobody else has while this is there.
struct Taken(&'static Copy);

impl Taken {
    fn new(copy: &'static Copy) -> Option<Self> {
        (!copy.runs.swap(true, Acquire)).then_some(Self(copy))
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.0.runs.store(false, Release);
    }
}

/// A rank's own copy of the program, which is its own as long as this is there.
pub(crate) struct Loaded {
    /// Where it begins.
    pub(crate) start: Start,
    base: usize,
    _taken: Taken,
}

impl Loaded {
    /// What tools call an address of the program's, as reports of the simulator do.
    pub(crate) fn told(&self, address: usize) -> usize {
        address.wrapping_sub(self.base) | sim::LOADED_BASE
    }
}

/// What of the file is where.
struct Segment {
    address: usize,
    offset: usize,
    file_bytes: usize,
    bytes: usize,
    protection: i32,
}

unsafe extern "C" {
    /// Of the library that unwinds: from now on there are frames at these addresses, too.
    fn __register_frame(frames: *const c_void);
}

/// Loads a copy of the program for this rank. In a later run of the process, on as many ranks, the copy is as new and at the same place.
///
/// # Errors
/// The file is none, or another one than before; there are other ranks than before; this rank's copy runs already.
pub(crate) fn load(image: &str, rank: usize, ranks: usize) -> Result<Loaded, Failure> {
    static IMAGE: OnceLock<(String, Result<Image, String>)> = OnceLock::new();
    // What all ranks share is on nobody's account.
    let (path, opened) = sim::off_account(|| IMAGE.get_or_init(|| (image.to_owned(), Image::open(image, ranks))));
    let opened = opened.as_ref().map_err(|why| Failure::new(why).on_all_ranks())?;
    if path != image || rank >= opened.copies.len() {
        return Err(Failure::new("a process runs one program in C, on as many ranks each time").on_all_ranks());
    }
    let image = opened;
    let Some(taken) = Taken::new(&image.copies[rank]) else {
        return Err(Failure::new("the program runs in this process already, as this rank"));
    };
    let base = image.copy(rank).map_err(|error| Failure::new(format_args!("no memory for the program: {error}")))?;
    // SAFETY: the program begins there, and begins with `atoll_start`, which has this signature.
    let start =
        unsafe { std::mem::transmute::<*const c_void, Start>(ptr::with_exposed_provenance(base + image.start)) };
    Ok(Loaded { start, base, _taken: taken })
}

impl Image {
    fn open(path: &str, ranks: usize) -> Result<Self, String> {
        let failed = |error: io::Error| format!("cannot read the program {path}: {error}");
        let file = File::open(path).map_err(failed)?;
        let bytes = std::fs::read(path).map_err(failed)?;
        let mut image =
            Self::parse(file, &bytes).map_err(|why| format!("{path} is no program in C for the host: {why}"))?;
        let end = image.segments.iter().map(|segment| segment.address + segment.bytes).max().unwrap_or(0);
        // A page that nobody may touch is between copies.
        image.stride = (end.next_multiple_of(PAGE_BYTES) + PAGE_BYTES).next_multiple_of(WAY_BYTES);
        let place = map_ways(image.stride * ranks, libc::PROT_NONE);
        image.base = place.map_err(|error| format!("no room for {ranks} programs: {error}"))?;
        image.copies = (0..ranks).map(|_| Copy::default()).collect();
        sim::note_loaded_code(image.base, image.stride, ranks);
        Ok(image)
    }

    fn parse(file: File, bytes: &[u8]) -> Result<Self, String> {
        let text = |error: object::Error| error.to_string();
        let header = Header::parse(bytes).map_err(text)?;
        let endian = header.endian().map_err(text)?;
        let (mut segments, mut frames) = (Vec::new(), None);
        for program in header.program_headers(endian, bytes).map_err(text)? {
            match program.p_type(endian) {
                elf::PT_LOAD => segments.push(Segment::new(program, endian)),
                elf::PT_GNU_EH_FRAME => {
                    // The second byte says that the table's place is relative to the fifth, in 32 bits, as linkers write it.
                    if let Ok([_, 0x1B, _, _, a, b, c, d, ..]) = program.data(endian, bytes) {
                        let distance = i32::from_le_bytes([*a, *b, *c, *d]) as isize;
                        frames = (program.p_vaddr(endian) as usize + 4).checked_add_signed(distance);
                    }
                }
                _ => {}
            }
        }
        let mut relocations = Vec::new();
        for section in header.sections(endian, bytes).map_err(text)?.iter() {
            let Some((entries, _)) = section.rela(endian, bytes).map_err(text)? else { continue };
            for entry in entries {
                if entry.r_type(endian, false) != elf::R_X86_64_RELATIVE {
                    return Err("it has relocations that need another library".into());
                }
                relocations.push((entry.r_offset(endian) as usize, entry.r_addend(endian) as usize));
            }
        }
        let holds = |place: usize| {
            let fits = |segment: &Segment| {
                segment.protection & libc::PROT_WRITE != 0
                    && (segment.address..(segment.address + segment.bytes).saturating_sub(7)).contains(&place)
            };
            segments.iter().any(fits)
        };
        if let Some((place, _)) = relocations.iter().find(|(place, _)| !holds(*place)) {
            return Err(format!("it has a relocation at {place:#x}, where nothing can be written"));
        }
        let start = header.e_entry(endian) as usize;
        Ok(Self { file, segments, relocations, start, frames, base: 0, stride: 0, copies: Vec::new() })
    }

    /// Makes the copy of a rank, which has [taken](Taken) its place, and returns where it begins. If the rank has run before, it is
    /// as new.
    fn copy(&self, rank: usize) -> io::Result<usize> {
        let base = self.base + rank * self.stride;
        for segment in &self.segments {
            let start = base + segment.address;
            let (first, file_end, end) = (start & !(PAGE_BYTES - 1), start + segment.file_bytes, start + segment.bytes);
            if segment.file_bytes > 0 {
                let before = start - first;
                let offset = segment.offset - before;
                map(Some(first), before + segment.file_bytes, segment.protection, Some((&self.file, offset)))?;
            }
            let mapped = if segment.file_bytes > 0 { file_end.next_multiple_of(PAGE_BYTES) } else { first };
            if end > mapped {
                map(Some(mapped), end - mapped, segment.protection, None)?;
            }
            if segment.bytes > segment.file_bytes && segment.file_bytes > 0 {
                let rest = end.min(mapped) - file_end;
                // SAFETY: the rest of a page that was just mapped for this copy, in a segment that is written.
                unsafe { ptr::with_exposed_provenance_mut::<u8>(file_end).write_bytes(0, rest) };
            }
        }
        for (place, addend) in &self.relocations {
            let word = ptr::with_exposed_provenance_mut::<usize>(base + place);
            // SAFETY: `parse` has seen that the word lies in a segment that is written, which was just mapped.
            unsafe { word.write_unaligned(base + addend) };
        }
        let is_new = !self.copies[rank].made.swap(true, Relaxed);
        if let Some(frames) = self.frames.filter(|_| is_new) {
            // SAFETY: the copy stays, and its table ends with a zero, from the last object that it was linked from.
            unsafe { __register_frame(ptr::with_exposed_provenance(base + frames)) };
        }
        Ok(base)
    }
}

impl Segment {
    fn new(program: &elf::ProgramHeader64<Endianness>, endian: Endianness) -> Self {
        let flags = program.p_flags(endian);
        let kinds = [(elf::PF_R, libc::PROT_READ), (elf::PF_W, libc::PROT_WRITE), (elf::PF_X, libc::PROT_EXEC)];
        Self {
            address: program.p_vaddr(endian) as usize,
            offset: program.p_offset(endian) as usize,
            file_bytes: program.p_filesz(endian) as usize,
            bytes: program.p_memsz(endian) as usize,
            protection: kinds.iter().filter(|(flag, _)| flags.contains(*flag)).fold(0, |all, (_, kind)| all | kind),
        }
    }
}

/// Maps memory, or a part of a file from an offset on, at an address that is reserved, or anywhere. What is not touched
/// takes no memory.
fn map(at: Option<usize>, bytes: usize, protection: i32, from: Option<(&File, usize)>) -> io::Result<usize> {
    let (file, offset) = from.map_or((-1, 0), |(file, offset)| (file.as_raw_fd(), offset));
    let mut flags = libc::MAP_PRIVATE | libc::MAP_NORESERVE;
    flags |= if at.is_some() { libc::MAP_FIXED } else { 0 } | if from.is_none() { libc::MAP_ANONYMOUS } else { 0 };
    let place = ptr::with_exposed_provenance_mut(at.unwrap_or(0));
    // SAFETY: a fixed place lies in what was reserved for the copy of a rank that has taken it, and is used by nobody else.
    let start = unsafe { libc::mmap(place, bytes, protection, flags, file, offset as libc::off_t) };
    if start == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(start.expose_provenance()) }
}

/// Maps memory at a multiple of what a way of L2 has. What is mapped before it is never touched.
fn map_ways(bytes: usize, protection: i32) -> io::Result<usize> {
    Ok(map(None, bytes + WAY_BYTES, protection, None)?.next_multiple_of(WAY_BYTES))
}

/// The memory for malloc of this rank, of a heap of `heap_bytes` bytes: start and length. It is as new, and at the same place in each run.
pub(crate) fn heap(heap_bytes: usize, rank: usize) -> (*mut u8, usize) {
    static HEAPS: Mutex<BTreeMap<(usize, usize), usize>> = Mutex::new(BTreeMap::new());
    let bytes = of_malloc(heap_bytes);
    // What all ranks share is on nobody's account.
    let start = sim::off_account(|| {
        let mut heaps = HEAPS.lock().unwrap_or_else(PoisonError::into_inner);
        let before = heaps.get(&(rank, bytes)).copied();
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let start = match before {
            Some(_) => map(before, bytes, protection, None),
            None => map_ways(bytes, protection),
        }?;
        heaps.insert((rank, bytes), start);
        io::Result::Ok(start)
    });
    match start {
        Ok(start) => (ptr::with_exposed_provenance_mut(start), bytes),
        Err(_) => (ptr::null_mut(), 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_that_runs_is_nobody_elses() {
        let copy: &'static Copy = Box::leak(Box::default());
        let taken = Taken::new(copy);
        assert!(taken.is_some() && Taken::new(copy).is_none());
        drop(taken);
        assert!(Taken::new(copy).is_some());
    }
}
