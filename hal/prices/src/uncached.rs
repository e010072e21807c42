//! What an access to an uncached word takes.

/// Cycles of a core that an access to an uncached word takes, by routers to its controller: the distances at which it was
/// measured, ascending.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WordCycles(pub [(u32, u64); 4]);

impl WordCycles {
    /// The points as files list them.
    pub fn of(pairs: &[[u64; 2]]) -> Self {
        let mut points = [(0, 0); 4];
        for (point, [routers, cycles]) in points.iter_mut().zip(pairs) {
            *point = (*routers as u32, *cycles);
        }
        Self(points)
    }

    /// The time at a distance. The measured points are joined by straight lines; outside them there are two hops for each
    /// router, which is also the slope that the points show (5.3 cycles).
    pub fn ps(&self, routers: u64, hop_ps: u64, cycles_ps: impl Fn(u64) -> u64) -> u64 {
        let points = self.0.map(|(at, cycles)| (u64::from(at), cycles_ps(cycles)));
        let (first, last) = (points[0], points[points.len() - 1]);
        if routers <= first.0 {
            return first.1.saturating_sub(2 * (first.0 - routers) * hop_ps);
        }
        for pair in points.windows(2) {
            let ((near, near_ps), (far, far_ps)) = (pair[0], pair[1]);
            if routers <= far {
                return near_ps + (far_ps - near_ps) * (routers - near) / (far - near);
            }
        }
        last.1 + 2 * (routers - last.0) * hop_ps
    }
}
