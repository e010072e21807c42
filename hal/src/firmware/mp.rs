//! Processors by the tables of Intel's MultiProcessor Specification 1.4, chapter 4, which PCs had before ACPI.

use super::{ApicIds, FIRMWARE_ROM, LOCAL_APIC, Memory};

/// Where the firmware says how many KiB of memory below 1 MiB there are.
const BASE_MEMORY_KIB: u64 = 0x413;

const HEADER_BYTES: u16 = 44;
const PROCESSOR_ENTRY: u8 = 0;
const PROCESSOR_BYTES: u16 = 20;
/// Buses, I/O APICs and the interrupts assigned to them.
const OTHER_ENTRIES: core::ops::RangeInclusive<u8> = 1..=4;
const OTHER_BYTES: u16 = 8;
/// The processor can be used.
const ENABLED: u8 = 1 << 0;

/// The local APICs of all processors that are ready for use, or nothing where no table of them can be trusted.
pub(crate) fn processors(memory: impl Fn(u64) -> Option<u8>) -> Option<ApicIds> {
    let memory = &memory;
    let places = [memory.extended_area(), end_of_base_memory(memory), FIRMWARE_ROM];
    let mut pointers = places.into_iter().flat_map(|place| memory.search(place, *b"_MP_"));
    pointers.find_map(|pointer| {
        let len = memory.u8(pointer + 8)?;
        if len != 1 || !memory.is_whole(pointer, 16) {
            return None;
        }
        match (memory.u8(pointer + 11)?, memory.u32(pointer + 4)?) {
            (0, 0) => None,
            (0, table) => listed(memory, table.into()),
            // One of the default configurations: two processors, which are numbered from 0.
            (1..=7, _) => {
                let mut ids = ApicIds::default();
                (0..2).for_each(|id| ids.add(id));
                Some(ids)
            }
            _ => None,
        }
    })
}

fn end_of_base_memory(memory: &impl Memory) -> core::ops::Range<u64> {
    let end = memory.u16(BASE_MEMORY_KIB).map_or(0, |kib| u64::from(kib) << 10);
    if (0x400..=0xA_0000).contains(&end) { end - 0x400..end } else { 0..0 }
}

/// What a configuration table lists, unless it contradicts itself or the processors' local APICs are elsewhere.
fn listed(memory: &impl Memory, table: u64) -> Option<ApicIds> {
    let len = memory.u16(table + 4)?;
    let is_one = memory.bytes(table)? == *b"PCMP" && len >= HEADER_BYTES && memory.is_whole(table, len.into());
    if !is_one || memory.u32(table + 36)? != LOCAL_APIC {
        return None;
    }
    let entries = memory.u16(table + 34)?;
    let mut ids = ApicIds::default();
    let mut offset = HEADER_BYTES;
    for _ in 0..entries {
        let at = table + u64::from(offset);
        let bytes = match memory.u8(at)? {
            PROCESSOR_ENTRY => PROCESSOR_BYTES,
            kind if OTHER_ENTRIES.contains(&kind) => OTHER_BYTES,
            _ => return None,
        };
        offset = offset.checked_add(bytes).filter(|end| *end <= len)?;
        if bytes == PROCESSOR_BYTES && memory.u8(at + 3)? & ENABLED != 0 {
            ids.add(memory.u8(at + 1)?.into());
        }
    }
    ids.unless_empty()
}
