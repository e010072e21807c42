//! Commands that gdb passes on (`monitor …`): what a core's lookup table, its caches and its MPB are.

use std::fmt::{self, Write};

use descriptions::boards::map::SLOT_BYTES;

use crate::{Chip, System, chip::LINE_BYTES, timed::Timed};

const HELP: &str = "\
lut RANK                 the core's lookup table: entries, and where they lead
lines RANK               what it has in L1, in L2 and in its write-combine buffer of memory that others see
caches RANK ADDRESS      what its caches and memory have of the line that it sees there
mpb RANK LINE [LINES]    lines of its MPB as memory has them, each behind the address at which cores see it
";

/// Obeys a command: says what is asked for.
///
/// # Errors
/// What is wrong with the command.
pub(super) fn tell(timed: &Timed, command: &str) -> Result<String, String> {
    let (name, arguments) = command.trim().split_once(' ').unwrap_or((command.trim(), ""));
    let numbers = arguments.split_whitespace().map(number).collect::<Result<Vec<u32>, _>>()?;
    let chip = &timed.shared().borrow().chip;
    let core = |number: u32| {
        let core = number as usize;
        if timed.look_at(core).is_some() { Ok(core) } else { Err(format!("there is no rank {number}")) }
    };
    match (name, numbers.as_slice()) {
        ("lut", [rank]) => Ok(table(chip, core(*rank)?)),
        ("lines", [rank]) => Ok(lines(chip, core(*rank)?)),
        ("caches", [rank, address]) => caches(timed, chip, core(*rank)?, *address),
        ("mpb", [rank, first]) => mpb(chip, core(*rank)?, *first, 1),
        ("mpb", [rank, first, count]) => mpb(chip, core(*rank)?, *first, *count),
        ("help" | "", _) => Ok(HELP.into()),
        _ => Err(format!("`{command}` means nothing; what there is:\n{HELP}")),
    }
}

/// A number that a user has typed.
fn number(word: &str) -> Result<u32, String> {
    let parsed = match word.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => word.parse(),
    };
    parsed.map_err(|_| format!("`{word}` is no number"))
}

/// A place behind the lookup tables, as a user knows it.
struct Named<'a>(&'a Chip, usize, System);

impl fmt::Display for Named<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(chip, core, place) = *self;
        let geometry = &chip.board().geometry;
        match place {
            System::Mpb { tile, offset } => {
                let rank = tile as u32 * geometry.cores_per_tile + offset / geometry.mpb_bytes;
                write!(out, "MPB of rank {rank}, line {}", offset % geometry.mpb_bytes / LINE_BYTES as u32)
            }
            System::Memory { controller, address } => {
                let begin = chip.translate(core, (geometry.shared_slot + controller as u32) * SLOT_BYTES);
                let offset = match begin {
                    Ok(System::Memory { address: begin, .. }) => address.checked_sub(begin),
                    _ => None,
                };
                match offset.filter(|offset| *offset < u64::from(SLOT_BYTES)) {
                    Some(offset) => write!(out, "shared memory {controller}:{offset:#x}"),
                    None => write!(out, "memory {controller}:{address:#x}"),
                }
            }
            System::Registers { tile, offset } => write!(out, "registers of tile {tile}, {offset:#x}"),
            System::Board { offset } => write!(out, "the board's registers, {offset:#x}"),
        }
    }
}

/// Bytes in words of four; those that a mask has not are left open.
fn hexadecimal(bytes: &[u8], mask: u32) -> String {
    let mut digits = String::new();
    for (place, byte) in bytes.iter().enumerate() {
        if place > 0 && place % 4 == 0 {
            digits.push(' ');
        }
        let _ = if mask >> place & 1 == 1 { write!(digits, "{byte:02x}") } else { write!(digits, "--") };
    }
    digits
}

fn table(chip: &Chip, core: usize) -> String {
    let mut told = String::new();
    for (slot, (entry, leads)) in chip.table(core).enumerate() {
        let address = slot as u32 * SLOT_BYTES;
        // Most slots of most cores were never written; that is no news.
        if let Ok(place) = leads {
            let place = Named(chip, core, place);
            let _ = writeln!(told, "slot {slot:#04x} ({address:#010x}): {entry:#08x}, {place}");
        }
    }
    told
}

/// What a core holds of memory that others see: of its private memory only how much.
fn lines(chip: &Chip, core: usize) -> String {
    let mut told = String::new();
    let mut private = [[0_u32; 2]; 2];
    for held in chip.held(core) {
        let Ok(place) = chip.translate(core, held.physical) else { continue };
        let is_shared = held.is_mpbt || held.physical / SLOT_BYTES >= chip.board().geometry.foreign_slots_end;
        if !is_shared {
            let [lines, modified] = &mut private[usize::from(held.cache == "L2")];
            (*lines, *modified) = (*lines + 1, *modified + u32::from(held.is_modified));
            continue;
        }
        let state = if held.is_modified { ", modified" } else { "" };
        let _ = writeln!(
            told,
            "{}{state}: {}: {}",
            held.cache,
            Named(chip, core, place),
            hexadecimal(&held.bytes, u32::MAX)
        );
        let mut memory = [0; LINE_BYTES];
        if chip.peek_memory(core, held.physical, &mut memory).is_some() && memory != held.bytes {
            let word = if held.is_modified { "is not written back" } else { "is stale" };
            let _ = writeln!(told, "    {word}; memory has {}", hexadecimal(&memory, u32::MAX));
        }
    }
    match chip.combining(core) {
        None => told.push_str("write-combine buffer: empty\n"),
        Some((physical, bytes, mask)) => {
            let place = chip.translate(core, physical).map(|place| Named(chip, core, place).to_string());
            let place = place.unwrap_or_else(|_| format!("{physical:#x}"));
            let _ = writeln!(told, "write-combine buffer: {place}: {}", hexadecimal(&bytes, mask));
        }
    }
    for (name, [lines, modified]) in ["L1", "L2"].into_iter().zip(private) {
        let _ = writeln!(told, "{name}: {lines} lines of private memory, {modified} of them modified");
    }
    told
}

fn caches(timed: &Timed, chip: &Chip, core: usize, address: u32) -> Result<String, String> {
    let look = timed.look_at(core).ok_or("there is no such rank")?;
    let (physical, kind) =
        look.translate(chip, address).ok_or_else(|| format!("rank {core} has no page at {address:#x}"))?;
    let line = Chip::line_of(physical);
    let place = chip.translate(core, line).map_err(|violation| violation.reason().to_owned())?;
    let mut told = format!("{address:#x} is {physical:#x} of the core, {kind:?}: {}\n", Named(chip, core, place));
    for held in chip.held(core).filter(|held| held.physical == line) {
        let state = if held.is_modified { ", modified" } else { "" };
        let _ = writeln!(told, "{}{state}: {}", held.cache, hexadecimal(&held.bytes, u32::MAX));
    }
    if let Some((_, bytes, mask)) = chip.combining(core).filter(|(combined, ..)| *combined == line) {
        let _ = writeln!(told, "write-combine buffer: {}", hexadecimal(&bytes, mask));
    }
    let mut memory = [0; LINE_BYTES];
    match chip.peek_memory(core, line, &mut memory) {
        Some(()) => {
            let _ = writeln!(told, "memory: {}", hexadecimal(&memory, u32::MAX));
        }
        None => told.push_str("no memory: registers\n"),
    }
    Ok(told)
}

fn mpb(chip: &Chip, core: usize, first: u32, count: u32) -> Result<String, String> {
    let geometry = &chip.board().geometry;
    let mut told = String::new();
    for line in first..first.saturating_add(count) {
        let Some((System::Mpb { tile, offset }, bytes)) = chip.mpb_line(core, line) else {
            return if told.is_empty() { Err(format!("an MPB has no line {line}")) } else { Ok(told) };
        };
        let address = (geometry.mpb_slot + tile as u32) * SLOT_BYTES + offset;
        let _ = writeln!(told, "{address:#010x} line {line}: {}", hexadecimal(&bytes, u32::MAX));
    }
    Ok(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_shown_in_words() {
        assert_eq!(hexadecimal(&[1, 2, 3, 4, 0xAB], u32::MAX), "01020304 ab");
        assert_eq!(hexadecimal(&[1, 2, 3, 4, 0xAB], 0b10010), "--02---- ab");
        assert_eq!((number("0x1F"), number("12")), (Ok(31), Ok(12)));
        assert!(number("1F").is_err());
    }
}
