//! What a program may promise about an epoch, so that work can be skipped.

use bitflags::bitflags;

bitflags! {
    /// Promises of MPI's `assert` arguments. One that is broken makes data undefined; synchronisation stays in order.
    ///
    /// An epoch that breaks `NO_CHECK` or `NO_PRECEDE` may store to a part whose owner has its view back. Whoever takes a
    /// [slice](hal::LocalView::as_slice) of the part promises that there is none.
    #[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
    pub struct Assertions: u8 {
        /// At START: all targets have posted already, so operations go out without a look for their posts. COMPLETE
        /// takes the posts as always, so that it does not matter whether the target's side says the same, or for how
        /// many epochs.
        const NO_CHECK = 1;
        /// At POST and fences: this rank has not stored to its part since it got the view. Nothing has to be written
        /// back.
        const NO_STORE = 1 << 1;
        /// At POST and fences: nobody will put or accumulate to this rank's part in the epoch that begins. Nothing has
        /// to be invalidated after it.
        const NO_PUT = 1 << 2;
        /// At fences: this rank has not issued operations since the last one.
        const NO_PRECEDE = 1 << 3;
    }
}
