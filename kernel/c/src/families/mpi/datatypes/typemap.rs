//! The basic values of a type, one by one: what is counted, and what is converted.

use super::{
    basics::{Basic, Format},
    datatype::{Datatype, Made},
};

impl Datatype {
    /// Calls `take` with each basic type that has a value and where that is, in the typemap's order, for a value at `base`.
    pub(crate) fn for_each(&self, base: i64, take: &mut impl FnMut(&'static Basic, i64)) {
        match self.made() {
            Made::Basic(basic) if self.elements() > 0 => take(basic, base),
            Made::Basic(_) => {}
            Made::Blocks(all) => {
                for blocks in all {
                    for block in 0..blocks.count {
                        let start = base + blocks.displacement + block * blocks.stride;
                        for value in 0..blocks.len {
                            blocks.of.for_each(start + value * blocks.of.extent_count(), take);
                        }
                    }
                }
            }
        }
    }

    /// Basic values in the first `bytes` of a message of values of this type, and whether nothing is left of them. A pair is
    /// two values.
    pub(crate) fn elements_in(&self, bytes: i64) -> (i64, bool) {
        if self.size_count() == 0 {
            return (0, bytes == 0);
        }
        let (mut elements, mut left) = (bytes / self.size_count() * self.elements(), bytes % self.size_count());
        match self.made() {
            Made::Basic(basic) => {
                if self.elements() == 2 && left >= basic.format.size() as i64 {
                    elements += 1;
                    left -= basic.format.size() as i64;
                }
                (elements, left == 0)
            }
            Made::Blocks(all) => {
                for blocks in all {
                    let number = blocks.count * blocks.len;
                    let most = number * blocks.of.size_count();
                    if left < most {
                        let (inner, is_whole) = blocks.of.elements_in(left);
                        return (elements + inner, is_whole);
                    }
                    elements += number * blocks.of.elements();
                    left -= most;
                }
                (elements, left == 0)
            }
        }
    }

    /// Bytes of a message with so many basic values of this type, the other way round; none if there is no such message.
    pub(crate) fn bytes_of_elements(&self, elements: u64) -> Option<u64> {
        let of_one = self.elements() as u64;
        if of_one == 0 {
            return (elements == 0).then_some(0);
        }
        let whole = (elements / of_one).checked_mul(self.size_count() as u64)?;
        whole.checked_add(self.bytes_of_first((elements % of_one) as i64) as u64)
    }

    /// Bytes of the first basic values of one value, which are fewer than it has.
    fn bytes_of_first(&self, mut elements: i64) -> i64 {
        match self.made() {
            Made::Basic(basic) => {
                basic.values().take(elements as usize).map(|(_, format, _)| format.size() as i64).sum()
            }
            Made::Blocks(all) => {
                let mut bytes = 0;
                for blocks in all {
                    let (number, of_one) = (blocks.count * blocks.len, blocks.of.elements());
                    if elements < number * of_one {
                        let inner = blocks.of.bytes_of_first(elements % of_one);
                        return bytes + elements / of_one * blocks.of.size_count() + inner;
                    }
                    elements -= number * of_one;
                    bytes += number * blocks.of.size_count();
                }
                bytes
            }
        }
    }

    /// Bytes of a value in `external32`.
    pub(crate) fn external_size(&self) -> Option<i64> {
        match self.made() {
            Made::Basic(basic) => Some(basic.values().map(|(_, _, external)| external as i64).sum()),
            Made::Blocks(all) => all.iter().try_fold(0_i64, |sum, blocks| {
                let number = blocks.count.checked_mul(blocks.len)?;
                blocks.of.external_size()?.checked_mul(number)?.checked_add(sum)
            }),
        }
    }

    /// Calls `take` with where each number is, what it is, and how long it is in `external32`.
    pub(crate) fn for_each_number(&self, base: i64, take: &mut impl FnMut(i64, Format, usize)) {
        self.for_each(base, &mut |basic, offset| {
            basic.values().for_each(|(within, format, external)| take(offset + within as i64, format, external));
        });
    }
}
