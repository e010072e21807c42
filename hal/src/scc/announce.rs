//! What this core tells whoever emulates its board and traces it: by calls of a function that does nothing. Only images that are
//! to be traced have them.

use core::arch::asm;

use descriptions::{
    boards::announced::{Announced, NOBODY},
    trace,
};
use heapless::String;

use crate::{CoreId, Reason, Span, kit::Announcement};

/// Where an emulator looks: it knows the name, and what is at the address.
#[unsafe(no_mangle)]
#[inline(never)]
pub(crate) extern "C" fn atoll_scc_announce(announced: *const Announced) {
    // SAFETY: nothing is executed. As far as the compiler knows, what is at the address is read.
    unsafe { asm!("/* {0} */", in(reg) announced, options(nostack, preserves_flags)) }
}

/// Says it.
pub(crate) fn say(announcement: Announcement<'_>) {
    match announcement {
        Announcement::Begins(Span { operation, peer, bytes, .. }) => {
            call(Announced::BEGINS, operation, peer, Some(bytes as u32));
        }
        Announcement::Ends => call(Announced::ENDS, "", None, None),
        Announcement::Waits(Reason { what, peer, detail }) => call(Announced::WAITS, what, peer, detail),
        Announcement::HasWaited { reason: Reason { what, peer, detail }, is_late } => {
            call(if is_late { Announced::IS_LATE } else { Announced::HAS_WAITED }, what, peer, detail);
        }
        Announcement::Phase(name) => {
            let kept: String<{ trace::PHASE_BYTES }> = trace::phase(name).collect();
            call(Announced::PHASE, &kept, None, None);
        }
    }
}

fn call(what: u32, name: &str, peer: Option<CoreId>, number: Option<u32>) {
    let announced = Announced {
        what,
        name: name.as_ptr().addr() as u32,
        name_bytes: name.len() as u32,
        peer: peer.map_or(NOBODY, |core| core.index() as u32),
        number: number.unwrap_or(0),
        has_number: number.is_some().into(),
    };
    atoll_scc_announce(&raw const announced);
}
