//! Lines, puts and gets: section 3.1 of the paper, Figure 2.
//!
//! Distances count routers, at least 1. *Completion* is when the operation returns, *latency* when the data is at its
//! destination, before the last acknowledgement is back; one memory transaction is under way at a time, so m lines
//! take m times as long as one. The figure is not in the text of the paper that we have; the formulas follow from what
//! the text says of each:
//!
//! | | formula | |
//! |---|---|---|
//! | 1 | `L_w^mpb(d) = o^mpb + d L^hop` | a line travels to an MPB |
//! | 2 | `C_w^mpb(d) = o^mpb + 2 d L^hop` | and its acknowledgement back |
//! | 3 | `C_r^mpb(d) = L_r^mpb(d) = o^mpb + 2 d L^hop` | a request there, a line back |
//! | 4 | `L_w^mem(d) = o_w^mem + d L^hop` | |
//! | 5 | `C_w^mem(d) = o_w^mem + 2 d L^hop` | |
//! | 6 | `C_r^mem(d) = L_r^mem(d) = o_r^mem + 2 d L^hop` | |
//! | 7 | `C_put^mpb(m, d) = o_put^mpb + m C_r^mpb(1) + m C_w^mpb(d)` | from the own MPB |
//! | 8 | `C_put^mem(m, s, d) = o_put^mem + m C_r^mem(s) + m C_w^mpb(d)` | from memory |
//! | 9 | `L_put^mpb(m, d) = o_put^mpb + m C_r^mpb(1) + (m − 1) C_w^mpb(d) + L_w^mpb(d)` | |
//! | 10 | `L_put^mem(m, s, d) = o_put^mem + m C_r^mem(s) + (m − 1) C_w^mpb(d) + L_w^mpb(d)` | |
//! | 11 | `C_get^mpb(m, s) = L_get^mpb(m, s) = o_get^mpb + m C_r^mpb(s) + m C_w^mpb(1)` | to the own MPB |
//! | 12 | `C_get^mem(m, s, d) = L_get^mem(m, s, d) = o_get^mem + m C_r^mpb(s) + m C_w^mem(d)` | to memory |

use super::{Parameters, Time};

impl Parameters {
    /// Formula 1: until a line that is written is in an MPB `routers` away.
    pub fn write_mpb_line_latency(&self, routers: usize) -> Time {
        self.mpb + self.hop * routers
    }

    /// Formula 2: writing a line to an MPB `routers` away.
    pub fn write_mpb_line(&self, routers: usize) -> Time {
        self.mpb + self.hop * routers * 2
    }

    /// Formula 3: reading a line from an MPB `routers` away.
    pub fn read_mpb_line(&self, routers: usize) -> Time {
        self.mpb + self.hop * routers * 2
    }

    /// Formula 4: until a line that is written is in memory whose controller is `routers` away.
    pub fn write_memory_line_latency(&self, routers: usize) -> Time {
        self.memory_write + self.hop * routers
    }

    /// Formula 5: writing a line to memory whose controller is `routers` away.
    pub fn write_memory_line(&self, routers: usize) -> Time {
        self.memory_write + self.hop * routers * 2
    }

    /// Formula 6: reading a line from memory whose controller is `routers` away.
    pub fn read_memory_line(&self, routers: usize) -> Time {
        self.memory_read + self.hop * routers * 2
    }

    /// Formula 7: a put of `lines` lines from the own MPB to one `target_routers` away.
    pub fn put_from_mpb_completion(&self, lines: usize, target_routers: usize) -> Time {
        self.put_from_mpb + (self.read_mpb_line(1) + self.write_mpb_line(target_routers)) * lines
    }

    /// Formula 8: a put of `lines` lines from memory to an MPB.
    pub fn put_from_memory_completion(&self, lines: usize, memory_routers: usize, target_routers: usize) -> Time {
        self.put_from_memory + (self.read_memory_line(memory_routers) + self.write_mpb_line(target_routers)) * lines
    }

    /// Formula 9: like [`put_from_mpb_completion`](Self::put_from_mpb_completion), until the last line is there.
    pub fn put_from_mpb_latency(&self, lines: usize, target_routers: usize) -> Time {
        self.put_from_mpb_completion(lines, target_routers) - self.last_acknowledgement(lines, target_routers)
    }

    /// Formula 10: like [`put_from_memory_completion`](Self::put_from_memory_completion), until the last line is
    /// there.
    pub fn put_from_memory_latency(&self, lines: usize, memory_routers: usize, target_routers: usize) -> Time {
        self.put_from_memory_completion(lines, memory_routers, target_routers)
            - self.last_acknowledgement(lines, target_routers)
    }

    /// Formula 11: a get of `lines` lines from an MPB `source_routers` away to the own one; latency as well.
    pub fn get_to_mpb_completion(&self, lines: usize, source_routers: usize) -> Time {
        self.get_to_mpb + (self.read_mpb_line(source_routers) + self.write_mpb_line(1)) * lines
    }

    /// Formula 12: a get of `lines` lines from an MPB to memory; latency as well.
    pub fn get_to_memory_completion(&self, lines: usize, source_routers: usize, memory_routers: usize) -> Time {
        self.get_to_memory + (self.read_mpb_line(source_routers) + self.write_memory_line(memory_routers)) * lines
    }

    fn last_acknowledgement(&self, lines: usize, routers: usize) -> Time {
        self.hop * routers * lines.min(1)
    }
}
