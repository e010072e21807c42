//! Processors by ACPI: the root pointer leads to a table of tables, one of which lists local APICs (MADT).
//!
//! ACPI Specification 6.4, sections 5.2.5 (root pointer), 5.2.7 and 5.2.8 (RSDT, XSDT), 5.2.12 (MADT).

use super::{ApicIds, FIRMWARE_ROM, LOCAL_APIC, MAX_TABLE_BYTES, Memory};

/// Bytes of what every table begins with.
const HEADER_BYTES: u32 = 36;
/// Bytes of an MADT before its list.
const LIST_OFFSET: u32 = 44;

const LOCAL_APIC_ENTRY: u8 = 0;
const LOCAL_APIC_ADDRESS: u8 = 5;
const LOCAL_X2APIC_ENTRY: u8 = 9;
/// The processor can be used. Others could be plugged in, or are broken.
const ENABLED: u32 = 1 << 0;

/// The local APICs of all processors that are ready for use, or nothing where no table of them can be trusted.
pub(crate) fn processors(memory: impl Fn(u64) -> Option<u8>) -> Option<ApicIds> {
    let memory = &memory;
    let places = [memory.extended_area(), FIRMWARE_ROM];
    let mut pointers = places.into_iter().flat_map(|place| memory.search(place, *b"RSD PTR "));
    pointers.find_map(|pointer| listed(memory, madt(memory, pointer)?))
}

/// The MADT to which a root pointer leads.
fn madt(memory: &impl Memory, pointer: u64) -> Option<Table> {
    if !memory.is_whole(pointer, 20) {
        return None;
    }
    // Its second version has a length, a checksum over all, and the address of a table with wider addresses.
    let is_second = memory.u8(pointer + 15)? >= 2;
    let extended = is_second
        .then(|| memory.u32(pointer + 20))
        .flatten()
        .filter(|len| (36..=MAX_TABLE_BYTES).contains(len) && memory.is_whole(pointer, *len))
        .and_then(|_| Table::at(memory, memory.u64(pointer + 24)?, *b"XSDT"));
    let tables = extended.and_then(|root| root.find(memory, 8));
    tables.or_else(|| Table::at(memory, memory.u32(pointer + 16)?.into(), *b"RSDT")?.find(memory, 4))
}

/// A table that is whole.
struct Table {
    at: u64,
    len: u32,
}

impl Table {
    fn at(memory: &impl Memory, at: u64, signature: [u8; 4]) -> Option<Self> {
        let len = memory.u32(at.checked_add(4)?)?;
        let is_one = memory.bytes(at)? == signature
            && (HEADER_BYTES..=MAX_TABLE_BYTES).contains(&len)
            && memory.is_whole(at, len);
        is_one.then_some(Self { at, len })
    }

    /// The MADT in a table of tables with addresses of `address_bytes` bytes.
    fn find(&self, memory: &impl Memory, address_bytes: u32) -> Option<Self> {
        (HEADER_BYTES..self.len).step_by(address_bytes as usize).find_map(|offset| {
            let at = self.at + u64::from(offset);
            let is_inside = offset + address_bytes <= self.len;
            let address = if address_bytes == 8 { memory.u64(at) } else { memory.u32(at).map(u64::from) };
            Self::at(memory, address.filter(|_| is_inside)?, *b"APIC")
        })
    }
}

/// What an MADT lists, unless it contradicts itself or the processors' local APICs are elsewhere.
fn listed(memory: &impl Memory, table: Table) -> Option<ApicIds> {
    if memory.u32(table.at + 36)? != LOCAL_APIC {
        return None;
    }
    let mut ids = ApicIds::default();
    let mut offset = LIST_OFFSET;
    while offset < table.len {
        let at = table.at + u64::from(offset);
        let (kind, len) = (memory.u8(at)?, u32::from(memory.u8(at + 1)?));
        if len < 2 || offset + len > table.len {
            return None;
        }
        match (kind, len) {
            (LOCAL_APIC_ENTRY, 8..) if memory.u32(at + 4)? & ENABLED != 0 => ids.add(memory.u8(at + 3)?.into()),
            (LOCAL_X2APIC_ENTRY, 16..) if memory.u32(at + 8)? & ENABLED != 0 => ids.add(memory.u32(at + 4)?),
            (LOCAL_APIC_ADDRESS, 12..) if memory.u64(at + 4)? != u64::from(LOCAL_APIC) => return None,
            (LOCAL_APIC_ENTRY, ..8) | (LOCAL_X2APIC_ENTRY, ..16) | (LOCAL_APIC_ADDRESS, ..12) => return None,
            _ => {}
        }
        offset += len;
    }
    ids.unless_empty()
}
