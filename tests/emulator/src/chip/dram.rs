//! Memory behind a controller, of which only what was written is kept.

const PAGE_BYTES: usize = 4096;
const BLOCK_BYTES: u64 = 16 << 20;
const PAGES_OF_BLOCK: usize = BLOCK_BYTES as usize / PAGE_BYTES;

type Page = Box<[u8; PAGE_BYTES]>;

/// Memory with addresses of 34 bits at most. What nobody wrote reads as a pattern that is different for each page, and
/// never zero.
pub struct Dram {
    seed: u32,
    blocks: Vec<Option<Box<[Option<Page>]>>>,
}

/// The word that a page is full of as long as nobody wrote to it.
pub(crate) const fn pattern(seed: u32, page: u32) -> u32 {
    let mixed = (page ^ seed << 20).wrapping_mul(0x9E37_79B1);
    0xDEAD_0000 | mixed >> 16
}

impl Dram {
    /// Memory of `gib` GiB. The seed makes its patterns different from those of other memory.
    pub(crate) fn new(gib: u32, seed: u32) -> Self {
        Self { seed, blocks: (0..gib * 64).map(|_| None).collect() }
    }

    /// Its size.
    pub const fn bytes(&self) -> u64 {
        self.blocks.len() as u64 * BLOCK_BYTES
    }

    fn pattern_of(&self, address: u64) -> [u8; 4] {
        pattern(self.seed, (address / PAGE_BYTES as u64) as u32).to_le_bytes()
    }

    #[inline]
    fn page(&self, address: u64) -> Option<&Page> {
        let block = self.blocks[(address / BLOCK_BYTES) as usize].as_ref()?;
        block[(address % BLOCK_BYTES) as usize / PAGE_BYTES].as_ref()
    }

    /// Reads what is there. The bytes are within one page.
    #[inline]
    pub(crate) fn read(&self, address: u64, to: &mut [u8]) {
        let offset = address as usize % PAGE_BYTES;
        if let Some(page) = self.page(address) {
            to.copy_from_slice(&page[offset..offset + to.len()]);
        } else {
            let pattern = self.pattern_of(address);
            to.iter_mut().zip(offset..).for_each(|(byte, place)| *byte = pattern[place % 4]);
        }
    }

    /// The page there, to be written to.
    #[inline]
    pub(crate) fn page_mut(&mut self, address: u64) -> &mut [u8; PAGE_BYTES] {
        let pattern = self.pattern_of(address);
        let block = self.blocks[(address / BLOCK_BYTES) as usize]
            .get_or_insert_with(|| (0..PAGES_OF_BLOCK).map(|_| None).collect());
        block[(address % BLOCK_BYTES) as usize / PAGE_BYTES]
            .get_or_insert_with(|| Box::new(std::array::from_fn(|place| pattern[place % 4])))
    }

    /// Reads any bytes, as the board's host does (`sccDump`). Those beyond the memory's end stay what they are.
    pub fn peek(&self, address: u64, to: &mut [u8]) {
        let mut done = 0;
        while let Some(len) = self.piece(address + done as u64, to.len() - done) {
            self.read(address + done as u64, &mut to[done..done + len]);
            done += len;
        }
    }

    /// Writes any bytes, as the board's host does (`sccWrite`). Those beyond the memory's end go nowhere.
    pub fn poke(&mut self, address: u64, from: &[u8]) {
        let mut done = 0;
        while let Some(len) = self.piece(address + done as u64, from.len() - done) {
            let place = address + done as u64;
            self.page_mut(place)[place as usize % PAGE_BYTES..][..len].copy_from_slice(&from[done..done + len]);
            done += len;
        }
    }

    /// How many of `len` bytes are in the page of the first one. Nothing if there are none, or the memory has ended.
    fn piece(&self, address: u64, len: usize) -> Option<usize> {
        let piece = len.min(PAGE_BYTES - address as usize % PAGE_BYTES);
        (piece > 0 && address < self.bytes()).then_some(piece)
    }
}
