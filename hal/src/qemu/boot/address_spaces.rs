//! Lays the machine out in physical memory: shared blocks, and a private address space for every core.
//!
//! Done by the first core before paging is on, when every frame can be reached under its physical address.

use crate::{
    bare::{
        PAGE_BYTES,
        frame_pool::FramePool,
        lapic,
        paging::{self, AddressSpace, Entry, OutOfFrames, TABLE_SPAN},
    },
    qemu::{
        exit::failure::fail,
        handed::{facts::Information, multiboot::Handed},
        memory::{addresses, directories, image},
    },
};
use core::sync::atomic::Ordering;

/// What the machine would need and what it has, in MiB.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shortage {
    pub(crate) needed_mib: usize,
    pub(crate) present_mib: usize,
}

/// Chooses the shared blocks, writes them into `information`, and builds the address space of every core.
///
/// # Errors
/// The memory does not suffice.
///
/// # Safety
/// Paging must be off, and `handed` must describe this machine.
pub(crate) unsafe fn build(information: &mut Information, handed: &Handed) -> Result<(), Shortage> {
    let mut pool = FramePool::new();
    for range in &handed.usable {
        pool.add(range.clone());
    }
    let present = handed.usable.iter().map(|range| range.end).max().unwrap_or(0);
    pool.reserve(image::start()..image::end());
    for module in &handed.modules {
        pool.reserve(module.contents.clone());
    }
    if let Some(member) = information.membership {
        let region = member.region..member.region + addresses::CLUSTER_REGION_BYTES;
        let is_memory = handed.usable.iter().any(|range| range.start <= region.start && region.end <= range.end);
        if !is_memory || region.start < image::end() {
            fail(format_args!("the region that nodes share is not at {:#x}", region.start));
        }
        pool.reserve(region);
    }
    let needed_pages = pages_needed(information, handed);
    let lacking = needed_pages.saturating_sub(pool.pages());
    // Some slack covers what the counting leaves out: holes in the memory map and pages lost at their edges.
    let shortage = Shortage {
        needed_mib: (present / PAGE_BYTES + lacking).div_ceil((1 << 20) / PAGE_BYTES) + 1,
        present_mib: present.div_ceil(1 << 20),
    };
    if lacking > 0 {
        return Err(shortage);
    }
    if let Some(member) = information.membership {
        // Whoever starts the nodes has made it zero; other nodes may use it by now.
        information.shared_dram = member.region;
        information.mpb = member.region + addresses::SHARED_DRAM_BYTES;
    } else {
        // The promise that a shared page is zero is kept once, so it must stand in one place: the page tables of the
        // shared DRAM are not among those that each core has a copy of, because they cover nothing else.
        information.shared_dram =
            pool.contiguous(addresses::SHARED_DRAM_BYTES, TABLE_SPAN, addresses::HEAP_BASE).ok_or(shortage)?;
        let mpb_bytes = information.core_count * addresses::MPB_BYTES_PER_CORE;
        information.mpb = pool.contiguous(mpb_bytes, PAGE_BYTES, addresses::HEAP_BASE).ok_or(shortage)?;
        // SAFETY: the block came from the pool, so it is free RAM; paging is off.
        unsafe { paging::clear(information.mpb, mpb_bytes) }
    }
    // SAFETY: paging is off, and the pool holds free RAM only.
    unsafe { build_spaces(information, handed, &mut pool) }.map_err(|OutOfFrames| shortage)
}

/// # Safety
/// Paging must be off, and the pool must hold free RAM.
unsafe fn build_spaces(information: &Information, handed: &Handed, pool: &mut FramePool) -> Result<(), OutOfFrames> {
    // SAFETY: paging is off, and the pool holds free RAM, as the caller says. Nobody uses the spaces yet. Each core gets
    // frames of its own, a domain those of its cores, and all what is the emulator's or cannot be written.
    unsafe {
        let shared = shared_space(information, handed, pool)?;
        let private = image::private_start()..image::private_end();
        let nothing = 0..0;
        let stack = addresses::STACK_TOP - information.stack_bytes..addresses::STACK_TOP;
        let cache_bytes = information.own_frames() * PAGE_BYTES;
        let [dram_window, _] = addresses::CACHE_WINDOW_PARTS;
        let mut domain = AddressSpace::new(pool)?;
        for core in 0..information.core_count {
            let mut space = AddressSpace::new(pool)?;
            space.inherit(&shared, private.clone(), pool)?;
            if information.cores_per_domain > 1 {
                if core % information.cores_per_domain == 0 {
                    domain = AddressSpace::new(pool)?;
                    let shared_bytes = information.domain_frames() * PAGE_BYTES;
                    let (frames, twins) = (addresses::DOMAIN_FRAMES_BASE, addresses::DOMAIN_TWINS_BASE);
                    let account = addresses::DOMAIN_ACCOUNT_BASE;
                    domain.promise_zeroed(frames..frames + shared_bytes, pool)?;
                    domain.promise_zeroed(twins..twins + shared_bytes, pool)?;
                    domain.map_zeroed(account..account + addresses::DOMAIN_ACCOUNT_BYTES, pool)?;
                    for offset in dram_window.clone().step_by(TABLE_SPAN) {
                        domain.ensure_table(addresses::CACHE_WINDOW_BASE + offset, pool)?;
                    }
                }
                space.inherit(&domain, nothing.clone(), pool)?;
            }
            space.map_copy(image::private_start()..image::data_end(), pool)?;
            space.map_zeroed(image::data_end()..image::private_end(), pool)?;
            space.map_fresh(stack.clone(), pool)?;
            space.promise_zeroed(addresses::HEAP_BASE..addresses::HEAP_BASE + information.heap_bytes(core), pool)?;
            space.promise_zeroed(addresses::CACHE_FRAMES_BASE..addresses::CACHE_FRAMES_BASE + cache_bytes, pool)?;
            space.promise_zeroed(addresses::CACHE_TWINS_BASE..addresses::CACHE_TWINS_BASE + cache_bytes, pool)?;
            for offset in addresses::CACHE_WINDOW_PARTS.into_iter().flat_map(|part| part.step_by(TABLE_SPAN)) {
                space.ensure_table(addresses::CACHE_WINDOW_BASE + offset, pool)?;
            }
            space.map_tables(addresses::TABLES_BASE);
            directories::DIRECTORIES[core].store(space.directory() as u32, Ordering::Release);
        }
        Ok(())
    }
}

/// The mappings that all cores have in common.
///
/// # Safety
/// As for [`build_spaces`].
unsafe fn shared_space(
    information: &Information,
    handed: &Handed,
    pool: &mut FramePool,
) -> Result<AddressSpace, OutOfFrames> {
    let (read_only, writable) = (Entry::empty(), Entry::WRITABLE);
    // SAFETY: paging is off, and the pool holds free RAM, as the caller says. Nobody uses the space yet. What all share can
    // be written only where it is the emulator's: its section, the chip's memory, low memory, the local APIC.
    unsafe {
        let mut space = AddressSpace::new(pool)?;
        space.map_identity(PAGE_BYTES..0x10_0000, writable, pool)?;
        space.map_identity(image::text_start()..image::text_end(), read_only, pool)?;
        space.map_identity(image::rodata_start()..image::rodata_end(), read_only, pool)?;
        space.map_identity(image::emulator_start()..image::emulator_end(), writable, pool)?;
        if let Some(member) = information.membership {
            space.map_identity(member.region..member.region + addresses::CLUSTER_REGION_BYTES, writable, pool)?;
        } else {
            let dram = information.shared_dram;
            space.promise_identity(dram..dram + addresses::SHARED_DRAM_BYTES, pool)?;
            let mpb_bytes = information.core_count * addresses::MPB_BYTES_PER_CORE;
            space.map_identity(information.mpb..information.mpb + mpb_bytes, writable, pool)?;
        }
        for module in &handed.modules {
            space.map_identity(module.contents.clone(), read_only, pool)?;
        }
        let uncached = writable | Entry::CACHE_DISABLE | Entry::WRITE_THROUGH;
        space.map_identity(lapic::BASE..lapic::BASE + PAGE_BYTES, uncached, pool)?;
        Ok(space)
    }
}

/// An upper bound for the pages that [`build`] takes.
fn pages_needed(information: &Information, handed: &Handed) -> usize {
    let tables = |bytes: usize| bytes.div_ceil(TABLE_SPAN) + 1;
    let pages = |bytes: usize| bytes.div_ceil(PAGE_BYTES);
    let image_bytes = image::end() - image::start();
    let mpb_bytes = information.core_count * addresses::MPB_BYTES_PER_CORE;
    let module_tables: usize = handed.modules.iter().map(|module| tables(module.contents.len())).sum();
    let shared_by_cores = if information.membership.is_some() {
        // Not from the pool; its page tables are.
        tables(addresses::CLUSTER_REGION_BYTES)
    } else {
        pages(addresses::SHARED_DRAM_BYTES) + pages(mpb_bytes)
    };
    let shared = shared_by_cores
        + tables(addresses::SHARED_DRAM_BYTES)
        + tables(mpb_bytes)
        + tables(image_bytes)
        + module_tables
        + 2;
    let cache_bytes = information.own_frames() * PAGE_BYTES;
    let per_core = 1
        + tables(image_bytes)
        + pages(image::private_end() - image::private_start())
        + pages(information.stack_bytes)
        + tables(information.stack_bytes)
        + 1
        + 2 * (pages(cache_bytes) + tables(cache_bytes))
        + addresses::CACHE_WINDOW_PARTS.into_iter().map(|part| tables(part.len())).sum::<usize>();
    let domain_bytes = information.domain_frames() * PAGE_BYTES;
    let per_domain = 1
        + tables(addresses::CACHE_WINDOW_PARTS[0].len())
        + 2 * (pages(domain_bytes) + tables(domain_bytes))
        + pages(addresses::DOMAIN_ACCOUNT_BYTES)
        + tables(addresses::DOMAIN_ACCOUNT_BYTES);
    let domains = match information.cores_per_domain {
        1 => 1,
        cores => information.core_count.div_ceil(cores) * per_domain,
    };
    let heaps: usize = (0..information.core_count)
        .map(|core| information.heap_bytes(core))
        .map(|bytes| pages(bytes) + tables(bytes))
        .sum();
    shared + information.core_count * per_core + domains + heaps
}
