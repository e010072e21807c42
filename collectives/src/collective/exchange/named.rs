//! What the callers of exchanges name, checked: the same whether ranks wait for them at once or later.

use core::hash::Hash;

use bytemuck::Pod;
use hal::Messenger;

use super::{
    Pieces, all_of,
    ends::{Way, check_between_all, check_with_root},
    pieces::Laid,
};
use crate::{
    Comm, Error,
    collective::{
        call::{Call, Collective},
        lengths::check_len,
    },
};

/// The blocks of an all-to-all at one rank.
pub(in crate::collective) struct Met {
    /// Elements of each block, if all blocks are of one length.
    pub(in crate::collective) common: Option<usize>,
    /// Where those are that go out.
    pub(in crate::collective) from: Laid,
    /// Where those belong that come, and what is wrong with either.
    pub(in crate::collective) to: Laid,
}

/// An operation is `names[0]`, or `names[1]` if there are pieces, `by` this algorithm.
impl<C: Messenger> Comm<'_, C> {
    /// Checks a gather or scatter, and returns the elements of this rank's block: as many as it has apart from `all`, which has `all`
    /// elements here.
    pub(in crate::collective) fn check_rooted<T: Pod>(
        &self,
        names: [Collective; 2],
        by: &impl Hash,
        way: Way,
        (apart, all): (Option<usize>, usize),
        pieces: Option<Pieces<'_>>,
        root: usize,
    ) -> Result<usize, Error> {
        let count = match (apart, pieces) {
            (Some(count), _) => count,
            (None, _) if self.rank() != root => {
                if way == Way::ToRoot {
                    all
                } else {
                    0
                }
            }
            (None, Some(pieces)) => pieces.count(root),
            (None, None) => all / self.size(),
        };
        self.check_call(|| match pieces {
            Some(_) => Call::new(names[1]).of::<T>().rooted(root).by(by),
            None => Call::new(names[0]).of::<T>().len(count).rooted(root).by(by),
        })?;
        self.check_rank(root)?;
        if let Some(pieces) = pieces {
            let bytes = |count: usize| count.saturating_mul(size_of::<T>());
            check_with_root(self, way, root, bytes(count), |rank| bytes(pieces.count(rank)))?;
        }
        Ok(count)
    }

    /// Checks an allgather, and returns where blocks belong in `all` elements, with what is wrong with this rank's own, which has as many
    /// as are apart from these; and how many one has.
    pub(in crate::collective) fn check_gathered<T: Pod>(
        &self,
        names: [Collective; 2],
        by: &impl Hash,
        apart: Option<usize>,
        all: usize,
        pieces: Option<Pieces<'_>>,
    ) -> Result<(Laid, Result<(), Error>, usize), Error> {
        let size = self.size();
        let (count, total) = apart.map_or((all / size, all), |count| (count, all_of(count, size)));
        self.check_call(|| match pieces {
            Some(pieces) => Call::new(names[1]).of::<T>().each(pieces.counts()).by(by),
            None => Call::new(names[0]).of::<T>().len(total).by(by),
        })?;
        let own = match (apart, pieces) {
            (Some(count), Some(pieces)) => check_len(count, pieces.count(self.rank())),
            _ => Ok(()),
        };
        Ok((Laid::new::<T>(own, pieces, count, (all, size), true), own, count))
    }

    /// Checks an all-to-all by the lengths of both buffers, in elements, which are in pieces or in equal blocks.
    pub(in crate::collective) fn check_met<T: Pod>(
        &self,
        names: [Collective; 2],
        by: &impl Hash,
        (len, sent): (usize, Option<Pieces<'_>>),
        (receive_len, received): (usize, Option<Pieces<'_>>),
    ) -> Result<Met, Error> {
        let (me, size) = (self.rank(), self.size());
        let is_equal = sent.or(received).is_none();
        self.check_call(|| match is_equal {
            true => Call::new(names[0]).of::<T>().by(by).len(len),
            false => Call::new(names[1]).of::<T>().by(by),
        })?;
        let count = if is_equal { len } else { receive_len } / size;
        let sends = |rank| sent.map_or(len / size, |pieces| pieces.count(rank));
        let receives = |rank| received.map_or(count, |pieces| pieces.count(rank));
        if is_equal {
            check_len(len, count * size)?;
        } else {
            let bytes = |count: usize| count.saturating_mul(size_of::<T>());
            check_between_all(self, |rank| bytes(sends(rank)), |rank| bytes(receives(rank)))?;
        }
        let own = check_len(sends(me), receives(me));
        let from = Laid::new::<T>(Ok(()), sent, len / size, (len, size), false);
        let to = Laid::new::<T>(own.and(from.checked), received, count, (receive_len, size), true);
        Ok(Met { common: is_equal.then_some(count), from, to })
    }
}
