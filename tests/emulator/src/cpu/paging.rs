//! From linear to physical addresses, and what kind of memory a page is.

use crate::{PageKind, Violation};

/// Paging is on.
const CR0_PG: u32 = 1 << 31;
/// Caches are not filled.
const CR0_CD: u32 = 1 << 30;
/// Pages that are not writable are not for the kernel, either.
const CR0_WP: u32 = 1 << 16;
/// PTE bit 7 makes a page MPBT.
pub(super) const CR4_MPE: u32 = 1 << 11;

const PRESENT: u32 = 1;
const WRITABLE: u32 = 1 << 1;
/// In a page's entry, that it is MPBT; in a table's, that it is no table but a large page.
const PMB: u32 = 1 << 7;

/// Page fault: the page is there, but not for this.
const FAULT_PROTECTION: u32 = 1;
/// Page fault: it was a store.
const FAULT_WRITE: u32 = 1 << 1;

/// The registers that say how to translate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Control {
    pub(super) cr0: u32,
    pub(super) cr3: u32,
    pub(super) cr4: u32,
}

impl Control {
    /// Kind of memory where no page says otherwise.
    pub(super) fn unpaged(self) -> PageKind {
        if self.cr0 & CR0_CD == 0 { PageKind::WriteBack } else { PageKind::Uncached }
    }

    pub(super) fn is_paged(self) -> bool {
        self.cr0 & CR0_PG != 0
    }
}

/// A page in physical memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Mapped {
    /// Its address.
    pub(super) physical: u32,
    /// How it is accessed.
    pub(super) kind: PageKind,
    /// Whether it may be stored to.
    pub(super) writable: bool,
}

/// Why an address leads nowhere.
#[derive(Debug)]
pub(super) enum Fault {
    /// The core takes a page fault with this error code.
    Page(u32),
    /// The page table says something that is wrong on this chip.
    Wrong(String),
    /// The page table cannot be read.
    Unreadable(Violation),
}

/// Translates the page of a linear address by the tables, whose entries `load` reads.
pub(super) fn walk(
    control: Control,
    linear: u32,
    store: bool,
    mut load: impl FnMut(u32) -> Result<u32, Violation>,
) -> Result<Mapped, Fault> {
    if !control.is_paged() {
        return Ok(Mapped { physical: linear & !0xFFF, kind: control.unpaged(), writable: true });
    }
    let write = if store { FAULT_WRITE } else { 0 };
    let mut read = |address: u32| load(address).map_err(Fault::Unreadable);
    let directory = read((control.cr3 & !0xFFF) + (linear >> 22) * 4)?;
    if directory & PRESENT == 0 {
        return Err(Fault::Page(write));
    }
    if directory & PMB != 0 {
        return Err(Fault::Wrong(format!(
            "{linear:#x} is in a large page ({directory:#x}), which cannot be with MPBT pages"
        )));
    }
    let entry = read((directory & !0xFFF) + (linear >> 12 & 0x3FF) * 4)?;
    if entry & PRESENT == 0 {
        return Err(Fault::Page(write));
    }
    let writable = control.cr0 & CR0_WP == 0 || directory & entry & WRITABLE != 0;
    if store && !writable {
        return Err(Fault::Page(write | FAULT_PROTECTION));
    }
    let kind =
        kind(control, entry).map_err(|why| Fault::Wrong(format!("the page of {linear:#x} ({entry:#x}): {why}")))?;
    Ok(Mapped { physical: entry & !0xFFF, kind, writable })
}

fn kind(control: Control, entry: u32) -> Result<PageKind, &'static str> {
    if entry & PMB != 0 && control.cr4 & CR4_MPE == 0 {
        return Err("is MPBT, which CR4.MPE does not allow");
    }
    match PageKind::from_page_bits(entry)? {
        PageKind::WriteBack => Ok(control.unpaged()),
        kind => Ok(kind),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ON: Control = Control { cr0: CR0_PG | CR0_WP, cr3: 0x1000, cr4: CR4_MPE };

    /// A directory at 0x1000, whose entry 1 leads to a table at 0x2000 with one page.
    fn tables(directory: u32, entry: u32) -> impl FnMut(u32) -> Result<u32, Violation> {
        move |address| match address {
            0x1004 => Ok(directory),
            0x2008 => Ok(entry),
            _ => panic!("nobody should read {address:#x}"),
        }
    }

    fn walked(control: Control, entry: u32, store: bool) -> Result<Mapped, String> {
        walk(control, 0x0040_2345, store, tables(0x2003, entry)).map_err(|fault| format!("{fault:?}"))
    }

    #[test]
    fn pages_have_kinds() {
        let of = |bits: u32| walked(ON, 0x7000 | bits, true).map(|mapped| mapped.kind);
        assert_eq!(of(0x003), Ok(PageKind::WriteBack));
        assert_eq!(of(0x01B), Ok(PageKind::Uncached));
        assert_eq!(of(0x013), Ok(PageKind::Uncached));
        assert_eq!(of(0x08B), Ok(PageKind::Mpbt));
        assert_eq!(of(0x083), Ok(PageKind::MpbtWriteBack));
        assert!(of(0x093).unwrap_err().contains("uncached, too"));
        assert!(of(0x00B).unwrap_err().contains("written through"));
        assert!(walked(Control { cr4: 0, ..ON }, 0x7083, true).unwrap_err().contains("CR4.MPE"));
        let off = Control { cr0: ON.cr0 | CR0_CD, ..ON };
        assert_eq!(walked(off, 0x7003, false).unwrap().kind, PageKind::Uncached);
    }

    #[test]
    fn faults_have_codes() {
        assert_eq!(walked(ON, 0x7000, false).unwrap_err(), "Page(0)");
        assert_eq!(walked(ON, 0x7000, true).unwrap_err(), "Page(2)");
        assert_eq!(walked(ON, 0x7001, true).unwrap_err(), "Page(3)");
        assert!(!walked(ON, 0x7001, false).unwrap().writable);
        assert!(walked(Control { cr0: CR0_PG, ..ON }, 0x7001, true).unwrap().writable);
        assert!(matches!(walk(ON, 0x0040_0000, false, tables(0, 0)), Err(Fault::Page(0))));
        assert!(matches!(walk(ON, 0x0040_0000, false, tables(0x83, 0)), Err(Fault::Wrong(_))));
    }

    #[test]
    fn without_paging_addresses_are_physical() {
        let off = Control { cr0: CR0_CD, cr3: 0, cr4: 0 };
        let mapped = walk(off, 0xFFFF_FFF0, false, |_| unreachable!()).unwrap();
        assert_eq!(mapped, Mapped { physical: 0xFFFF_F000, kind: PageKind::Uncached, writable: true });
    }
}
