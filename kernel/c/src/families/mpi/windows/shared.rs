//! Memory that all ranks of a window load from and store to themselves.
//!
//! Without coherence nobody sees at once what another one stores, and what cores write back is whole lines, where parts of two
//! ranks may meet. So each rank has the whole memory privately, beside a *twin* of it as it was last. When it synchronises, what
//! differs from the twin is written to shared memory, byte-masked, and behind it a *note* of where that is, in a line of the rank's own, and a
//! *stamp* that no other writing has; and if the stamp is not the one that the rank has read by, what the notes of others name is read: all,
//! if one has written more often than its note says. Programs see what `MPI_WIN_SEPARATE`
//! says: what one has stored is there for another one when both have called `MPI_Win_sync`, or any other synchronisation of the window,
//! the one before the other. What is put or accumulated is done by the target to its own copy, and is
//! there for loads of a third rank when a flush or an unlock of the origin has returned, or the target has synchronised.
//!
//! A store of what a copy has already makes no difference. So no copy may be older than what its rank has heard of: after each call of
//! MPI that may have waited for others, the rank looks at the stamp ([`catch_up`](Shared::catch_up)). What is left is stores of ranks
//! that hear of each other by something else than MPI: they call `MPI_Win_sync` before they store, too.
//!
//! Buffers of operations that are under way may lie in a copy. So all of it is looked at only in calls of MPI of the rank itself, before
//! they begin anything and after they have waited, when nothing that is pending refers to what it will write; and written to only where others have
//! stored. While others are answered, whatever the rank waits for, nothing is touched but what they reach: what was written there is read
//! before, and what they store is written.

use alloc::{vec, vec::Vec};
use core::{cell::RefCell, ops::Range, slice};

use kernel::hal::{Act, Core, LINE_BYTES, Region, kind};

/// Bytes of a stamp, which has a line of its own behind all parts. One word: two of them may come apart between nodes of a cluster.
const STAMP_BYTES: usize = 4;

/// Writings that a note names, which is a line: how many there were so far, where the last ones begin and end, and the number again.
const NOTED: usize = 3;

/// Bytes of shared memory that are read at a time.
const PIECE_BYTES: usize = 32 * LINE_BYTES;

/// Bits of a stamp that say which core has written; the others count what it has written.
const CORE_BITS: u32 = 12;

/// The shared memory of a window; none of it is shared on one rank alone.
pub(super) struct Shared {
    region: Option<Region<kind::Combined>>,
    /// Where each rank's part begins, and behind the last one the end.
    starts: Vec<usize>,
    /// Which of them this rank is.
    place: usize,
    copy: RefCell<Option<Copy>>,
}

/// What this rank has of it.
struct Copy {
    memory: *mut u8,
    twin: Vec<u8>,
    /// The stamp by which it was read.
    stamp: [u8; STAMP_BYTES],
    /// How often each rank has written, as far as this one has read; its own number is that of its last writing.
    written: Vec<u32>,
    /// Where the last writings of this rank are, by their number.
    noted: [Range<usize>; NOTED],
    place: usize,
}

impl Shared {
    /// Parts of these lengths, one behind the other, of which the one at a place is this rank's.
    pub(super) fn new(region: Option<Region<kind::Combined>>, lens: impl Iterator<Item = usize>, place: usize) -> Self {
        let mut starts = vec![0];
        starts.extend(lens.scan(0, |end, len| {
            *end += len;
            Some(*end)
        }));
        Self { region, starts, place, copy: RefCell::default() }
    }

    /// Bytes of all parts.
    pub(super) fn len(&self) -> usize {
        self.starts[self.starts.len() - 1]
    }

    /// Bytes of shared memory that so many parts of so many bytes take, if there are so many.
    pub(super) fn region_bytes(len: usize, parts: usize) -> Option<usize> {
        len.checked_next_multiple_of(LINE_BYTES)?.checked_add((parts + 1) * LINE_BYTES)
    }

    pub(super) fn region(&self) -> Option<Region<kind::Combined>> {
        self.region
    }

    /// Takes the memory for this rank's copy, in which there are zeros from now on.
    ///
    /// # Safety
    /// There are as many bytes as [`len`](Self::len) says until this is dropped, and no reference leads to them.
    pub(super) unsafe fn take(&self, memory: *mut u8) {
        // SAFETY: the caller says so.
        unsafe { memory.write_bytes(0, self.len()) };
        let (twin, stamp, noted) = (vec![0; self.len()], [0; STAMP_BYTES], [const { 0..0 }; NOTED]);
        let written = vec![0; self.starts.len() - 1];
        self.copy.replace(Some(Copy { memory, twin, stamp, written, noted, place: self.place }));
    }

    /// Where this rank has the part that is at a place; null before it has any.
    pub(super) fn address(&self, place: usize) -> *mut u8 {
        let copy = self.copy.borrow();
        copy.as_ref().map_or(core::ptr::null_mut(), |copy| copy.memory.wrapping_add(self.starts[place]))
    }

    /// Writes what this rank has stored, and reads what others have written.
    ///
    /// # Safety
    /// No mutable reference leads to the memory of the copy, and none at all to what others have written.
    pub(super) unsafe fn meet<C: Core>(&self, hal: &C) {
        let (Some(region), Some(copy)) = (self.region, &mut *self.copy.borrow_mut()) else { return };
        // SAFETY: the caller says so.
        unsafe { copy.write_stored(hal, region, 0..copy.twin.len()) };
        let stamp = read_stamp(hal, region);
        if stamp == copy.stamp {
            return;
        }
        for range in copy.news(hal, region) {
            // SAFETY: the caller says so.
            unsafe { copy.read_written(hal, region, range) };
        }
        copy.stamp = stamp;
    }

    /// Reads what others have written at these addresses, as far as they are of this memory and this rank has stored nothing there: another
    /// rank is about to look at it, or to store to it, which would make no difference where the copy has that value already.
    ///
    /// # Safety
    /// No reference leads to what others have written.
    pub(super) unsafe fn read_at<C: Core>(&self, hal: &C, addresses: &[Range<usize>]) {
        let (Some(region), Some(copy)) = (self.region, &mut *self.copy.borrow_mut()) else { return };
        if read_stamp(hal, region) == copy.stamp {
            return;
        }
        for range in copy.within(addresses) {
            // SAFETY: the caller says so.
            unsafe { copy.read_written(hal, region, range) };
        }
    }

    /// Writes what has been stored at these addresses for other ranks, as far as they are of this memory: so it is there for all.
    ///
    /// # Safety
    /// No mutable reference leads there.
    pub(super) unsafe fn write_at<C: Core>(&self, hal: &C, addresses: &[Range<usize>]) {
        let (Some(region), Some(copy)) = (self.region, &mut *self.copy.borrow_mut()) else { return };
        for range in copy.within(addresses) {
            // SAFETY: the caller says so.
            unsafe { copy.write_stored(hal, region, range) };
        }
    }

    /// [Meets](Self::meet) if anybody has written since.
    ///
    /// # Safety
    /// As for [`meet`](Self::meet).
    pub(super) unsafe fn catch_up<C: Core>(&self, hal: &C) {
        let is_behind = match (self.region, &*self.copy.borrow()) {
            (Some(region), Some(copy)) => read_stamp(hal, region) != copy.stamp,
            _ => false,
        };
        if is_behind {
            // SAFETY: the caller says so.
            unsafe { self.meet(hal) };
        }
    }
}

impl Copy {
    /// What of these addresses is in the copy, from its begin on.
    fn within(&self, addresses: &[Range<usize>]) -> Vec<Range<usize>> {
        let (own, len) = (self.memory.addr(), self.twin.len());
        let inside = addresses.iter().map(|range| range.start.max(own)..range.end.min(own + len));
        inside.filter(|range| !range.is_empty()).map(|range| range.start - own..range.end - own).collect()
    }

    /// Where others have written since this rank has read.
    fn news<C: Core>(&mut self, hal: &C, region: Region<kind::Combined>) -> Vec<Range<usize>> {
        const WORD: usize = 4;
        let (len, ranks) = (self.twin.len(), self.written.len());
        let all = 0..len;
        if len <= ranks * LINE_BYTES {
            // Notes would be no less to read.
            return vec![all];
        }
        let mut news = Vec::new();
        hal.declare(&Act::HandsOn(true));
        for place in (0..ranks).filter(|place| *place != self.place) {
            let mut note = [0; LINE_BYTES];
            hal.read(region, note_offset(region, place), &mut note);
            let word = |at: usize| note[at * WORD..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
            let number = word(0);
            // Between nodes words may come apart.
            let is_whole = number == word(1 + 2 * NOTED);
            let new = number.wrapping_sub(self.written[place]);
            if !is_whole || new as usize > NOTED {
                news.push(all.clone());
            } else {
                let slot = |number: u32| 1 + 2 * (number as usize % NOTED);
                let last = (0..new).map(|back| slot(number.wrapping_sub(back)));
                news.extend(last.map(|at| word(at) as usize..(word(at + 1) as usize).min(len)));
            }
            if is_whole {
                self.written[place] = number;
            }
        }
        hal.declare(&Act::HandsOn(false));
        joined(news)
    }

    /// Reads what others have written of these bytes, where this rank has not stored since.
    ///
    /// # Safety
    /// No reference leads to what others have written.
    unsafe fn read_written<C: Core>(&mut self, hal: &C, region: Region<kind::Combined>, bytes: Range<usize>) {
        let mut piece = [0; PIECE_BYTES];
        for start in bytes.clone().step_by(PIECE_BYTES) {
            let end = bytes.end.min(start + PIECE_BYTES);
            let piece = &mut piece[..end - start];
            // Others may be writing to what the program does not look at yet.
            hal.declare(&Act::HandsOn(true));
            hal.read(region, start, piece);
            hal.declare(&Act::HandsOn(false));
            for range in differing(piece, &self.twin[start..end]) {
                for within in range {
                    let (at, found) = (start + within, piece[within]);
                    let own = self.memory.wrapping_add(at);
                    // SAFETY: whoever gave the memory has said that it is there; the caller says the rest.
                    unsafe {
                        if own.read() == self.twin[at] {
                            own.write(found);
                            self.twin[at] = found;
                        }
                    }
                }
            }
        }
    }

    /// Writes what of these bytes is not as the twin has it, and a note and a stamp behind it.
    ///
    /// # Safety
    /// No mutable reference leads to them.
    unsafe fn write_stored<C: Core>(&mut self, hal: &C, region: Region<kind::Combined>, bytes: Range<usize>) {
        // SAFETY: whoever gave the memory has said that it is there; the caller says the rest.
        let own = unsafe { slice::from_raw_parts(self.memory.wrapping_add(bytes.start), bytes.len()) };
        let twin = &mut self.twin[bytes.clone()];
        let stored = differing(own, twin);
        let [Some(first), Some(last)] = [stored.first(), stored.last()] else { return };
        let number = self.written[self.place].wrapping_add(1);
        self.written[self.place] = number;
        self.noted[number as usize % NOTED] = bytes.start + first.start..bytes.start + last.end;
        for range in stored {
            hal.write(region, bytes.start + range.start, &own[range.clone()]);
            twin[range.clone()].copy_from_slice(&own[range]);
        }
        // Whoever reads the stamp reads what it is behind, and so is the note.
        hal.drain();
        let ends = self.noted.iter().flat_map(|range| [range.start as u32, range.end as u32]);
        let note: Vec<_> = [number].into_iter().chain(ends).chain([number]).flat_map(u32::to_le_bytes).collect();
        hal.write(region, note_offset(region, self.place), &note);
        hal.drain();
        let stamp = number << CORE_BITS | hal.core().index() as u32;
        hal.write(region, stamp_offset(region), &stamp.to_le_bytes());
        hal.drain();
    }
}

/// The same bytes in ranges that ascend and do not overlap: ranks that store in turns note much the same bytes.
fn joined(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut joined: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

/// Where the note of the rank at a place is.
fn note_offset(region: Region<kind::Combined>, place: usize) -> usize {
    stamp_offset(region) - (place + 1) * LINE_BYTES
}

/// Where the stamp of the last one that has written is.
fn stamp_offset(region: Region<kind::Combined>) -> usize {
    region.len_bytes() - LINE_BYTES
}

/// That stamp. L1 has nothing then that is older.
fn read_stamp<C: Core>(hal: &C, region: Region<kind::Combined>) -> [u8; STAMP_BYTES] {
    let mut stamp = [0; STAMP_BYTES];
    hal.invalidate_mpb();
    hal.declare(&Act::HandsOn(true));
    hal.read(region, stamp_offset(region), &mut stamp);
    hal.declare(&Act::HandsOn(false));
    stamp
}

/// The ranges in which two slices of a length differ.
fn differing(one: &[u8], other: &[u8]) -> Vec<Range<usize>> {
    /// What is compared at once, as most of it is alike.
    const MANY: usize = 256;
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let many = one.chunks(MANY).zip(other.chunks(MANY)).enumerate().filter(|(_, (one, other))| one != other);
    let places = many.flat_map(|(chunk, (one, _))| chunk * MANY..chunk * MANY + one.len());
    for at in places.filter(|at| one[*at] != other[*at]) {
        match ranges.last_mut() {
            Some(last) if last.end == at => last.end += 1,
            _ => ranges.push(at..at + 1),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use kernel::{
        collectives::{Comm, Placement},
        hal::sim::Machine,
    };

    use super::*;

    /// Rank 0 has stored something, and others have stored to its part. The latter is there for rank 1, the former when both have met.
    #[test]
    fn what_others_store_is_written_and_nothing_else() {
        const LEN: usize = 2 * PIECE_BYTES + 100;
        const OWN: [usize; 2] = [1, 4];
        const OTHERS: [usize; 4] = [2, 3, PIECE_BYTES, LEN - 1];
        let outcome = Machine::scc(2).run(|core| {
            let comm = Comm::world(core, regions::of_a_test()).unwrap();
            let bytes = Shared::region_bytes(LEN, 2).unwrap();
            let region = comm.share_zeroed(bytes, Placement::Near(comm.core_of(0))).unwrap();
            let shared = Shared::new(Some(region), [LEN, 0].into_iter(), comm.rank());
            let mut memory = vec![1; LEN];
            let start = memory.as_mut_ptr();
            // SAFETY: the memory is there until the end of the test, and is looked at by this pointer only.
            let seen = unsafe {
                shared.take(start);
                let stored = || (0..LEN).filter(|at| start.add(*at).read() == 7).collect::<Vec<_>>();
                if comm.rank() == 0 {
                    OWN.into_iter().chain(OTHERS).for_each(|at| start.add(at).write(7));
                    let address = |at: usize| start.addr() + at;
                    let addresses = [
                        address(2)..address(4),
                        address(PIECE_BYTES)..address(PIECE_BYTES) + 1,
                        address(LEN - 1)..usize::MAX,
                    ];
                    shared.write_at(core, &addresses);
                }
                comm.barrier();
                if comm.rank() == 1 {
                    shared.catch_up(core);
                }
                let of_others = stored();
                comm.barrier();
                shared.meet(core);
                comm.barrier();
                shared.meet(core);
                (of_others, stored())
            };
            drop(memory);
            seen
        });
        let [(_, zero), (of_others, one)] = outcome.unwrap().results().to_vec().try_into().unwrap();
        let mut all = [&OWN[..], &OTHERS].concat();
        all.sort_unstable();
        assert_eq!((of_others, &zero, &one), (OTHERS.to_vec(), &all, &all));
    }

    /// Rank 1 has stored something that rank 0 has not looked at yet when another rank puts there what rank 0 has of it.
    #[test]
    fn what_is_put_over_what_another_one_stored_is_there() {
        const LEN: usize = 8;
        let outcome = Machine::scc(2).run(|core| {
            let comm = Comm::world(core, regions::of_a_test()).unwrap();
            let bytes = Shared::region_bytes(LEN, 2).unwrap();
            let region = comm.share_zeroed(bytes, Placement::Near(comm.core_of(0))).unwrap();
            let shared = Shared::new(Some(region), [LEN, 0].into_iter(), comm.rank());
            let mut memory = vec![1; LEN];
            let start = memory.as_mut_ptr();
            // SAFETY: the memory is there until the end of the test, and is looked at by this pointer only.
            let seen = unsafe {
                shared.take(start);
                if comm.rank() == 1 {
                    [3, 4, 5].into_iter().for_each(|at| start.add(at).write(7));
                    shared.meet(core);
                }
                comm.barrier();
                if comm.rank() == 0 {
                    start.add(4).write(9);
                    let put = start.addr() + 3..start.addr() + 5;
                    shared.read_at(core, slice::from_ref(&put));
                    assert_eq!([3, 4, 5].map(|at| start.add(at).read()), [7, 9, 0]);
                    start.add(3).write(0);
                    shared.write_at(core, slice::from_ref(&put));
                }
                comm.barrier();
                shared.meet(core);
                (0..LEN).map(|at| start.add(at).read()).collect::<Vec<_>>()
            };
            drop(memory);
            seen
        });
        assert_eq!(outcome.unwrap().results().to_vec(), [(); 2].map(|()| vec![0, 0, 0, 0, 9, 7, 0, 0]));
    }

    #[test]
    fn what_differs_is_found() {
        assert_eq!(differing(&[1, 2, 3, 4, 5], &[1, 0, 0, 4, 0]), [1..3, 4..5]);
        assert_eq!(differing(&[7], &[7]), []);
        let mut long = [0; 600];
        assert_eq!(differing(&long, &[0; 600]), []);
        [255, 256, 599].into_iter().for_each(|at| long[at] = 1);
        assert_eq!(differing(&long, &[0; 600]), [255..257, 599..600]);
    }

    /// Of three ranks two have stored in turns, and one next to them, and behind them.
    #[test]
    fn what_several_have_written_is_read_once() {
        assert_eq!(joined(vec![4..990, 0..986, 990..1000, 2000..2008]), [0..1000, 2000..2008]);
        assert_eq!(joined(vec![40..41, 8..16, 0..32]), [0..32, 40..41]);
        assert_eq!(joined(Vec::new()), []);
    }

    #[test]
    fn parts_follow_each_other() {
        let shared = Shared::new(None, [3, 0, 5].into_iter(), 0);
        assert_eq!((shared.len(), shared.address(0).is_null()), (8, true));
        let mut memory = [9; 8];
        // SAFETY: the memory is there until the end of the test, and is looked at afterwards only.
        unsafe { shared.take(memory.as_mut_ptr()) };
        assert_eq!([0, 1, 2].map(|place| shared.address(place).addr() - memory.as_ptr().addr()), [0, 3, 3]);
        assert_eq!(memory, [0; 8]);
    }
}
