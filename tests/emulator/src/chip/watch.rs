//! Memory that a debugger watches: where it is behind the lookup tables, so that every core that gets there is noticed, by
//! whichever address.

use super::{Chip, PageKind, System, cache::LINE_BYTES};

/// Bytes that are watched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Watchpoint {
    /// Where the debugger sees them.
    pub(crate) address: u32,
    /// How many.
    pub(crate) len: u32,
    /// Where they are.
    pub(crate) place: System,
    /// Whether loads count.
    pub(crate) loads: bool,
    /// Whether stores do.
    pub(crate) stores: bool,
}

impl Watchpoint {
    /// Whether it has one of the bytes from `place` on whose bit is set in `mask`.
    fn has(&self, place: System, mask: u32) -> bool {
        let [own, other] = match (self.place, place) {
            (System::Memory { controller, address }, System::Memory { controller: other, address: at })
                if controller == other =>
            {
                [address, at]
            }
            (System::Mpb { tile, offset }, System::Mpb { tile: other, offset: at }) if tile == other => {
                [offset.into(), at.into()]
            }
            _ => return false,
        };
        (0..LINE_BYTES as u64)
            .any(|byte| mask >> byte & 1 != 0 && (own..own + u64::from(self.len)).contains(&(other + byte)))
    }
}

/// What is watched, and who has come by.
#[derive(Default)]
pub(super) struct Watched {
    points: Vec<Watchpoint>,
    /// Cores that have not been told yet, and which point they have met.
    met: Vec<(usize, Watchpoint)>,
}

impl Watched {
    /// Whether anything is.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// A core has stored to, or loaded from, bytes of a line.
    #[cold]
    pub(super) fn note(&mut self, core: usize, place: System, mask: u32, stores: bool) {
        let is_meant = |point: &&Watchpoint| if stores { point.stores } else { point.loads };
        let met = self.points.iter().filter(is_meant).find(|point| point.has(place, mask));
        if let Some(point) = met
            && self.met.iter().all(|(other, _)| *other != core)
        {
            self.met.push((core, *point));
        }
    }
}

/// The first `len` bytes.
pub(super) const fn first(len: usize) -> u32 {
    ((1_u64 << len) - 1) as u32
}

impl Chip {
    /// Watches bytes from now on.
    pub(crate) fn watch(&mut self, point: Watchpoint) {
        self.mesh.watched.points.push(point);
    }

    /// Watches bytes no more that were watched so. Returns whether there were some.
    pub(crate) fn unwatch(&mut self, address: u32, len: u32, loads: bool, stores: bool) -> bool {
        let Watched { points, met } = &mut self.mesh.watched;
        let is_it =
            |point: &Watchpoint| (point.address, point.len, point.loads, point.stores) == (address, len, loads, stores);
        met.retain(|(_, point)| !is_it(point));
        points.iter().position(is_it).map(|place| points.swap_remove(place)).is_some()
    }

    /// Watches nothing.
    pub(crate) fn unwatch_all(&mut self) {
        self.mesh.watched = Watched::default();
    }

    /// The watched bytes that a core has met since it was last asked.
    pub(crate) fn take_met(&mut self, core: usize) -> Option<Watchpoint> {
        let met = &mut self.mesh.watched.met;
        met.iter().position(|(other, _)| *other == core).map(|place| met.swap_remove(place).1)
    }

    /// A core has made an access of `len` bytes. Stores that its own caches keep never come to memory's notice; loads never do.
    pub(crate) fn note_access(&mut self, core: usize, physical: u32, kind: PageKind, len: usize, stores: bool) {
        if self.mesh.watched.is_empty() || stores && kind != PageKind::WriteBack {
            return;
        }
        if let Ok(place) = self.mesh.translate(core, physical) {
            self.mesh.watched.note(core, place, first(len), stores);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_met_by_their_bytes_only() {
        let place = System::Mpb { tile: 1, offset: 40 };
        let point = Watchpoint { address: 0, len: 2, place, loads: false, stores: true };
        let line = System::Mpb { tile: 1, offset: 32 };
        assert!(point.has(line, 1 << 8) && point.has(line, 1 << 9) && point.has(line, u32::MAX));
        assert!(!point.has(line, !(0b11 << 8)) && !point.has(System::Mpb { tile: 2, offset: 32 }, u32::MAX));
        assert!(!point.has(System::Memory { controller: 1, address: 40 }, u32::MAX));
        let mut watched = Watched { points: vec![point], ..Watched::default() };
        watched.note(3, line, u32::MAX, false);
        assert_eq!(watched.met, []);
        watched.note(3, line, u32::MAX, true);
        watched.note(3, line, u32::MAX, true);
        assert_eq!(watched.met, [(3, point)]);
    }
}
