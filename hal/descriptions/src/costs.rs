//! What the primitive operations of a mesh of tiles cost, as in machine files and board files.

use bytemuck::{Pod, Zeroable};

/// What the operations of a mesh of tiles cost: times in picoseconds, none of them longer than the 4 ms that a word
/// holds. All numbers are 32-bit words, so that there is no padding.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Costs {
    /// A packet traverses one router.
    pub hop_ps: u32,
    /// Overhead of reading or writing one MPB line.
    pub mpb_ps: u32,
    /// Overhead of reading one line of off-chip memory.
    pub memory_read_ps: u32,
    /// Overhead of writing one line of off-chip memory.
    pub memory_write_ps: u32,
    /// Overhead of calling a put whose source is the own MPB, as setting a flag is one.
    pub put_from_mpb_ps: u32,
    /// Overhead of calling a put whose source is private memory.
    pub put_from_memory_ps: u32,
    /// Overhead of calling a get whose target is private memory.
    pub get_to_memory_ps: u32,
    /// For how long the port of an MPB serves one read. 0 where accesses do not wait for each other there.
    pub mpb_port_ps: u32,
    /// Clock of the cores.
    pub core_mhz: u32,
    /// Sets of the last private cache.
    pub cache_sets: u32,
}

/// What machine files call the costs, in their order.
const KEYS: [&str; 10] = [
    "prices.hop_ps",
    "prices.mpb_ps",
    "prices.memory_read_ps",
    "prices.memory_write_ps",
    "prices.put_from_mpb_ps",
    "prices.put_from_memory_ps",
    "prices.get_to_memory_ps",
    "contention.mpb_port_ps",
    "prices.core_mhz",
    "prices.cache_sets",
];

/// The machine file of the Intel SCC.
const SCC_FILE: &str = include_str!("../machines/scc.toml");

impl Costs {
    /// The Intel SCC, where accesses wait for each other. They are read from its file when this crate is built, so that
    /// Table 1 of the OC-Bcast paper is written down there only.
    pub const SCC: Self = {
        let mut words = [0; KEYS.len()];
        let mut place = 0;
        while place < KEYS.len() {
            words[place] = scc(KEYS[place]);
            place += 1;
        }
        Self::of_words(words)
    };

    /// The costs that have these values by the names of their keys in machine files.
    #[cfg(feature = "files")]
    pub(crate) fn of(value: impl Fn(&str) -> u32) -> Self {
        Self::of_words(KEYS.map(value))
    }

    const fn of_words(words: [u32; KEYS.len()]) -> Self {
        let [hop_ps, mpb_ps, memory_read_ps, memory_write_ps, put_from_mpb_ps, ..] = words;
        let [.., put_from_memory_ps, get_to_memory_ps, mpb_port_ps, core_mhz, cache_sets] = words;
        Self {
            hop_ps,
            mpb_ps,
            memory_read_ps,
            memory_write_ps,
            put_from_mpb_ps,
            put_from_memory_ps,
            get_to_memory_ps,
            mpb_port_ps,
            core_mhz,
            cache_sets,
        }
    }
}

/// The number `section.key` in the machine file of the SCC, where no two sections have a key of the same name.
const fn scc(name: &str) -> u32 {
    let (text, name) = (SCC_FILE.as_bytes(), name.as_bytes());
    let mut section = 0;
    while name[section] != b'.' {
        section += 1;
    }
    let (_, key) = name.split_at(section + 1);
    let mut line = 0;
    while line < text.len() {
        let mut place = 0;
        while place < key.len() && line + place < text.len() && text[line + place] == key[place] {
            place += 1;
        }
        if place == key.len() && text[line + place] == b' ' {
            return number(text, line + place);
        }
        while line < text.len() && text[line] != b'\n' {
            line += 1;
        }
        line += 1;
    }
    panic!("the machine file of the SCC lacks a key")
}

/// The number behind ` = `.
const fn number(text: &[u8], mut place: usize) -> u32 {
    while text[place] == b' ' || text[place] == b'=' {
        place += 1;
    }
    assert!(text[place].is_ascii_digit(), "a key of the machine file of the SCC is no number");
    let mut number = 0;
    while place < text.len() && (text[place].is_ascii_digit() || text[place] == b'_') {
        if text[place] != b'_' {
            number = 10 * number + (text[place] - b'0') as u32;
        }
        place += 1;
    }
    number
}
