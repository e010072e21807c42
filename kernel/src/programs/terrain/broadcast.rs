//! The map on its way from rank 0 to all.

use alloc::{vec, vec::Vec};

use collectives::Broadcast;
use hal::{Clock, Core, p54c};

use crate::{Failure, Rank};

use super::pgm::Header;

/// Cycles for a byte of a checksum: table look-ups.
const CHECKSUM_CYCLES: u64 = 3 * p54c::INTEGER;

/// Words of the announcement: whether there is a map, width, height, bytes of a sample, offset of the samples, bytes
/// and checksum of the file.
type Announcement = [u32; 7];

/// An elevation map: the file as it was read, and what is where in it.
pub(super) struct Map {
    pub(super) width: usize,
    pub(super) height: usize,
    header: Header,
    file: Vec<u8>,
}

impl Map {
    /// The samples of row `y`.
    pub(super) fn row(&self, y: usize) -> impl Iterator<Item = u16> + '_ {
        self.header.row(&self.file, y)
    }
}

/// A map that all ranks have heard of.
pub(super) struct Announced {
    header: Header,
    len: usize,
    crc: u32,
}

/// Rank 0 reads its input file and tells all ranks what kind of map it is. Nothing comes back where there is none:
/// rank 0 reports why.
pub(super) fn announce<C: Core>(rank: &Rank<'_, C>, how: Broadcast) -> Result<Option<Announced>, Failure> {
    let is_root = rank.comm.rank() == 0;
    let read = if is_root { Some(read(rank)) } else { None };
    let mut words: Announcement = match &read {
        Some(Ok(words)) => *words,
        _ => [0; 7],
    };
    rank.comm.using(how, |comm| comm.broadcast(&mut words, 0))?;
    if let Some(Err(failure)) = read {
        return Err(failure);
    }
    let [1, width, height, bytes_per_sample, samples_at, len, crc] = words else { return Ok(None) };
    let header = Header {
        width: width as usize,
        height: height as usize,
        bytes_per_sample: bytes_per_sample as usize,
        samples_at: samples_at as usize,
    };
    Ok(Some(Announced { header, len: len as usize, crc }))
}

fn read<C: Core>(rank: &Rank<'_, C>) -> Result<Announcement, Failure> {
    let input = rank.input(0)?;
    let header = Header::parse(input.bytes)
        .map_err(|error| Failure::new(format_args!("{} is not a map that can be used: {error}", input.name)))?;
    let len = u32::try_from(input.bytes.len()).map_err(|_| Failure::new("the map has more than 4 GiB"))?;
    let crc = checksum(rank.hal(), input.bytes);
    let word = |number: usize| number as u32;
    let Header { width, height, bytes_per_sample, samples_at } = header;
    Ok([1, word(width), word(height), word(bytes_per_sample), word(samples_at), len, crc])
}

fn checksum(clock: &impl Clock, bytes: &[u8]) -> u32 {
    clock.compute(bytes.len() as u64 * CHECKSUM_CYCLES);
    crc32fast::hash(bytes)
}

impl Announced {
    /// Brings the map to all ranks; every rank verifies its checksum.
    pub(super) fn spread<C: Core>(self, rank: &Rank<'_, C>, how: Broadcast) -> Result<Map, Failure> {
        let mut file = if rank.comm.rank() == 0 { rank.input(0)?.bytes.to_vec() } else { vec![0; self.len] };
        rank.comm.using(how, |comm| comm.broadcast(&mut file, 0))?;
        let crc = checksum(rank.hal(), &file);
        if crc != self.crc {
            let expected = self.crc;
            return Err(Failure::new(format_args!(
                "the map arrived with checksum {crc:08x} instead of {expected:08x}"
            )));
        }
        Ok(Map { width: self.header.width, height: self.header.height, header: self.header, file })
    }
}
