//! Where a message of a program is on its way: a head, and chunks.
//!
//! The **head** is a line of the sender's own MPB that holds nothing else: how long the message is, and for which rank of which
//! communicator. A short message is in it, so that whoever finds it has the message; between nodes of a cluster whoever finds
//! the last word of a line has the others, so that word tells one head from the next. Longer messages go through the staging
//! lines in chunks, of which two have room. The head comes when half of the first chunk is there.

use core::ops::Range;

use hal::{CoreId, Deadline, LINE_BYTES, Line, Messenger, MpbLine, Poll, Reason, TimedOut};

use crate::{
    Comm,
    mpb::signals::{CHUNK, Pair},
};

/// Words that a head ends with: the length, the context, and the receiver with a bit that turns over.
const WORDS: usize = 3;

/// The first of them in the line.
pub(super) const FIRST_WORD: usize = LINE_BYTES / size_of::<u32>() - WORDS;

/// Bytes of a message that its head has room for, before the words.
pub(super) const RIDING_BYTES: usize = FIRST_WORD * size_of::<u32>();

/// Says in the last word that this is a head: lines are zero at first.
const IS_HEAD: u32 = 1 << 31;

/// The length of the message with this head, in bytes.
#[inline]
pub(super) fn length_in(head: &Line) -> u32 {
    head.word(FIRST_WORD)
}

/// The last word of the head of a message to this core, which turns over with each message.
#[inline]
fn stamp(to: CoreId, turn: bool) -> u32 {
    IS_HEAD | (to.index() as u32) << 1 | u32::from(turn)
}

/// The least number of lines of a chunk, if the message has as many: what is told about each costs as much as a line.
const LEAST_LINES: usize = 8;

/// Parts in which a message goes at least, if it is long enough: the first of them is put while nobody gets anything.
const LEAST_PARTS: usize = 4;

/// How a message is divided, which both ends find out by its length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Chunks {
    len: usize,
    /// Bytes of each but the last one.
    bytes: usize,
    count: usize,
    /// Whether they are in the head; otherwise the first of their lines.
    lines: Option<usize>,
    /// Chunks that there is room for at a time: one or two.
    slots: usize,
}

impl Chunks {
    /// Those of a message of `len` bytes that has these lines.
    #[inline]
    pub(super) fn new(len: usize, lines: Range<usize>) -> Self {
        if len <= RIDING_BYTES || lines.is_empty() {
            let count = len.div_ceil(RIDING_BYTES).max(1);
            return Self { len, bytes: RIDING_BYTES, count, lines: None, slots: 1 };
        }
        let all = len.div_ceil(LINE_BYTES);
        Self::in_lines(len, lines, if all <= 2 * LEAST_LINES { all } else { LEAST_LINES.max(all / LEAST_PARTS) })
    }

    /// The chunks of a message that has no head, in lines of which there are some: as few as there can be.
    pub(super) fn fewest(len: usize, lines: Range<usize>) -> Self {
        Self::in_lines(len, lines, usize::MAX)
    }

    /// Chunks of `wanted` lines, or of as many as there is room for.
    fn in_lines(len: usize, lines: Range<usize>, wanted: usize) -> Self {
        let (slots, all) = (lines.len().min(2), len.div_ceil(LINE_BYTES).max(1));
        let wanted = wanted.max(1).min(lines.len() / slots);
        if all <= wanted {
            // Short messages are not to be held up by divisions.
            return Self { len, bytes: all * LINE_BYTES, count: 1, lines: Some(lines.start), slots };
        }
        let bytes = all.div_ceil(all.div_ceil(wanted)) * LINE_BYTES;
        Self { len, bytes, count: len.div_ceil(bytes).max(1), lines: Some(lines.start), slots }
    }

    /// The length of the message as its head has it.
    pub(super) fn len32(&self) -> u32 {
        self.len as u32
    }

    /// Whether they are in heads, one after the other.
    pub(super) fn is_in_heads(&self) -> bool {
        self.lines.is_none()
    }

    /// How many there are: at least one.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Which bytes of the message chunk `number` has.
    pub(super) fn bytes(&self, number: usize) -> Range<usize> {
        let start = number * self.bytes;
        start..self.len.min(start + self.bytes)
    }

    /// Bytes of chunk `number`.
    pub(super) fn len_of(&self, number: usize) -> usize {
        self.bytes(number).len()
    }

    /// Bytes of the first chunk that are there before the head is: so many that they are got while the others are put.
    pub(super) fn first_part(&self) -> usize {
        let len = self.len_of(0);
        if self.lines.is_some() { len.min(len.div_ceil(LINE_BYTES).div_ceil(2) * LINE_BYTES) } else { len }
    }

    /// Whether the first chunk is there as a whole with the head, or when the message is announced.
    pub(super) fn is_first_with_the_head(&self) -> bool {
        self.first_part() == self.len_of(0)
    }

    /// Whether whoever has found the head has the message, and need not wait for the bit.
    pub(super) fn are_with_the_head(&self) -> bool {
        self.count == 1 && self.is_first_with_the_head()
    }

    /// Its first line, if it is not in the head.
    fn line(&self, number: usize) -> Option<usize> {
        self.lines.map(|first| first + self.before(number))
    }

    /// Lines before it among those that the message has.
    fn before(&self, number: usize) -> usize {
        number % self.slots * (self.bytes / LINE_BYTES)
    }

    /// Whether chunk `number` can be put before the one before it was answered.
    pub(super) fn is_put_early(&self, number: usize) -> bool {
        number == 1 && self.slots == 2 && self.count > 1
    }

    /// Whether the receiver answers to chunk `number` before it has got it: the answer says that the one before is free, and the
    /// sender fills that meanwhile. Of the first one it has to look at the length before; the last answer ends the message.
    pub(super) fn is_answered_early(&self, number: usize) -> bool {
        self.slots == 2 && number > 0 && number + 1 < self.count
    }
}

impl<C: Messenger> Comm<'_, C> {
    /// The chunks of a message of `len` bytes.
    #[inline]
    pub(super) fn chunks(&self, len: usize) -> Chunks {
        // The lines are those of all ranks, whatever the communicator is: nobody reads them any more when a message has been
        // received.
        let layout = self.world_of().mpb_layout();
        if self.profile_in_force() {
            let payload = layout.rcce_payload();
            return Chunks::new(len, payload.start + 1..payload.end);
        }
        Chunks::new(len, layout.message_lines())
    }

    /// Whether a message of `len` bytes is there with its head, in that itself or in one line: so are those of which programs
    /// send most, and nothing has to be worked out for them.
    #[inline]
    pub(super) fn is_short(&self, len: usize) -> bool {
        len <= LINE_BYTES && !self.profile_in_force()
    }

    /// Puts a [short](Self::is_short) message, and its head.
    #[inline(always)]
    pub(super) fn put_short(&self, message: &[u8], to: &Pair) {
        let layout = self.world_of().mpb_layout();
        let (words, head) = (self.words_to(to, message.len() as u32), self.own_line(layout.message_head()));
        if message.len() <= RIDING_BYTES {
            return self.put_words(words, message, head);
        }
        self.first_buffer_is_raw(1);
        self.hal().put(message, self.own_line(layout.message_lines().start));
        self.put_words(words, &[], head);
    }

    /// Waits for a short message from a rank, and gets it. If it has another length, that comes back, and nothing is got.
    ///
    /// # Errors
    /// [`TimedOut`] on a dying machine.
    #[inline(always)]
    pub(super) fn get_short(&self, message: &mut [u8], from: &Pair) -> Result<usize, TimedOut> {
        if message.len() <= RIDING_BYTES {
            return self.get_riding(message, from);
        }
        let layout = self.world_of().mpb_layout();
        let head = MpbLine::new(from.core(), layout.message_head());
        let [sent, ..] = self.await_words(from, head, |poll| poll.line_words(0, FIRST_WORD), |words| *words)?;
        let sent = sent as usize;
        if sent == message.len() {
            self.hal().get(MpbLine::new(head.core, layout.message_lines().start), message);
        }
        Ok(sent)
    }

    /// Receives a message that is in its head, all of which is looked at.
    #[inline(never)]
    fn get_riding(&self, message: &mut [u8], from: &Pair) -> Result<usize, TimedOut> {
        let head = MpbLine::new(from.core(), self.world_of().mpb_layout().message_head());
        let head = self.await_head_in(from, head)?;
        let sent = length_in(&head) as usize;
        if sent == message.len() {
            self.hal().keep(&head.0[..sent], message);
        }
        Ok(sent)
    }

    /// The head of what `rank` sends.
    #[inline]
    pub(super) fn head_of(&self, rank: usize) -> MpbLine {
        let layout = self.world_of().mpb_layout();
        let profile = self.profile_in_force();
        self.mpb_line(rank, if profile { layout.rcce_payload().start } else { layout.message_head() })
    }

    /// The words of the head of the next message, of `len` bytes, from this rank to rank `to`. A bit tells it from the one
    /// before.
    #[inline]
    fn words_to(&self, to: &Pair, len: u32) -> [u32; WORDS] {
        [len, self.context(), stamp(to.core(), to.turn_to())]
    }

    /// Whether this is the head of the next message from `from` to this rank.
    #[inline]
    pub(super) fn is_head_from(&self, from: usize, head: &Line) -> bool {
        [head.word(FIRST_WORD + 1), head.word(FIRST_WORD + 2)] == self.words_from(self.signals().pair(from))
    }

    /// The words of the next head from rank `from`, besides the length.
    #[inline]
    fn words_from(&self, from: &Pair) -> [u32; 2] {
        [self.context(), stamp(self.hal().core(), from.turn_from())]
    }

    /// Waits for the head of the next message from `from`.
    ///
    /// # Errors
    /// [`TimedOut`] on a dying machine.
    #[inline]
    pub(super) fn await_head(&self, from: usize) -> Result<Line, TimedOut> {
        self.await_head_in(self.signals().pair(from), self.head_of(from))
    }

    #[inline]
    fn await_head_in(&self, from: &Pair, head: MpbLine) -> Result<Line, TimedOut> {
        let words = |head: &Line| core::array::from_fn(|word| head.word(FIRST_WORD + word));
        self.await_words(from, head, |poll| poll.line(0), words)
    }

    /// Waits for the head of the next message from `from`, which is in this line: what `read` has read of it, when the words that it
    /// ends with say that it is there.
    #[inline(always)]
    fn await_words<R>(
        &self,
        from: &Pair,
        head: MpbLine,
        read: impl Fn(&Poll<'_>) -> R,
        words: impl Fn(&R) -> [u32; WORDS],
    ) -> Result<R, TimedOut> {
        let (reason, expected) = (Reason::new("a message").from(head.core), self.words_from(from));
        self.wait_until(head, Deadline::Never, reason, move |poll| {
            let found = read(poll);
            let [_, context, stamp] = words(&found);
            ([context, stamp] == expected).then_some(found)
        })
    }

    /// Puts chunk `number` of a message, and the head where it belongs. Nobody is told of the end of the chunk.
    #[inline]
    pub(super) fn put_chunk(&self, chunks: &Chunks, number: usize, message: &[u8], to: usize) {
        let bytes = &message[chunks.bytes(number)];
        if chunks.is_in_heads() {
            return self.put_head(chunks, bytes, to);
        }
        if number > 0 {
            return self.put_whole(chunks, number, message);
        }
        let first = chunks.first_part();
        self.put_bytes(chunks, 0, 0..first, message);
        self.put_head(chunks, &[], to);
        self.put_bytes(chunks, 0, first..bytes.len(), message);
    }

    /// Puts all of a chunk that is in lines.
    #[inline]
    pub(super) fn put_whole(&self, chunks: &Chunks, number: usize, message: &[u8]) {
        self.put_bytes(chunks, number, 0..chunks.len_of(number), message);
    }

    /// Puts some bytes of a chunk that is in lines. They begin with a line.
    #[inline(never)]
    pub(super) fn put_bytes(&self, chunks: &Chunks, number: usize, part: Range<usize>, message: &[u8]) {
        let bytes = &message[chunks.bytes(number)][part.clone()];
        if let Some(line) = chunks.line(number).filter(|_| !bytes.is_empty()) {
            self.first_buffer_is_raw(chunks.before(number) + part.end.div_ceil(LINE_BYTES));
            self.hal().put(bytes, self.mpb_line(self.rank(), line + part.start / LINE_BYTES));
        }
    }

    /// Gets all of a chunk that is in lines.
    pub(super) fn get_whole(&self, chunks: &Chunks, number: usize, bytes: &mut [u8], from: usize) {
        if let Some(line) = chunks.line(number).filter(|_| !bytes.is_empty()) {
            self.hal().get(self.mpb_line(from, line), bytes);
        }
    }

    #[inline]
    fn put_head(&self, chunks: &Chunks, riding: &[u8], to: usize) {
        let words = self.words_to(self.signals().pair(to), chunks.len32());
        self.put_words(words, riding, self.head_of(self.rank()));
    }

    /// Puts a head of these words, with these bytes of a message.
    #[inline(always)]
    fn put_words(&self, words: [u32; WORDS], riding: &[u8], to: MpbLine) {
        if !riding.is_empty() {
            self.hal().account_memory(1, 0);
        }
        // A whole line leaves the write-combine buffer at once, and pushes out what was put before.
        self.hal().put_made(LINE_BYTES, to, |_, line| {
            let (room, end) = line.split_at_mut(RIDING_BYTES);
            room[..riding.len()].copy_from_slice(riding);
            end.copy_from_slice(bytemuck::cast_slice(&words));
        });
    }

    /// Tells rank `to` that a chunk is there.
    #[inline]
    pub(super) fn announce_chunk(&self, to: usize) {
        self.turn_signal(CHUNK, to);
    }

    /// Gets these of the bytes of chunk `number` of the message that begins with this head. They begin with a line.
    #[inline(never)]
    pub(super) fn get_part(
        &self,
        (chunks, number, part): (&Chunks, usize, Range<usize>),
        head: &Line,
        message: &mut [u8],
        from: usize,
    ) {
        let bytes = &mut message[chunks.bytes(number)][part.clone()];
        match chunks.line(number) {
            _ if bytes.is_empty() => {}
            Some(line) => self.hal().get(self.mpb_line(from, line + part.start / LINE_BYTES), bytes),
            None => self.hal().keep(&head.0[..bytes.len()], bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chunks cover a message, none is longer than its room, and two that are there at a time do not overlap.
    #[test]
    fn chunks_cover_messages() {
        for lines in [0, 1, 2, 3, 15, 16, 47, 96, 250] {
            for len in (0..3000).chain([3071, 3072, 3073, 8192, 100_000]) {
                check_cover(Chunks::new(len, 10..10 + lines), lines);
                if lines > 0 {
                    let fewest = Chunks::fewest(len, 10..10 + lines);
                    check_cover(fewest, lines);
                    let room = lines / fewest.slots * LINE_BYTES;
                    assert_eq!(
                        fewest.count(),
                        len.div_ceil(room).max(1),
                        "{len} bytes through {lines} lines: {fewest:?}"
                    );
                }
            }
        }
    }

    fn check_cover(chunks: Chunks, lines: usize) {
        let mut covered = 0;
        for number in 0..chunks.count() {
            let bytes = chunks.bytes(number);
            assert!(bytes.start == covered && (bytes.end > covered || chunks.len == 0));
            covered = bytes.end;
            let Some(line) = chunks.line(number) else {
                assert!(bytes.len() <= RIDING_BYTES);
                continue;
            };
            let end = line + bytes.len().div_ceil(LINE_BYTES);
            assert!(line >= 10 && end <= 10 + lines, "through {lines} lines: {chunks:?}");
            assert!(chunks.slots == 1 || number == 0 || chunks.line(number - 1) != Some(line));
            assert!(chunks.slots == 1 || line == 10 || line >= 10 + chunks.bytes / LINE_BYTES);
        }
        assert_eq!(covered, chunks.len);
    }
}
