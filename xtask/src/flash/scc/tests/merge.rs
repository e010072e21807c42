//! What `sccMerge -m GIB -n CORES -noimage [-lut_default] cores.mt` makes of a list of cores and their object, as facts
//! 1.2 and 2.3 say it. It knows nothing of how the files are written.

use std::{collections::BTreeMap, fmt::Write, fs, path::Path};

/// The files that it writes.
pub(super) struct Merged {
    /// By the route of the controller.
    pub(super) memory: BTreeMap<u64, String>,
    pub(super) luts: String,
}

/// A number in base 10, or in base 16 after `0x`.
fn number(text: &str) -> u64 {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).unwrap(),
        None => text.parse().unwrap(),
    }
}

/// Merges what a directory has.
pub(super) fn merge(
    directory: &Path,
    gib: u64,
    cores_per_controller: u64,
    lut_default: bool,
) -> Result<Merged, String> {
    let private = (64 * gib - 1 - u64::from(lut_default)) / cores_per_controller - 1;
    let shared = cores_per_controller * private;
    let list = fs::read_to_string(directory.join("cores.mt")).unwrap();
    let mut memory: BTreeMap<u64, String> = BTreeMap::new();
    let mut luts = BTreeMap::new();
    for line in list.lines().filter(|line| !line.starts_with('#')) {
        let columns: Vec<_> = line.split_whitespace().collect();
        let [pid, route, side, base, file] = columns[..] else { return Err(format!("invalid entry {line}")) };
        let (pid, route, side, base) = (number(pid), number(route), number(side), number(base));
        if !file.ends_with(".obj") {
            return Err(format!("{file} doesn't have a valid suffix"));
        }
        let (code, boot) = (base * private, base + 64 * gib - cores_per_controller);
        let text = memory.entry(route).or_insert_with(|| "/origin 0\n".into());
        writeln!(text, "/origin {:08x}", code << 22).unwrap();
        for line in fs::read_to_string(directory.join(file)).unwrap().lines() {
            if line.starts_with("/eof") {
                break;
            }
            let Some(word) = line.strip_prefix("/origin ") else {
                writeln!(text, "{line}").unwrap();
                continue;
            };
            let address = u64::from_str_radix(word, 16).map_err(|_| format!("no origin: {line}"))? << 2;
            let address = match address {
                0xFF00_0000.. => address - 0xFF00_0000 + (boot << 24),
                _ if address < private << 24 => address + (code << 24),
                _ => return Err(format!("some code is contained in the forbidden address space: {address:#x}")),
            };
            writeln!(text, "/origin {:08x}", address >> 2).unwrap();
        }
        let others = lut_default.then_some((route, side, shared + 1));
        luts.insert(pid, table(pid, route, side, [private, code, boot, shared], others));
    }
    memory.values_mut().for_each(|text| text.push_str("/eof\n"));
    Ok(Merged { memory, luts: luts.into_values().collect() })
}

/// The lookup table of a core; slots that are for nothing get `others`, or are not written.
fn table(
    pid: u64,
    route: u64,
    side: u64,
    [private, code, boot, shared]: [u64; 4],
    others: Option<(u64, u64, u64)>,
) -> String {
    let tile_at = |x, y| 16 * y + x;
    let own = tile_at(pid / 2 % 6, pid / 12);
    let mut entries: BTreeMap<_, _> =
        others.into_iter().flat_map(|entry| (0..256).map(move |slot| (slot, entry))).collect();
    entries.extend((0..private).map(|slot| (slot, (route, side, code + slot))));
    for (slot, (route, side)) in (0x80..).zip([(0x00, 6), (0x05, 4), (0x20, 6), (0x25, 4)]) {
        entries.insert(slot, (route, side, shared));
    }
    for tile in 0..24 {
        let route = tile_at(tile % 6, tile / 6);
        entries.insert(0xC0 + tile, (route, 3, 0));
        entries.insert(0xE0 + tile, (route, 2, 0));
    }
    entries.insert(0xD8, (own, 3, 0));
    entries.insert(0xF8, (own, 2, 0));
    for (slot, entry) in [(0xF9, (3, 5, 0x100)), (0xFA, (3, 5, 0x200)), (0xFB, (0, 5, 0)), (0xFC, (3, 5, 0x180))] {
        entries.insert(slot, entry);
    }
    entries.insert(0xFF, (route, side, boot));
    let registers = if pid.is_multiple_of(2) { 0x800 } else { 0x1000 };
    let mut text = String::new();
    for (slot, (route, side, block)) in entries {
        let value = route << 13 | side << 10 | block;
        writeln!(text, "{own:02x} 2 {:08x} {value:08x}", registers + 8 * slot).unwrap();
    }
    text
}
