//! The buffers of collective operations: apart or in place, and divided into a block for each rank.

use alloc::vec::Vec;

use super::exchange::Pieces;

/// Stands where a buffer is expected, if what belongs there is in its place in the other buffer already: MPI's
/// `MPI_IN_PLACE`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct InPlace;

/// A buffer apart from the other one, or [`InPlace`]. Slices, arrays and vectors become one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OrInPlace<B> {
    /// A buffer of its own.
    Apart(B),
    /// What belongs there is in its place in the other buffer.
    InPlace,
}

/// A buffer with a block for each rank. Slices, arrays and vectors become one with blocks of equal lengths, rank by rank;
/// [`Pieces::of`] and [`Pieces::of_mut`] make others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Divided<'a, B> {
    pub(crate) buffer: B,
    /// `None` for blocks of equal lengths.
    pub(crate) pieces: Option<Pieces<'a>>,
}

impl<T> OrInPlace<&[T]> {
    /// This buffer, or the other one.
    pub(crate) fn or<'b>(&'b self, other: &'b [T]) -> &'b [T] {
        match self {
            Self::Apart(buffer) => buffer,
            Self::InPlace => other,
        }
    }
}

impl<B> Divided<'_, B> {
    fn equally(buffer: B) -> Self {
        Self { buffer, pieces: None }
    }
}

impl<'a> Pieces<'a> {
    /// These pieces of a buffer to be read.
    pub fn of<T>(self, buffer: &'a [T]) -> Divided<'a, &'a [T]> {
        Divided { buffer, pieces: Some(self) }
    }

    /// These pieces of a buffer to be written.
    pub fn of_mut<T>(self, buffer: &'a mut [T]) -> Divided<'a, &'a mut [T]> {
        Divided { buffer, pieces: Some(self) }
    }

    /// These pieces of the other buffer, which has the operands of a reduction in place.
    pub fn in_place<T>(self) -> Divided<'a, OrInPlace<&'a [T]>> {
        Divided { buffer: OrInPlace::InPlace, pieces: Some(self) }
    }
}

impl<B> From<InPlace> for OrInPlace<B> {
    fn from(_: InPlace) -> Self {
        Self::InPlace
    }
}

impl<B> From<InPlace> for Divided<'_, OrInPlace<B>> {
    fn from(_: InPlace) -> Self {
        Self::equally(OrInPlace::InPlace)
    }
}

impl<'a, T> From<Divided<'a, &'a [T]>> for OrInPlace<Divided<'a, &'a [T]>> {
    fn from(divided: Divided<'a, &'a [T]>) -> Self {
        Self::Apart(divided)
    }
}

impl<'a, T> From<Divided<'a, &'a [T]>> for Divided<'a, OrInPlace<&'a [T]>> {
    fn from(Divided { buffer, pieces }: Divided<'a, &'a [T]>) -> Self {
        Self { buffer: OrInPlace::Apart(buffer), pieces }
    }
}

/// Makes slices, arrays and vectors what operations take.
macro_rules! take {
    ($($made:ty, ($($of:tt)+), $make:expr;)*) => {$(
        impl<'a, T> From<$($of)+ [T]> for $made {
            fn from(buffer: $($of)+ [T]) -> Self {
                $make(buffer)
            }
        }

        impl<'a, T, const LEN: usize> From<$($of)+ [T; LEN]> for $made {
            fn from(buffer: $($of)+ [T; LEN]) -> Self {
                $make(buffer)
            }
        }

        impl<'a, T> From<$($of)+ Vec<T>> for $made {
            fn from(buffer: $($of)+ Vec<T>) -> Self {
                $make(buffer)
            }
        }
    )*};
}

take! {
    OrInPlace<&'a [T]>, (&'a), Self::Apart;
    OrInPlace<&'a mut [T]>, (&'a mut), Self::Apart;
    Divided<'a, &'a [T]>, (&'a), Self::equally;
    Divided<'a, &'a mut [T]>, (&'a mut), Self::equally;
    OrInPlace<Divided<'a, &'a [T]>>, (&'a), |buffer| Self::Apart(Divided::equally(buffer));
    Divided<'a, OrInPlace<&'a [T]>>, (&'a), |buffer| Self::equally(OrInPlace::Apart(buffer));
}
