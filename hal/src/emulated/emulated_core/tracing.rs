//! A core that is traced: what it notes, and when.
//!
//! None of this is an operation. It takes no time, and no interrupt is served because of it.

use core::fmt;

use crate::{CoreId, Home, Span, Topology, Trace, backend::deferral::Deferring};

use super::{
    super::{
        Platform, Watch,
        trace::{Spot, Waited},
    },
    EmulatedCore,
};

impl<P: Platform> Trace for EmulatedCore<P> {
    fn start_trace(&self, limit_bytes: usize) {
        self.undisturbed(|| self.tracer.start(limit_bytes));
    }

    fn end_trace(&self, reader: &mut dyn FnMut(&dyn fmt::Display)) {
        if self.tracer.is_on() {
            self.undisturbed(|| self.tracer.end(self.platform.moments_per_second(), reader));
        }
    }

    fn begin_span(&self, span: Span) {
        self.trace(|now| self.tracer.begin(now, false, span));
    }

    fn end_span(&self) {
        self.trace(|now| self.tracer.end_span(now));
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
pub(super) struct HardwareSpan<'e, P: Platform>(&'e EmulatedCore<P>);

impl<P: Platform> Drop for HardwareSpan<'_, P> {
    fn drop(&mut self) {
        self.0.trace(|now| self.0.tracer.end_span(now));
    }
}

impl<P: Platform> EmulatedCore<P> {
    /// Notes something, if this core is traced and the machine means what it does.
    fn trace(&self, note: impl FnOnce(u64)) {
        if self.tracer.is_on() && !self.platform.is_dying() {
            self.undisturbed(|| note(self.platform.moment()));
        }
    }

    pub(super) fn hardware_span(
        &self,
        operation: &'static str,
        whose: impl Into<Whose>,
        bytes: usize,
    ) -> HardwareSpan<'_, P> {
        let peer = whose.into().0.filter(|core| *core != self.core());
        self.trace(|now| self.tracer.begin(now, true, Span { operation, peer, bytes }));
        HardwareSpan(self)
    }

    /// Makes a store, and notes when others could see it.
    pub(super) fn trace_store<R>(&self, spot: Spot, mask: u32, store: impl FnOnce() -> R) -> R {
        if !self.tracer.is_on() {
            return store();
        }
        let begin = self.platform.moment();
        let result = store();
        self.trace(|now| {
            let visible = self.platform.last_visible();
            let visible = if (begin..=now).contains(&visible) { visible } else { now };
            self.tracer.stored(spot, mask, begin, visible);
        });
        result
    }

    /// A wait begins.
    pub(super) fn trace_wait(&self) {
        self.trace(|now| self.tracer.begin(now, false, Span::new("")));
    }

    /// It is over.
    pub(super) fn trace_wait_end(&self, watch: Watch<'_>, waited: Waited) {
        self.trace(|now| self.tracer.end_wait(now, watch, waited));
    }
}
