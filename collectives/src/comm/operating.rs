//! What a communicator of some ranks does before and after a collective operation, because its lines are lent.
//!
//! One that has no lines of its own gets the first staging buffer for each operation. Its members come together before, so
//! that all of them have left whatever else they were in, with their cells cleared; and after it, so that nobody uses the lines any
//! more. One that has lines of its own gets that buffer only for what does not fit these: see the [sequence](crate::mpb::sequence), where
//! its members come together before tagged data goes there, and after other data did.

use core::cell::Cell;

use hal::{LINE_BYTES, Messenger};

use crate::Comm;

/// How many operations this rank is in, one within the other.
#[derive(Default)]
struct Depth(Cell<u32>);

impl<C: Messenger> Comm<'_, C> {
    /// Carries out a collective operation, which may use the lines of the [sequence](crate::mpb::sequence).
    #[inline]
    pub(crate) fn operate<R>(&self, operation: impl FnOnce() -> R) -> R {
        if self.is_part() {
            self.enter();
        }
        let result = operation();
        if self.is_part() {
            self.leave();
        }
        result
    }

    #[cold]
    fn enter(&self) {
        let depth = &self.state::<Depth>().0;
        depth.set(depth.get() + 1);
        if depth.get() > 1 {
            return;
        }
        self.refresh_mpb_layout();
        let layout = self.mpb_layout();
        if !layout.has_own_lines() {
            let cells = layout.cells();
            let own = self.mpb_line(self.rank(), cells.start);
            self.hal().put_made(cells.len() * LINE_BYTES, own, |_, bytes| bytes.fill(0));
            self.sequence().staging_is_raw();
            self.first_buffer_is_raw(usize::MAX);
            self.synchronise();
        }
    }

    #[cold]
    fn leave(&self) {
        let depth = &self.state::<Depth>().0;
        depth.set(depth.get() - 1);
        if depth.get() == 0 && (self.sequence().return_lines() || !self.mpb_layout().has_own_lines()) {
            self.synchronise();
        }
    }
}
