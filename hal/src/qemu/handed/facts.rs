//! What is known of the machine since its start, the same on every core.

use spin::once::Once;

use crate::{
    bare::options::{self, value_of},
    qemu::{handed::multiboot::Handed, lock, memory::addresses},
};

/// Largest number of cores: numbers of local APICs are 8 bits and the last one means "all".
pub(crate) const MAX_CORES: usize = crate::firmware::MAX_PROCESSORS;

/// A node's place in its cluster.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Membership {
    /// Which node this is.
    pub(crate) node: usize,
    /// How many there are.
    pub(crate) nodes: usize,
    /// Where the shared region begins.
    pub(crate) region: usize,
    /// Seconds without a sign of life after which a node has disappeared.
    pub(crate) deadline_s: usize,
}

/// What is known about the machine after the start; the same on every core.
pub(crate) struct Information {
    pub(crate) core_count: usize,
    pub(crate) cache_frames: usize,
    /// Neighbouring cores that share their copies of controllers' memory.
    pub(crate) cores_per_domain: usize,
    pub(crate) shared_dram: usize,
    pub(crate) mpb: usize,
    /// This node's place in a cluster, if it is one.
    pub(crate) membership: Option<Membership>,
    pub(crate) heap_bytes: usize,
    pub(crate) first_heap_bytes: usize,
    /// Bytes of each heap that are for the core's trace.
    pub(crate) trace_bytes: usize,
    pub(crate) stack_bytes: usize,
}

impl Information {
    /// Frames of a core's own: half of them where it shares the other half with its coherence domain.
    pub(crate) fn own_frames(&self) -> usize {
        if self.cores_per_domain == 1 { self.cache_frames } else { self.cache_frames.div_ceil(2) }
    }

    /// Frames that the cores of a coherence domain share.
    pub(crate) fn domain_frames(&self) -> usize {
        let per_core = self.cache_frames - self.cache_frames.div_ceil(2);
        (per_core * self.cores_per_domain).clamp(1, addresses::CACHE_MAX_FRAMES)
    }

    /// Bytes of a core's heap. The first core of the whole machine has its own size.
    pub(crate) fn heap_bytes(&self, core: usize) -> usize {
        let is_first = core == 0 && self.membership.is_none_or(|member| member.node == 0);
        if is_first { self.first_heap_bytes } else { self.heap_bytes }
    }

    /// Cores of all nodes.
    pub(crate) fn all_cores(&self) -> usize {
        self.core_count * self.membership.map_or(1, |member| member.nodes)
    }
}

#[unsafe(link_section = ".bss.emulator")]
static HANDED: Once<Handed, lock::Pause> = Once::new();

#[unsafe(link_section = ".emulator")]
static INFORMATION: Once<Information, lock::Pause> = Once::new();

/// Notes what the loader has handed over.
pub(crate) fn note_handed(handed: Handed) -> &'static Handed {
    HANDED.call_once(|| handed)
}

/// Notes what the start has found out.
pub(crate) fn note(information: Information) {
    INFORMATION.call_once(|| information);
}

/// What is known; asked for after the start has found it out.
pub(crate) fn information() -> &'static Information {
    INFORMATION.get().expect("the machine's layout is asked for after it was made")
}

/// What is known, or nothing before the start has found it out.
pub(crate) fn known_information() -> Option<&'static Information> {
    INFORMATION.get()
}

/// The number of cores of this machine; of a cluster, those of this node.
pub fn core_count() -> usize {
    information().core_count
}

/// The command line of the image. QEMU puts the path of the image before the words.
pub fn command_line() -> &'static str {
    HANDED.get().map_or("", |handed| handed.command_line.as_str())
}

/// The value of the word `key=value` of the command line; the last one counts.
pub fn option(key: &str) -> Option<&'static str> {
    value_of(command_line(), key)
}

/// Whether the command line has this word.
pub fn has_word(word: &str) -> bool {
    options::has(command_line(), word)
}

/// The modules with their names (the text that the loader gave) and contents, readable from every core.
pub fn modules() -> impl Iterator<Item = (&'static str, &'static [u8])> {
    HANDED.get().into_iter().flat_map(|handed| &handed.modules).map(|module| {
        let start = core::ptr::with_exposed_provenance(module.contents.start);
        // SAFETY: the range is reserved, mapped read-only on every core, and never changes.
        let contents = unsafe { core::slice::from_raw_parts(start, module.contents.len()) };
        (module.name.as_str(), contents)
    })
}
