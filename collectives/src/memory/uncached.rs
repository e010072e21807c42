//! Uncached words that several ranks share, for a time.

use hal::{Core, CoreId, Region, kind};

use crate::{Comm, Error, Operator, Placement, collective::reduction};

/// Words that this rank shares with others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SharedWords {
    pub(crate) region: Region<kind::Uncached>,
    pub(crate) is_owner: bool,
}

impl SharedWords {
    /// Gives the words back, if this rank has allocated them. Nobody uses them any more.
    pub(crate) fn free<C: Core>(&self, comm: &Comm<'_, C>) {
        if self.is_owner {
            // They are an allocation, so nothing can go wrong.
            let _ = comm.allocator().free(self.region);
        }
    }
}

impl<C: Core> Comm<'_, C> {
    /// Allocates `words` words, all zero, behind the nearest controller of `owner`, for each set of ranks that name the
    /// same owner, which is one of them; or none for ranks that name none. Collective.
    ///
    /// # Errors
    /// On every rank alike: [`Error::NoSpareLines`], [`Error::PartTooLarge`], [`Error::OutOfSharedMemory`], and
    /// [`Error::RegisterOutOfReach`] if an owner cannot allocate.
    pub(crate) fn share_words(&self, owner: Option<usize>, words: usize) -> Result<Option<SharedWords>, Error> {
        let is_owner = owner == Some(self.rank());
        // Whoever cannot reach one of the registers that guard the heaps cannot reach that of core 0.
        self.agree_on_registers(is_owner.then_some(CoreId::new(0)))?;
        // Each owner says in its own MPB where the words are.
        let line = self.take_spare_lines(1, "where shared words are").ok_or(Error::NoSpareLines { wanted: 1 })?;
        let len_bytes = words * 4;
        let mut refused = [0];
        let mut own = None;
        if is_owner {
            match self.allocator().allocate_zeroed::<kind::Uncached>(len_bytes, Placement::Near(self.hal().core())) {
                Ok(region) => {
                    self.hal().put(bytemuck::bytes_of(&region.to_words()), self.mpb_line(self.rank(), line));
                    self.hal().drain();
                    own = Some(region);
                }
                Err(_) => refused = [len_bytes as u32],
            }
        }
        reduction::allreduce(self, &mut refused, &Operator::MAX)?;
        let [refused] = refused;
        if refused > 0 {
            self.give_back_lines(line, 1);
            own.map_or(Ok(()), |region| self.allocator().free(region))?;
            return Err(self.allocator().refusal(refused as usize));
        }
        self.hal().invalidate_mpb();
        let shared = owner.map(|owner| {
            let told = self.hal().load_line(self.mpb_line(owner, line));
            SharedWords {
                region: self.regions().from_words([0, 1, 2].map(|word| told.word(word))),
                is_owner: own.is_some(),
            }
        });
        self.synchronise();
        self.give_back_lines(line, 1);
        Ok(shared)
    }
}
