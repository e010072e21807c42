//! What a PC's firmware says about its processors: tables in memory, written by nobody that we know.
//!
//! A table counts only if it is whole: signature, lengths and checksums fit, and it names the processor that reads it.
//! Memory is read byte by byte by a function that may refuse, so that the same code reads a machine's memory and what
//! tests put together.

pub(crate) mod acpi;
pub(crate) mod mp;
#[cfg(test)]
mod tests;

use core::ops::Range;
use heapless::Vec;

/// Processors that can be told apart: the last number of a local APIC means all of them.
pub(crate) const MAX_PROCESSORS: usize = 255;

/// Where every processor sees its own local APIC; a P54C cannot move it.
const LOCAL_APIC: u32 = 0xFEE0_0000;

/// The largest table that is believed.
const MAX_TABLE_BYTES: u32 = 64 << 10;

/// Where a PC's firmware keeps what has to be found without an address.
const FIRMWARE_ROM: Range<u64> = 0xE_0000..0x10_0000;

/// Where the firmware says in which paragraph its extended data area begins.
const EXTENDED_AREA_SEGMENT: u64 = 0x40E;

/// Numbers of local APICs, each one once, in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ApicIds(Vec<u8, MAX_PROCESSORS>);

impl ApicIds {
    /// Adds a number. What no message can be sent to is left out, and what is there already.
    fn add(&mut self, id: u32) {
        let Ok(id) = u8::try_from(id) else { return };
        if let (Err(place), true) = (self.0.binary_search(&id), usize::from(id) < MAX_PROCESSORS) {
            // There is room: 255 numbers are allowed, and none is there twice.
            let _ = self.0.insert(place, id);
        }
    }

    /// The processors in the order of cores: the one that boots is core 0, the others follow in ascending order.
    /// Nothing if the one that boots is not among them. One that is alone may have no number, and is not asked for it.
    pub(crate) fn in_order(mut self, booting: impl FnOnce() -> u8) -> Option<Vec<u8, MAX_PROCESSORS>> {
        if self.0.len() > 1 {
            let place = self.0.binary_search(&booting()).ok()?;
            self.0[..=place].rotate_right(1);
        }
        Some(self.0)
    }

    fn unless_empty(self) -> Option<Self> {
        (!self.0.is_empty()).then_some(self)
    }
}

/// Memory as a function: the byte at a physical address, or nothing where nobody may look.
trait Memory: Fn(u64) -> Option<u8> {
    fn bytes<const N: usize>(&self, at: u64) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        for (offset, byte) in bytes.iter_mut().enumerate() {
            *byte = self(at.checked_add(offset as u64)?)?;
        }
        Some(bytes)
    }

    fn u8(&self, at: u64) -> Option<u8> {
        self(at)
    }

    fn u16(&self, at: u64) -> Option<u16> {
        self.bytes(at).map(u16::from_le_bytes)
    }

    fn u32(&self, at: u64) -> Option<u32> {
        self.bytes(at).map(u32::from_le_bytes)
    }

    fn u64(&self, at: u64) -> Option<u64> {
        self.bytes(at).map(u64::from_le_bytes)
    }

    /// Whether `len` bytes are there and their sum is 0 modulo 256, as that of all these tables has to be.
    fn is_whole(&self, at: u64, len: u32) -> bool {
        let sum =
            (0..u64::from(len)).try_fold(0u8, |sum, offset| Some(sum.wrapping_add(self(at.checked_add(offset)?)?)));
        sum == Some(0)
    }

    /// The paragraphs (16 bytes) of a range that begin with a signature.
    fn search<const N: usize>(&self, range: Range<u64>, signature: [u8; N]) -> impl Iterator<Item = u64> {
        range.step_by(16).filter(move |at| self.bytes(*at) == Some(signature))
    }

    /// The first KiB of the firmware's extended data area, or nothing where there is none.
    fn extended_area(&self) -> Range<u64> {
        let start = self.u16(EXTENDED_AREA_SEGMENT).map_or(0, |segment| u64::from(segment) << 4);
        if (0x400..=0xA_0000 - 0x400).contains(&start) { start..start + 0x400 } else { 0..0 }
    }
}

impl<F: Fn(u64) -> Option<u8>> Memory for F {}
