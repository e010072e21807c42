//! Private memory that is exposed, and other cores' that is mapped.

use core::{mem::ManuallyDrop, ptr::NonNull};

use crate::{
    Caches, CoreId, Exposable, Expose, ExposeError, Exposure, Home, MapError, Region, Returned, SharedAddress,
    Topology,
    exposed::ExposureHost,
    kind::{self, Kind},
};

use super::{
    Account, HardwareCore, Slot,
    exposures::Exposures,
    hardware::{Hardware, Hooks},
    mappings::Asked,
    terms::Expense,
    tracing::NotingOperations,
};

impl<H: Hardware> ExposureHost for HardwareCore<H> {
    unsafe fn conceal(&self, caches: &mut Caches, region: Region<kind::Cached>) -> Result<(), CoreId> {
        let _operation = self.operation();
        self.end_its_slices(caches);
        let start = region.start();
        assert!(!self.hardware.account().views.overlap(region), "a local view is left of {start}, whose exposure ends");
        self.push_out();
        let _span = self.hardware.hardware_span("flush", None::<CoreId>, region.len_bytes());
        self.flush(region);
        self.hardware.conceal(region)?;
        self.hardware.account().exposures.borrow_mut().remove(start.offset(), region.len_bytes());
        Ok(())
    }
}

impl<H: Hardware> Expose for HardwareCore<H> {
    fn expose<M: Exposable>(
        &self,
        caches: &mut Caches,
        mut memory: M,
    ) -> Result<Exposure<'_, M>, Returned<ExposeError, M>> {
        let _operation = self.operation();
        self.end_its_slices(caches);
        let bytes = NonNull::from(memory.bytes());
        let (start, len_bytes) = (bytes.cast::<u8>(), bytes.len());
        let address = start.as_ptr().expose_provenance();
        let placed = Exposures::whole_lines(address, len_bytes).and_then(|()| {
            let mut exposures = self.hardware.account().exposures.borrow_mut();
            if H::EXPOSES_IN_PLACE {
                exposures.insert(address, len_bytes).map(|()| address)
            } else {
                exposures.place(len_bytes)
            }
        });
        let offset = match placed {
            Ok(offset) => offset,
            Err(error) => return Err(Returned { error, taken: memory }),
        };
        let region = Region::new(SharedAddress::exposed(self.core(), offset), len_bytes);
        // Should the hardware panic with others reaching it already, it stays.
        let memory = ManuallyDrop::new(memory);
        // SAFETY: the memory is `Exposable`, and the exposure lets nobody reach it before it has been concealed.
        unsafe { self.hardware.expose(region, start) };
        // SAFETY: 1. just exposed as this region, of as many bytes; 2. concealed by this core only, and by nothing else.
        let exposure = unsafe { Exposure::new(self, ManuallyDrop::into_inner(memory), region) };
        let _span = self.hardware.hardware_span("flush", None::<CoreId>, len_bytes);
        self.count_flush(region);
        Ok(exposure)
    }

    fn map(&self, region: Region<kind::Combined>) -> Result<(), MapError> {
        let _operation = self.operation();
        match region.start().home() {
            Home::Core(core) if core.index() >= self.layout().cores() => Err(MapError::NoSuchCore { core }),
            Home::Core(owner) if owner != self.core() => {
                map(&self.hardware, region);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn mapped_slots(&self) -> usize {
        self.undisturbed(|| self.hardware.account().mappings.borrow().capacity())
    }

    fn let_go(&self, region: Region<kind::Combined>) {
        let _operation = self.operation();
        if let Some(foreign) = Account::foreign(self, region) {
            self.hardware.account().pushed_out();
            self.hardware.let_go(foreign);
        }
    }

    fn unmap(&self, region: Region<kind::Combined>) {
        let _operation = self.operation();
        self.let_go(region);
        for slot in Slot::all_of(region) {
            let was_mapped = self.hardware.account().mappings.borrow_mut().remove(slot);
            if was_mapped {
                self.hardware.forget_slot(slot);
            }
        }
    }
}

/// Points slots of a core's lookup table at a region of another core's memory, unless there are some that point at it.
///
/// # Panics
/// If the core has no slots for other cores' memory.
pub fn map<K: Kind>(hardware: &impl Hardware, region: Region<K>) {
    let account = hardware.account();
    for slot in Slot::all_of(region) {
        let mut mappings = account.mappings.borrow_mut();
        let Asked::New(given_up) = mappings.ask(slot) else { continue };
        if let Some(given_up) = given_up {
            hardware.forget_slot(given_up);
        }
        let place = mappings.place(slot).expect("it was just given one");
        account.counting().mappings.add(1);
        hardware.hooks().spend(Expense::MapSlot);
        hardware.map_slot(slot, place);
    }
}
