//! Several looks at one place before others are looked at: what is waited for is found the sooner, the less time lies between two of them.

use hal::Poll;

/// Looks at what is waited for, before all else that may come is looked at once.
pub(crate) const LOOKS: usize = 8;

/// What a check finds in one of `looks` looks of one poll, if it does.
#[inline]
pub(crate) fn several<R>(poll: &Poll<'_>, looks: usize, mut check: impl FnMut(&Poll<'_>) -> Option<R>) -> Option<R> {
    check(poll).or_else(|| {
        (1..looks).find_map(|_| {
            poll.anew();
            check(poll)
        })
    })
}
