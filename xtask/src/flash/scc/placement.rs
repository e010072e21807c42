//! What lies where in the private memory of a core, which is the same on all cores.

use super::{elf::Image, object::Piece};
use crate::{kernel_line::KernelLine, memory};
use anyhow::{Context, Result, bail, ensure};
use descriptions::boards::{
    Geometry, Module,
    handed::{Setting, block},
    map,
};

/// Tables for all of a 32-bit address space, of which the image needs the smaller part.
const TABLE_BYTES: u64 = (1024 + 1) * map::PAGE_BYTES as u64;

/// The program's stack, unless the command line says otherwise, in KiB.
const STACK_KIB: u64 = 256;

/// The stack that a core starts on, and the pages below that and below the program's, rounded up.
const START_BYTES: u64 = 64 << 10;

/// The least heap that a program gets that does not say what it needs.
const LEAST_HEAP_BYTES: u64 = 1 << 20;

/// An input file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::flash) struct Input {
    /// What the program calls it.
    pub(in crate::flash) name: String,
    pub(in crate::flash) bytes: Vec<u8>,
}

/// What is chosen for the cores of a board.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    pub(super) geometry: Geometry,
    /// Slots of private memory that a core has.
    pub(super) private_slots: u32,
    /// Cores that run the program.
    pub(super) cores: u32,
    pub(super) starts_others: bool,
    /// The heaps that the user has asked for, of every core but the first and of core 0, in KiB.
    pub(super) heaps_kib: [Option<u64>; 2],
    /// The stack that the user has asked for, in KiB.
    pub(super) stack_kib: Option<u64>,
    /// Whether the heap is all that is left, unless the user has asked for another one.
    pub(super) takes_all: bool,
}

/// The private memory of a core.
#[derive(Clone, Debug)]
pub(super) struct Placement {
    pub(super) setting: Setting,
    /// All that is loaded, by address.
    pub(super) pieces: Vec<Piece>,
    /// What the program is told.
    pub(super) command_line: String,
    /// Bytes that a core has room for in its heap at the least.
    pub(super) heap_bytes: u64,
}

/// Finds a place for everything.
///
/// # Errors
/// When there is not enough memory, with the sizes and what can be done.
pub(super) fn place(image: &Image, choice: &Choice, words: &KernelLine, inputs: &[Input]) -> Result<Placement> {
    let private = private_bytes(choice);
    let starts = input_starts(image, choice, inputs)?;
    let first_input = starts.first().copied().unwrap_or(private);
    let heap_end = first_input.min(map::EXPOSED_BYTES.into()).min(private);
    let heap_bytes = heap_bytes(image, choice, heap_end, inputs)?;
    let command_line = with_heaps(words, choice, heap_bytes >> 10, inputs).to_string();
    let setting = Setting {
        cores: choice.cores,
        private_slots: choice.private_slots,
        // Both are addresses below the end of 32-bit private memory.
        heap_end: u32::try_from(heap_end)?,
        image_end: image.end.next_multiple_of(map::PAGE_BYTES),
        starts_others: choice.starts_others.into(),
    };
    let mut modules = Vec::new();
    for (input, start) in inputs.iter().zip(&starts) {
        let len_bytes = u32::try_from(input.bytes.len())?;
        modules.push(Module { name: &input.name, start: u32::try_from(*start)?, len_bytes });
    }
    let handed = block(setting, choice.geometry, &command_line, &modules).with_context(|| {
        format!(
            "the options of the program ({} bytes) and the names of its {} input files are more than the {} KiB there \
             are for them",
            command_line.len(),
            inputs.len(),
            map::HANDED_BYTES >> 10
        )
    })?;
    let mut pieces = vec![
        Piece { what: "what the image is told".into(), address: map::HANDED, bytes: handed },
        Piece { what: "the page of states".into(), address: map::STATUS, bytes: vec![0; map::PAGE_BYTES as usize] },
    ];
    for segment in &image.segments {
        let what = if segment.address == map::RESET { "the reset page" } else { "the image" };
        pieces.push(Piece { what: what.into(), address: segment.address, bytes: segment.bytes.clone() });
    }
    for (input, module) in inputs.iter().zip(&modules) {
        pieces.push(Piece { what: input.name.clone(), address: module.start, bytes: input.bytes.clone() });
    }
    pieces.sort_by_key(|piece| piece.address);
    Ok(Placement { setting, pieces, command_line, heap_bytes })
}

/// What the image lays out behind itself before its heap: a copy of what it writes to, stack, page tables, and room to
/// displace what L2 holds, twice, from a multiple of what a way holds. An upper bound; the image knows better.
fn startup_bytes(image: &Image, choice: &Choice) -> u64 {
    let way_bytes = u64::from(choice.geometry.costs.cache_sets) * u64::from(map::LINE_BYTES);
    let l2_bytes = way_bytes * u64::from(choice.geometry.l2_ways);
    let stack_bytes = choice.stack_kib.unwrap_or(STACK_KIB) << 10;
    image.written_bytes + START_BYTES + stack_bytes + TABLE_BYTES + way_bytes + 2 * l2_bytes
}

/// Bytes of private memory that a core has.
fn private_bytes(choice: &Choice) -> u64 {
    u64::from(choice.private_slots) * u64::from(map::SLOT_BYTES)
}

/// Bytes that input files take, each on pages of its own.
fn input_bytes(inputs: &[Input]) -> u64 {
    inputs.iter().map(|input| (input.bytes.len() as u64).next_multiple_of(map::PAGE_BYTES.into())).sum()
}

/// Where the input files begin: above all that a core can expose if there is room, else at the end.
fn input_starts(image: &Image, choice: &Choice, inputs: &[Input]) -> Result<Vec<u64>> {
    let private = private_bytes(choice);
    let all = input_bytes(inputs);
    let above = u64::from(map::EXPOSED_BYTES);
    let first = if above + all <= private { Some(above) } else { private.checked_sub(all) };
    let Some(mut next) = first.filter(|first| u64::from(image.end) <= *first) else {
        bail!("{}", too_large(image, choice, inputs))
    };
    let mut starts = Vec::new();
    for input in inputs {
        starts.push(next);
        next += input_bytes(std::slice::from_ref(input));
    }
    Ok(starts)
}

/// What is left for a heap.
fn heap_bytes(image: &Image, choice: &Choice, heap_end: u64, inputs: &[Input]) -> Result<u64> {
    let left = heap_end.saturating_sub(u64::from(image.end) + startup_bytes(image, choice));
    if left < LEAST_HEAP_BYTES {
        bail!("{}", too_large(image, choice, inputs));
    }
    if let Some(heap_kib) = choice.heaps_kib.into_iter().flatten().max() {
        ensure!(
            heap_kib <= left >> 10,
            "a heap of {heap_kib} KiB does not fit: behind the image and below {} MiB there are {} KiB",
            heap_end >> 20,
            left >> 10
        );
    }
    Ok(left)
}

/// The program's options with the heaps that it has elsewhere, too, or what there is room for.
fn with_heaps(words: &KernelLine, choice: &Choice, left_kib: u64, inputs: &[Input]) -> KernelLine {
    let bytes = inputs.iter().map(|input| input.bytes.len() as u64).sum();
    let [heap_kib, heap0_kib] = choice.heaps_kib;
    let heap_kib = heap_kib.or(choice.takes_all.then_some(left_kib));
    let [heap_kib, heap0_kib] = memory::heaps(bytes, heap_kib, heap0_kib).map(|kib| kib.min(left_kib));
    words.clone().value("heap_kib", Some(heap_kib)).value("heap0_kib", Some(heap0_kib))
}

/// What needs how much, and what to do.
fn too_large(image: &Image, choice: &Choice, inputs: &[Input]) -> String {
    let image_kib = (u64::from(image.end) - u64::from(map::IMAGE)).div_ceil(1024);
    let others_kib = |choice| (u64::from(map::IMAGE) + startup_bytes(image, choice) + LEAST_HEAP_BYTES) >> 10;
    let with_default_stack = Choice { stack_kib: None, ..*choice };
    let has_room = |choice| image_kib + others_kib(choice) <= u64::from(map::EXPOSED_BYTES >> 10);
    let input_kib = input_bytes(inputs) >> 10;
    let private_mib = private_bytes(choice) >> 20;
    let below_mib = map::EXPOSED_BYTES >> 20;
    let remedy = if !has_room(choice) && has_room(&with_default_stack) {
        "choose a smaller stack_kib="
    } else if !has_room(choice) {
        "make the image smaller"
    } else if inputs.is_empty() {
        "choose more with --memory-gib"
    } else {
        "choose more with --memory-gib, or smaller input"
    };
    let image = if image_kib == 0 { "besides the image".into() } else { format!("the image needs {image_kib} KiB") };
    let stack = choice.stack_kib.map_or_else(String::new, |kib| format!(" with stack_kib={kib}"));
    let others_kib = others_kib(choice);
    format!(
        "too large for the board: {image}, start-up{stack} and the smallest heap {others_kib} KiB, \
         together below {below_mib} MiB, and the input {input_kib} KiB, and each core has {private_mib} MiB; {remedy}"
    )
}

#[cfg(test)]
mod tests {
    use super::{super::elf::made, *};
    use descriptions::boards::{Board, Handed};

    const MIB: u32 = 1 << 20;

    fn choice(private_slots: u32) -> Choice {
        let geometry = Board::built_in("scc").unwrap().mesh().unwrap().geometry;
        Choice {
            geometry,
            private_slots,
            cores: 48,
            starts_others: false,
            heaps_kib: [None; 2],
            stack_kib: None,
            takes_all: false,
        }
    }

    fn input(name: &str, len_bytes: usize) -> Input {
        Input { name: name.into(), bytes: vec![7; len_bytes] }
    }

    fn small() -> Image {
        Image::read(&made::image()).unwrap()
    }

    fn large(memory_bytes: u32) -> Image {
        let page = made::reset_page();
        Image::read(&made::elf(&[(map::IMAGE, b"x", memory_bytes - 1), (map::RESET, &page, 0)])).unwrap()
    }

    #[test]
    fn everything_has_its_place() {
        let inputs = [input("a.pgm", 5000), input("none", 0), input("b", 1)];
        let words = KernelLine::default().value("program", Some("terrain"));
        let placement = place(&small(), &choice(41), &words, &inputs).unwrap();
        let places: Vec<_> =
            placement.pieces.iter().map(|piece| (piece.address, piece.bytes.len(), piece.what.as_str())).collect();
        let block = placement.pieces[0].bytes.len();
        assert_eq!(
            places,
            [
                (map::HANDED, block, "what the image is told"),
                (map::STATUS, 4096, "the page of states"),
                (map::IMAGE, 17, "the image"),
                (map::IMAGE + 0x2010, 4, "the image"),
                (64 * MIB, 5000, "a.pgm"),
                (64 * MIB + 8192, 0, "none"),
                (64 * MIB + 8192, 1, "b"),
                (map::RESET, 4096, "the reset page"),
            ]
        );
        assert!(placement.pieces[1].bytes.iter().all(|byte| *byte == 0));
        let handed = Handed::read(&placement.pieces[0].bytes).unwrap();
        assert_eq!(handed.command_line, "program=terrain heap_kib=4106 heap0_kib=4176");
        assert_eq!(handed.geometry.columns, 6);
        let setting = Setting {
            cores: 48,
            private_slots: 41,
            heap_end: 64 * MIB,
            image_end: map::IMAGE + 0x5000,
            starts_others: 0,
        };
        assert_eq!(handed.setting, setting);
        let modules: Vec<_> = handed.modules().map(|module| (module.name, module.start, module.len_bytes)).collect();
        assert_eq!(modules, [("a.pgm", 64 * MIB, 5000), ("none", 64 * MIB + 8192, 0), ("b", 64 * MIB + 8192, 1)]);
    }

    #[test]
    fn small_memories_have_the_input_at_their_end() {
        let placement = place(&small(), &choice(2), &KernelLine::default(), &[input("a", 5000)]).unwrap();
        assert_eq!(placement.setting.heap_end, 32 * MIB - 8192);
        assert_eq!(placement.pieces[4].address, 32 * MIB - 8192);
        let placement = place(&small(), &choice(4), &KernelLine::default(), &[input("a", 1)]).unwrap();
        assert_eq!(placement.setting.heap_end, 64 * MIB - 4096);
        assert_eq!(place(&small(), &choice(1), &KernelLine::default(), &[]).unwrap().setting.heap_end, 16 * MIB);
    }

    #[test]
    fn heaps_are_those_of_other_machines_or_what_fits() {
        let told = |slots, inputs: &[Input]| place(&small(), &choice(slots), &KernelLine::default(), inputs).unwrap();
        assert_eq!(told(41, &[]).command_line, "heap_kib=4096 heap0_kib=4096");
        let tight = told(1, &[input("a", 7 << 20)]);
        let left_kib = tight.heap_bytes >> 10;
        assert!(left_kib < 4096, "{left_kib}");
        assert_eq!(tight.command_line, format!("heap_kib={left_kib} heap0_kib={left_kib}"));
        let chosen = KernelLine::default().value("heap_kib", Some(9));
        let choice = Choice { heaps_kib: [Some(9), None], ..choice(41) };
        assert_eq!(place(&small(), &choice, &chosen, &[]).unwrap().command_line, "heap_kib=9 heap0_kib=9");
    }

    #[test]
    fn what_does_not_fit_is_refused_with_sizes() {
        let refused = |image: &Image, choice: &Choice, inputs: &[Input]| {
            let message = place(image, choice, &KernelLine::default(), inputs).unwrap_err().to_string();
            assert!(!message.contains('\n'), "{message}");
            message
        };
        let message = refused(&large(15 << 20), &choice(1), &[]);
        assert!(message.contains("image needs 15360 KiB") && message.contains("has 16 MiB; choose more"), "{message}");
        let message = refused(&large(70 << 20), &choice(41), &[]);
        assert!(message.contains("below 64 MiB") && message.ends_with("make the image smaller"), "{message}");
        let message = refused(&small(), &choice(1), &[input("a", 14 << 20)]);
        assert!(message.contains("input 14336 KiB") && message.ends_with("smaller input"), "{message}");
        assert!(refused(&small(), &choice(1), &[input("a", 17 << 20)]).contains("17408 KiB"));
        let message = refused(&small(), &Choice { heaps_kib: [None, Some(64 << 10)], ..choice(41) }, &[]);
        assert!(message.contains("a heap of 65536 KiB does not fit") && message.contains("below 64 MiB"), "{message}");
        // What the user has chosen is named, and not the image where it is the stack.
        let tall = Choice { stack_kib: Some(32 << 10), ..choice(41) };
        let message = refused(&large(30 << 20), &tall, &[]);
        let named = message.contains("start-up with stack_kib=32768 and the smallest heap");
        assert!(named && message.ends_with("choose a smaller stack_kib="), "{message}");
        assert!(refused(&large(70 << 20), &tall, &[]).ends_with("make the image smaller"));
        let long = KernelLine::default().switch(&"x".repeat(70_000), true);
        let message = place(&small(), &choice(41), &long, &[]).unwrap_err().to_string();
        assert!(message.contains("70029 bytes") && message.contains("64 KiB"), "{message}");
    }
}
