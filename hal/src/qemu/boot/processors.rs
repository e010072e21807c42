//! Which processors the machine has, and which core each of them is.
//!
//! Processors are known by the numbers of their local APICs, which may have gaps and begin anywhere. The one that boots
//! is core 0; the others follow in the order of these numbers, so that a core is the same processor in every run.

use core::{fmt, ptr::with_exposed_provenance};

use heapless::Vec;

use crate::{
    bare::{lapic, options::value_of},
    firmware::{ApicIds, acpi, mp},
    qemu::{
        exit::failure::fail,
        handed::facts::MAX_CORES,
        pc::{apic_ids, fw_cfg},
    },
};

/// Who has told which processors there are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    Acpi,
    MpTable,
    FwCfg,
    /// Nobody: the processor that boots is all that is certain.
    Nobody,
}

impl fmt::Display for Source {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Acpi => "by ACPI",
            Self::MpTable => "by the MP table",
            Self::FwCfg => "by fw_cfg",
            Self::Nobody => "by itself, as no table is there",
        })
    }
}

/// Finds all processors and says how many will be used: all, or as many as the command line says.
///
/// # Safety
/// Paging must be off, and memory below 1 MiB as the firmware has left it.
pub(crate) unsafe fn find(line: &str) -> (usize, Source) {
    // SAFETY: the caller says so.
    let (apic_ids, source) = unsafe { all() };
    let count = match value_of(line, "cores") {
        None => apic_ids.len(),
        Some(text) => match text.parse() {
            Ok(count) if (1..=apic_ids.len()).contains(&count) => count,
            _ => fail(format_args!("`cores={text}`: the machine has {}, found {source}", apic_ids.len())),
        },
    };
    for (core, apic_id) in apic_ids.into_iter().take(count).enumerate() {
        apic_ids::assign(core, apic_id);
    }
    (count, source)
}

/// The local APICs of all processors, in the order of cores.
///
/// # Safety
/// As for [`find`].
unsafe fn all() -> (Vec<u8, MAX_CORES>, Source) {
    let memory = |at: u64| {
        let at = usize::try_from(at).ok().filter(|at| *at < DEVICES)?;
        // SAFETY: paging is off, so that every address is one, and what is not memory reads as anything.
        Some(unsafe { with_exposed_provenance::<u8>(at).read_volatile() })
    };
    let in_order = |ids: ApicIds| ids.in_order(own_apic_id);
    // QEMU's MP table leaves out cores that share a package, so that its own device comes first.
    acpi::processors(memory)
        .and_then(in_order)
        .map(|ids| (ids, Source::Acpi))
        .or_else(|| Some((by_fw_cfg()?, Source::FwCfg)))
        .or_else(|| Some((mp::processors(memory).and_then(in_order)?, Source::MpTable)))
        .unwrap_or_else(|| (Vec::from([0]), Source::Nobody))
}

/// As many processors as fw_cfg says, numbered from 0 on.
fn by_fw_cfg() -> Option<Vec<u8, MAX_CORES>> {
    let count = fw_cfg::cpu_count()?;
    if !(1..=MAX_CORES).contains(&count) {
        fail(format_args!("{count} cores, but at most {MAX_CORES} are possible"));
    }
    Some((0..count as u8).collect())
}

/// Above this are devices of the processor and the chipset, which no table is in.
const DEVICES: usize = 0xFEC0_0000;

/// The local APIC of the calling processor.
fn own_apic_id() -> u8 {
    (lapic::register(lapic::ID).read() >> 24) as u8
}
