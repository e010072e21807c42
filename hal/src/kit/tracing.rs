//! A core that is traced: what it notes, and when.
//!
//! None of this is an operation. It takes no time, and no interrupt is served because of it.

use core::fmt;

use crate::{Act, CoreId, Home, Reason, Span, Trace};

use super::{
    Announcement, HardwareCore,
    event::{Event, Upkeep},
    hardware::{Hardware, Hooks},
    terms::Watch,
    tracer::{Spot, Tracer, Waited},
};

impl<H: Hardware> Trace for HardwareCore<H> {
    fn start_trace(&self, limit_bytes: usize) {
        if let Some(tracer) = self.hardware.tracer() {
            self.undisturbed(|| tracer.start(limit_bytes));
        }
    }

    fn end_trace(&self, reader: &mut dyn FnMut(&dyn fmt::Display)) {
        if let Some(tracer) = self.hardware.tracer().filter(|tracer| tracer.is_on()) {
            self.undisturbed(|| tracer.end(self.hardware.hooks().moments_per_second(), reader));
        }
    }

    fn tell_trace(&self, reader: &mut dyn FnMut(&dyn fmt::Display)) {
        if let Some(tracer) = self.hardware.tracer().filter(|tracer| tracer.is_on()) {
            self.undisturbed(|| tracer.tell(self.hardware.hooks().moments_per_second(), reader));
        }
    }

    fn begin_span(&self, span: Span) {
        self.hardware.hooks().enter(Some(&span), span.bytes);
        self.hardware.hooks().witness(|| Event::Begin(span));
        self.hardware.hooks().announce(Announcement::Begins(span));
        if self.hardware.is_traced() {
            self.undisturbed(|| self.hardware.trace(|tracer, now| tracer.begin(now, false, span)));
        }
    }

    fn end_span(&self) {
        self.hardware.hooks().leave();
        self.hardware.hooks().witness(|| Event::End);
        self.hardware.hooks().announce(Announcement::Ends);
        if self.hardware.is_traced() {
            self.undisturbed(|| self.hardware.trace(Tracer::end_span));
        }
    }

    fn mark(&self, name: &str) {
        self.hardware.hooks().announce(Announcement::Phase(name));
        if self.hardware.is_traced() {
            self.undisturbed(|| self.hardware.trace(|tracer, now| tracer.mark(now, name)));
        }
    }

    #[inline(always)]
    fn is_checked(&self) -> bool {
        self.hardware.hooks().is_checked()
    }

    #[inline(always)]
    fn declare(&self, act: &Act<'_>) {
        self.hardware.hooks().declare(act);
    }

    #[cfg(all(feature = "debugger", target_os = "none"))]
    fn is_debugged(&self) -> bool {
        true
    }

    #[cfg(all(feature = "debugger", target_os = "none"))]
    fn open_epoch(&self, epoch: &crate::trace::Epoch<'_>) {
        use crate::Clock;
        crate::bare::notebook::open(epoch, self.now(), self.ticks_per_second());
    }

    #[cfg(all(feature = "debugger", target_os = "none"))]
    fn close_epoch(&self, epoch: &crate::trace::Epoch<'_>) {
        crate::bare::notebook::close(epoch);
    }

    #[cfg(all(feature = "debugger", target_os = "none"))]
    fn name_lines(&self, lines: core::ops::Range<usize>, what: &'static str) {
        crate::bare::notebook::name_lines(lines, what);
    }
}

impl<H: Hardware> HardwareCore<H> {
    /// Does what the program asks for, unless a test leaves it out.
    #[inline(always)]
    pub(super) fn asked(&self, upkeep: Upkeep, act: impl FnOnce()) {
        if self.hardware.hooks().is_left_out(upkeep) {
            return;
        }
        self.hardware.hooks().witness(|| Event::Asked(upkeep));
        act();
        self.hardware.hooks().witness(|| Event::Done);
    }
}

/// Whose memory an operation of the hardware is about, as the peer of its span.
pub(super) struct Whose(Option<CoreId>);

impl From<CoreId> for Whose {
    fn from(core: CoreId) -> Self {
        Self(Some(core))
    }
}

impl From<Option<CoreId>> for Whose {
    fn from(core: Option<CoreId>) -> Self {
        Self(core)
    }
}

impl From<Home> for Whose {
    fn from(home: Home) -> Self {
        match home {
            Home::Core(core) => Self(Some(core)),
            Home::Controller(_) => Self(None),
        }
    }
}

/// An operation of the hardware that is under way, until this is dropped.
pub(super) struct HardwareSpan<'e, H: Hardware>(&'e H);

impl<H: Hardware> Drop for HardwareSpan<'_, H> {
    fn drop(&mut self) {
        self.0.hooks().leave();
        self.0.trace(Tracer::end_span);
    }
}

/// What hardware notes within operations, if it is traced.
pub trait Noting: Hardware {
    /// Whether the core is traced now, and the machine means what it does.
    fn is_traced(&self) -> bool {
        self.tracer().is_some_and(Tracer::is_on) && !self.is_dying()
    }

    /// Notes something.
    fn trace(&self, note: impl FnOnce(&Tracer, u64)) {
        if let Some(tracer) = self.tracer().filter(|_| self.is_traced()) {
            note(tracer, self.hooks().moment());
        }
    }

    /// Makes a store, and notes when others could see it.
    #[inline]
    fn trace_store<R>(&self, spot: impl FnOnce() -> Spot, mask: u32, store: impl FnOnce() -> R) -> R {
        if !self.is_traced() {
            return store();
        }
        let begin = self.hooks().moment();
        let result = store();
        self.trace(|tracer, now| {
            let visible = self.hooks().last_visible();
            // A core that goes on after its store is ahead of it.
            let visible = if visible >= begin { visible } else { now };
            tracer.stored(spot(), mask, begin, visible);
        });
        result
    }
}

impl<H: Hardware> Noting for H {}

/// What a core notes of its own operations.
pub(super) trait NotingOperations: Noting + Sized {
    fn hardware_span(&self, operation: &'static str, whose: impl Into<Whose>, bytes: usize) -> HardwareSpan<'_, Self> {
        self.hooks().enter(None, bytes);
        let peer = whose.into().0.filter(|core| *core != self.core());
        self.trace(|tracer, now| tracer.begin(now, true, Span { peer, ..Span::new(operation).of(bytes) }));
        HardwareSpan(self)
    }

    /// A wait begins.
    fn trace_wait(&self, reason: Reason) {
        self.hooks().announce(Announcement::Waits(reason));
        self.trace(|tracer, now| tracer.begin_wait(now, reason));
    }

    /// Notes that a wait is over.
    fn trace_wait_end(&self, watch: Watch<'_>, waited: Waited) {
        let Waited { reason, timed_out: is_late, .. } = waited;
        self.hooks().announce(Announcement::HasWaited { reason, is_late });
        self.trace(|tracer, now| tracer.end_wait(now, watch, waited));
    }
}

impl<H: Hardware> NotingOperations for H {}
