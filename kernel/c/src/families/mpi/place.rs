//! Places of the program's, where a function gives something back.

/// A place of the program's for one value, as an argument of a function of the table: a pointer in C. There are no others: whoever has
/// one may write there, and read what the program has there, while the function runs and as long as what it begins goes on.
#[repr(transparent)]
pub(crate) struct Place<T>(*mut T);

impl<T> Clone for Place<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Place<T> {}

impl<T: Copy> Place<T> {
    /// Gives the program a value.
    pub(crate) fn write(self, value: T) {
        // SAFETY: only C makes places, for calls of the table, and the standard of MPI has it that the program's pointers are to values
        // of its own, to which no reference of this side's leads.
        unsafe { self.0.write(value) }
    }

    /// What the program has there.
    pub(crate) fn read(self) -> T {
        // SAFETY: as above.
        unsafe { self.0.read() }
    }
}
