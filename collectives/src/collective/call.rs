//! A call of a collective operation in a few words, as far as all ranks have to name the same.

use core::{any::TypeId, fmt, hash::Hash};

use crate::{
    Combine,
    collective::element::OPERATORS,
    digest::{Digest, ELEMENTS},
};
use bytemuck::Pod;

macro_rules! collectives {
    ($($name:ident $text:literal),* $(,)?) => {
        /// What is called.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum Collective { $($name),* }

        const COLLECTIVES: &[&str] = &[$($text),*];
    };
}

collectives! {
    Barrier "barrier",
    Broadcast "broadcast",
    Reduce "reduce",
    Allreduce "allreduce",
    ReduceScatter "reduce_scatter",
    Scan "scan",
    Exscan "exscan",
    Gather "gather",
    GatherPieces "gather in pieces",
    Scatter "scatter",
    ScatterPieces "scatter in pieces",
    Allgather "allgather",
    AllgatherPieces "allgather in pieces",
    Alltoall "alltoall",
    AlltoallPieces "alltoall in pieces",
    StartBarrier "start_barrier",
    StartBroadcast "start_broadcast",
    StartReduce "start_reduce",
    StartAllreduce "start_allreduce",
    StartReduceScatter "start_reduce_scatter",
    StartScan "start_scan",
    StartExscan "start_exscan",
    StartGather "start_gather",
    StartGatherPieces "start_gather in pieces",
    StartScatter "start_scatter",
    StartScatterPieces "start_scatter in pieces",
    StartAllgather "start_allgather",
    StartAllgatherPieces "start_allgather in pieces",
    StartAlltoall "start_alltoall",
    StartAlltoallPieces "start_alltoall in pieces",
    BarrierOf "barrier_of",
    RcceProfile "rcce_profile",
    ReserveLines "the reserving of lines",
    Window "the making of a window",
    Fence "a fence",
    Free "the freeing of a window",
    Share "share",
    Split "split",
    Dup "dup",
    Create "create",
    FreeCommunicator "the freeing of a communicator",
    CreateIntercommunicator "create_intercommunicator",
    OpenMessages "open_messages",
    CloseMessages "the closing of messages",
    ProgressByInterrupts "progress_by_interrupts",
    EndProgressByInterrupts "the end of progress by interrupts",
}

/// Words of a call.
pub(super) const WORDS: usize = 7;

// Which of them is what. 0 stands for what a call does not name, and numbers are raised by one.
const OPERATION: usize = 0;
const ROOT: usize = 1;
const LENGTH: usize = 2;
const ELEMENT: usize = 3;
const OPERATOR: usize = 4;
const ALGORITHM: usize = 5;
const COUNTS: usize = 6;
const WINDOW: usize = COUNTS;

/// Bits of the first word that say what is called. Above them are the bytes of an element, for reports.
const OPERATION_BITS: u32 = 8;

/// The words, for reports.
const NAMES: [&str; WORDS] = ["operation", "root", "length", "type", "operator", "algorithm", "counts"];

/// Marks a digest among numbers of what reports know by name.
const DIGEST: u32 = 1 << 31;

/// A call of a collective operation, as far as all ranks have to name the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Call(pub(super) [u32; WORDS]);

impl Call {
    pub(crate) fn new(operation: Collective) -> Self {
        Self([0; WORDS]).with(OPERATION, operation as u32)
    }

    fn with(mut self, word: usize, value: u32) -> Self {
        self.0[word] = value;
        self
    }

    pub(crate) fn rooted(self, root: usize) -> Self {
        self.with(ROOT, number(root))
    }

    /// On elements `T`.
    pub(crate) fn of<T: Pod>(self) -> Self {
        let id = TypeId::of::<T>();
        let known = ELEMENTS.iter().position(|(_, known)| *known == id);
        let element = known.map_or_else(|| Digest::of(&id) | DIGEST, number);
        let operation = self.operation() | (size_of::<T>() as u32) << OPERATION_BITS;
        self.with(ELEMENT, element).with(OPERATION, operation)
    }

    pub(crate) fn len(self, len: usize) -> Self {
        self.with(LENGTH, number(len))
    }

    pub(crate) fn combined<T>(self, operation: &impl Combine<T>) -> Self {
        let name = operation.name();
        let known = OPERATORS.iter().position(|known| *known == name);
        self.with(OPERATOR, known.map_or_else(|| Digest::of(&(name, operation.cycles())) | DIGEST, number))
    }

    pub(crate) fn by(self, algorithm: &impl Hash) -> Self {
        self.with(ALGORITHM, Digest::of(algorithm))
    }

    pub(crate) fn each(self, counts: impl Iterator<Item = usize>) -> Self {
        let mut all = Digest::default();
        counts.for_each(|count| (count as u64).hash(&mut all));
        self.with(COUNTS, all.folded())
    }

    pub(crate) fn on_window(self, window: u32) -> Self {
        self.with(WINDOW, number(window as usize))
    }

    fn operation(&self) -> u32 {
        self.0[OPERATION] & ((1 << OPERATION_BITS) - 1)
    }

    fn is(&self, operation: Collective) -> bool {
        self.operation() == operation as u32
    }

    /// What the two name differently, as indices of words. Where they call different operations, nothing else is of
    /// interest.
    fn differences(self, other: Self) -> impl Iterator<Item = usize> {
        let (first, rest) =
            if self.operation() == other.operation() { (None, ROOT..WORDS) } else { (Some(OPERATION), 0..0) };
        first.into_iter().chain(rest.filter(move |word| self.0[*word] != other.0[*word]))
    }
}

/// A number as a word that is not 0.
fn number(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX).saturating_add(1)
}

impl fmt::Display for Call {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = |word: usize| self.0[word].checked_sub(1);
        let element = value(ELEMENT).and_then(|place| ELEMENTS.get(place as usize)).map(|(name, _)| *name);
        let operator = value(OPERATOR).and_then(|place| OPERATORS.get(place as usize));
        out.write_str(COLLECTIVES.get(self.operation() as usize).unwrap_or(&"nothing that is known"))?;
        let bytes = self.0[OPERATION] >> OPERATION_BITS;
        match (value(LENGTH), element, value(ELEMENT)) {
            (Some(len), Some(name), _) => write!(out, " of {len} {name}")?,
            (Some(len), None, Some(_)) => write!(out, " of {len} elements of {bytes} bytes")?,
            (None, Some(name), _) => write!(out, " of {name}")?,
            (None, None, Some(_)) => write!(out, " of elements of {bytes} bytes")?,
            (_, _, None) => {}
        }
        match (value(OPERATOR), operator) {
            (_, Some(name)) => write!(out, " by {name}")?,
            (Some(_), None) => write!(out, " by an operation of its own")?,
            (None, None) => {}
        }
        if let Some(root) = value(ROOT) {
            write!(out, " with root {root}")?;
        }
        match value(WINDOW) {
            Some(window) if self.is(Collective::Fence) || self.is(Collective::Free) => write!(out, " {window}"),
            _ => Ok(()),
        }
    }
}

/// Two calls that differ, for a report.
pub(crate) struct Differing<'c> {
    pub(crate) rank: usize,
    /// The call of that rank, and the call of rank 0.
    pub(crate) calls: &'c [Call; 2],
}

impl fmt::Display for Differing<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [theirs, first] = self.calls;
        write!(out, "rank {} calls {theirs}, rank 0 {first}; all ranks have to name the same ", self.rank)?;
        theirs.differences(*first).enumerate().try_for_each(|(index, word)| {
            let name = if theirs.is(Collective::Fence) && word == WINDOW { "window" } else { NAMES[word] };
            write!(out, "{}{name}", if index == 0 { "" } else { ", " })
        })
    }
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;
    use crate::{Broadcast, Error, Operator};

    fn report(rank: usize, theirs: Call, first: Call) -> std::string::String {
        Error::CallsDiffer { rank, calls: [theirs, first] }.to_string()
    }

    #[test]
    fn reports_name_both_sides_and_what_differs() {
        let broadcast = |root| Call::new(Collective::Broadcast).of::<f64>().len(5).rooted(root);
        assert_eq!(
            report(3, broadcast(1), broadcast(0)),
            "rank 3 calls broadcast of 5 f64 with root 1, rank 0 broadcast of 5 f64 with root 0; all ranks have to \
             name the same root"
        );
        assert_eq!(
            report(1, Call::new(Collective::Barrier), broadcast(0)),
            "rank 1 calls barrier, rank 0 broadcast of 5 f64 with root 0; all ranks have to name the same operation"
        );
        let sum = Call::new(Collective::Allreduce).of::<[u32; 3]>().len(2).combined(&Operator::<u32>::SUM);
        let own = Call::new(Collective::Allreduce).of::<u32>().len(2).combined(&crate::Operation::new(|a: u32, _| a));
        assert_eq!(
            report(2, sum, own),
            "rank 2 calls allreduce of 2 elements of 12 bytes by sum, rank 0 allreduce of 2 u32 by an operation of its \
             own; all ranks have to name the same type, operator"
        );
        let fence = |window| Call::new(Collective::Fence).on_window(window);
        assert_eq!(
            report(2, fence(3), fence(0)),
            "rank 2 calls a fence 3, rank 0 a fence 0; all ranks have to name the same window"
        );
    }

    #[test]
    fn everything_that_is_named_makes_a_difference() {
        let call = || Call::new(Collective::Reduce);
        let calls = [
            call(),
            Call::new(Collective::Scan),
            call().rooted(0),
            call().rooted(1),
            call().len(0),
            call().len(7),
            call().of::<u32>(),
            call().of::<f32>(),
            call().of::<[u32; 2]>(),
            call().of::<[f32; 2]>(),
            call().combined(&Operator::<i32>::SUM),
            call().combined(&Operator::<i32>::MAX),
            call().combined(&crate::Operation::new(|a: i32, _| a)),
            call().combined(&crate::Operation::new(|a: i32, _| a).taking(1)),
            call().by(&Broadcast::Short),
            call().by(&Broadcast::Long),
            call().each([1, 2].into_iter()),
            call().each([2, 1].into_iter()),
        ];
        for (index, call) in calls.iter().enumerate() {
            assert!(!calls[index + 1..].contains(call), "{call:?}");
        }
    }
}
