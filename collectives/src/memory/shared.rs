//! Memory that ranks share by allocating it together.

use alloc::{vec, vec::Vec};

use hal::{Core, CoreId, LINE_BYTES, Region, kind};

use crate::{
    Broadcast, Comm, Error, Placement,
    collective::{
        call::{Call, Collective},
        lengths::check_len,
    },
};

/// What the rank that allocates tells all others in place of a region that it could not allocate.
const NOTHING: [u32; 3] = [u32::MAX; 3];

impl<C: Core> Comm<'_, C> {
    /// The rank that allocates for all, and frees: rank 0, or where registers do not reach everywhere the first one of the first
    /// domain.
    ///
    /// # Errors
    /// On all ranks alike: [`Error::RegisterOutOfReach`] if no rank is in the first domain.
    pub fn allocating_rank(&self) -> Result<usize, Error> {
        let first = (0..self.size()).find(|rank| self.allocator().can_allocate(self.core_of(*rank)));
        first.ok_or_else(|| Error::RegisterOutOfReach { core: self.core_of(0), register: CoreId::new(0) })
    }

    /// Allocates memory that all ranks reach, with any contents, rounded up to whole lines. Collective; all ranks name the
    /// same length and placement and get the same region.
    ///
    /// [One rank](Self::allocating_rank) allocates for all: so addresses do not depend on who comes first, and the heaps' registers
    /// need not be within reach of anybody else. It also [frees](crate::SharedAllocator::free) the region, when no rank uses it any
    /// more and no cache holds lines of it.
    ///
    /// What ranks do with the region they have to agree on: it is mapped as each of them likes, nothing orders their
    /// accesses, and their views may overlap. Whoever takes a slice promises that nobody stores there, see
    /// [what may be relied on](hal::soundness). A [`Window`](crate::Window) has protocols for all that.
    ///
    /// # Errors
    /// On all ranks alike: [`Error::PartTooLarge`], [`Error::OutOfSharedMemory`], [`Error::RegisterOutOfReach`] if no rank is in the
    /// first domain, and [`Error::CallsDiffer`] while calls are [compared](Comm::check_arguments). [`Error::Length`], in bytes, on
    /// a rank that names another length than the one that allocates.
    pub fn share<K: kind::Kind>(&self, len_bytes: usize, placement: Placement) -> Result<Region<K>, Error> {
        let shared = self.allocate_for_all(&[(len_bytes, placement)], false)?;
        Ok(shared[0])
    }

    /// Like [`share`](Self::share), with zeros in memory.
    ///
    /// # Errors
    /// As `share`.
    pub fn share_zeroed<K: kind::Kind>(&self, len_bytes: usize, placement: Placement) -> Result<Region<K>, Error> {
        let shared = self.allocate_for_all(&[(len_bytes, placement)], true)?;
        Ok(shared[0])
    }

    /// Like [`share`](Self::share), for several regions at once: one for each length and placement. If there is no room
    /// for one of them, nothing stays allocated.
    ///
    /// # Errors
    /// As `share`.
    pub fn share_all<K: kind::Kind>(&self, parts: &[(usize, Placement)]) -> Result<Vec<Region<K>>, Error> {
        self.allocate_for_all(parts, false)
    }

    fn allocate_for_all<K: kind::Kind>(
        &self,
        parts: &[(usize, Placement)],
        zeroed: bool,
    ) -> Result<Vec<Region<K>>, Error> {
        self.check_call(|| {
            let lengths = || parts.iter().map(|(len_bytes, _)| *len_bytes);
            let all = lengths().fold(0, usize::saturating_add);
            Call::new(Collective::Share).of::<u8>().len(all).each(lengths())
        })?;
        let (owner, mut told) = (self.allocating_rank()?, vec![NOTHING; parts.len()]);
        if self.rank() == owner {
            for (told, (len_bytes, placement)) in told.iter_mut().zip(parts) {
                let Ok(region) = self.allocator().allocate::<K>(*len_bytes, *placement) else { break };
                if zeroed {
                    self.allocator().clear(region);
                }
                *told = region.to_words();
            }
        }
        Broadcast::Default.broadcast(self, &mut told, owner)?;

        let allocated = told.iter().take_while(|words| **words != NOTHING);
        let allocated: Vec<Region<K>> = allocated.map(|words| self.regions().from_words(*words)).collect();
        for (region, (len_bytes, _)) in allocated.iter().zip(parts) {
            check_len(region.len_bytes(), len_bytes.next_multiple_of(LINE_BYTES))?;
        }
        let Some((len_bytes, _)) = parts.get(allocated.len()) else { return Ok(allocated) };
        if self.rank() == owner {
            allocated.into_iter().try_for_each(|region| self.allocator().free(region))?;
        }
        Err(self.allocator().refusal(*len_bytes))
    }
}
