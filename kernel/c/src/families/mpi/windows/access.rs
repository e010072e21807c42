//! How a window is reached: who is meant, and how that rank is told something.

use alloc::rc::Rc;

use kernel::hal::{Act, Core};

use super::{
    super::{
        class::{Class, Fault},
        collective::blocks::Block,
        handles::Handle,
        state::Here,
    },
    Window,
    wire::Word,
};

impl Window {
    /// The rank of the world that is meant; none for `MPI_PROC_NULL`.
    pub(super) fn target(&self, rank: i32) -> Result<Option<usize>, Fault> {
        match usize::try_from(rank) {
            Ok(place) if place < self.comm.size() => Ok(Some(self.comm.group.world_rank(place))),
            Err(_) if rank == super::super::constants::PROC_NULL => Ok(None),
            _ => Err(Fault::new(Class::RANK, alloc::format!("rank {rank} of {}", self.comm.size()))),
        }
    }

    /// What this rank has stored to shared memory is there, and it sees what others have.
    pub(super) fn meet<C: Core>(&self, here: &Here<'_, '_, '_, C>) {
        if let Some(shared) = &self.shared {
            // SAFETY: this is in a call of the window, which has borrowed nothing of the program's and waits for nothing now; 2. and 3. as in
            // `Windows::catch_up`.
            unsafe { shared.meet(here.world.hal()) };
        }
    }

    /// Says something to a rank, with an origin's values behind it.
    ///
    /// # Safety
    /// They are there.
    pub(super) unsafe fn say_with<C: Core>(
        &self,
        here: &Here<'_, '_, '_, C>,
        to: usize,
        word: &Word,
        origin: &Block,
    ) -> Result<(), Fault> {
        here.session.before_waiting();
        // SAFETY: the caller says so.
        Ok(here.world.call_with(self.ends.call(to, word), &unsafe { origin.bytes() })?)
    }

    /// Says something to a rank.
    pub(super) fn say<C: Core>(&self, here: &Here<'_, '_, '_, C>, to: usize, word: &Word) -> Result<(), Fault> {
        Ok(here.world.call(self.ends.call(to, word))?)
    }
}

/// Waits until something is so, answering others; also where there is nothing to wait for, since a rank that goes on asking itself
/// may wait for what another one does to it.
pub(super) fn wait<C: Core>(here: &Here<'_, '_, '_, C>, mut is_so: impl FnMut() -> bool) -> Result<(), Fault> {
    here.session.before_waiting();
    let waited = if is_so() { here.engine.step(false) } else { here.engine.wait(is_so) };
    Ok(waited?)
}

/// Does something with a window, whose error handler hears of what goes wrong.
pub(super) fn on_window<C: Core, R>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    action: impl FnOnce(&Rc<Window>) -> Result<R, Fault>,
) -> Result<R, Fault> {
    action(&here.windows.get(handle)?).map_err(|fault| {
        if fault.class == Class::RMA_SYNC {
            let why = "no epoch allows it here: the calls that begin and end epochs (fence, start and complete, post and wait, lock and \
                       unlock) do not fit";
            here.declare(&Act::Misuses { what: "uses a window", why });
        }
        fault.on_window(handle)
    })
}
