//! Numbers by chance that every rank can draw again.

/// A sequence of numbers that follows from its seed (Marsaglia's xorshift).
pub struct Numbers(u32);

impl Numbers {
    /// The sequence of some seeds taken together.
    pub fn new(seeds: &[usize]) -> Self {
        let mixed = seeds.iter().fold(0x9E37_79B9_u32, |mixed, seed| {
            let mixed = (mixed ^ *seed as u32).wrapping_mul(0x85EB_CA6B);
            mixed ^ mixed >> 15
        });
        let mut numbers = Self(mixed | 1);
        numbers.draw();
        numbers
    }

    /// The next number.
    pub fn draw(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    /// The next number below `limit`; 0 if there is none.
    pub fn below(&mut self, limit: usize) -> usize {
        if limit == 0 { 0 } else { (self.draw() >> 4) as usize % limit }
    }
}
