//! Operations that all ranks of the machine wait for: those of `collectives`, which need no messages.
//!
//! Whether an operation is one of these all ranks see alike: by its kind and form, by the communicator, and by what is the same on
//! all of them.

use alloc::{rc::Rc, vec, vec::Vec};
use core::slice;

use bytemuck::Pod;
use kernel::{
    collectives::{Combine, Comm, InPlace},
    hal::Core,
};

use super::{
    super::{class::Fault, datatypes::Datatype, operators::Operator},
    blocks::Block,
    plan::{Blocks, Kind, Plan, Root},
};

/// Bytes of the elements that reductions are for, each with a type of as many.
const SIZES: [usize; 6] = [1, 2, 4, 8, 12, 16];

/// Elements that are combined in one go where the result belongs to the left operands.
const TOGETHER: usize = 16;

/// An operator of MPI on elements that are so many bytes.
struct Bytes<'o> {
    operator: &'o Operator,
    datatype: &'o Rc<Datatype>,
    /// P54C cycles for one of them.
    cycles: u64,
}

impl<const N: usize> Combine<[u8; N]> for Bytes<'_> {
    fn combine(&self, left: [u8; N], mut right: [u8; N]) -> [u8; N] {
        // SAFETY: both are one element.
        unsafe { self.operator.combine(left.as_ptr(), right.as_mut_ptr(), 1, self.datatype) };
        right
    }

    fn combine_all(&self, there: &mut [[u8; N]], right: &[[u8; N]]) {
        let mut results = [[0; N]; TOGETHER];
        for (there, right) in there.chunks_mut(TOGETHER).zip(right.chunks(TOGETHER)) {
            let results = &mut results[..right.len()];
            results.copy_from_slice(right);
            self.combine_all_before(there, results);
            there.copy_from_slice(results);
        }
    }

    fn combine_all_before(&self, left: &[[u8; N]], there: &mut [[u8; N]]) {
        let count = left.len().min(there.len());
        // SAFETY: both have so many elements.
        unsafe { self.operator.combine(left.as_ptr().cast(), there.as_mut_ptr().cast(), count, self.datatype) };
    }

    fn cycles(&self) -> u64 {
        self.cycles
    }
}

/// Whether a plan is for all ranks of the machine, in their order.
pub(crate) fn is_of_all<C: Core>(plan: &Plan, world: &Comm<'_, C>) -> bool {
    plan.comm.remote.is_none()
        && plan.comm.size() == world.size()
        && plan.comm.group.ranks().iter().enumerate().all(|(place, rank)| place == *rank)
}

/// Does what a plan says, if this is an operation of all ranks of the machine, in their order, that `collectives` has.
///
/// # Safety
/// As for [`run`](super::work::run).
pub(super) unsafe fn run<C: Core>(plan: &Plan, world: &Comm<'_, C>) -> Option<Result<(), Fault>> {
    if !is_of_all(plan, world) {
        return None;
    }
    // SAFETY: the caller says so.
    unsafe {
        match plan.kind {
            Kind::Barrier => {
                world.barrier();
                Some(Ok(()))
            }
            Kind::Broadcast => Some(broadcast(plan, world)),
            Kind::Reduce | Kind::Allreduce => reduce(plan, world),
            Kind::Allgather | Kind::Alltoall => exchange(plan, world),
            _ => None,
        }
    }
}

fn root<C: Core>(plan: &Plan, world: &Comm<'_, C>) -> usize {
    if let Root::At(root) = plan.root { root } else { world.rank() }
}

/// # Safety
/// The block is there, and nobody else reads or writes it.
unsafe fn memory<'b>(block: &Block) -> &'b mut [u8] {
    match block.len_bytes() {
        0 => &mut [],
        // SAFETY: the caller says so.
        len => unsafe { slice::from_raw_parts_mut(block.address, len) },
    }
}

unsafe fn broadcast<C: Core>(plan: &Plan, world: &Comm<'_, C>) -> Result<(), Fault> {
    let Some(Blocks::Alike(block)) = &plan.receives else { return Ok(()) };
    let root = root(plan, world);
    if block.datatype.is_contiguous() {
        // SAFETY: the caller says so.
        return Ok(world.broadcast(unsafe { memory(block) }, root)?);
    }
    let mut message = vec![0; block.len_bytes()];
    // SAFETY: the caller says so.
    unsafe {
        if plan.root == Root::Here {
            message.copy_from_slice(&block.bytes());
        }
        world.broadcast(&mut message, root)?;
        if plan.root != Root::Here {
            block.set(&message);
        }
    }
    Ok(())
}

/// Of equal blocks of all ranks.
unsafe fn exchange<C: Core>(plan: &Plan, world: &Comm<'_, C>) -> Option<Result<(), Fault>> {
    let Some(Blocks::Alike(first)) = &plan.receives else { return None };
    let whole = first.at(0, first.count * world.size());
    let sent = if plan.kind == Kind::Alltoall { world.size() } else { 1 };
    let own = match &plan.sends {
        Some(Blocks::Alike(block)) => Some(block.at(0, block.count * sent)),
        Some(Blocks::Each(_)) => return None,
        None => None,
    };
    // SAFETY: the caller says so.
    unsafe {
        let own = own.as_ref().map(|own| own.bytes());
        let is_direct = whole.datatype.is_contiguous();
        let mut copy = if is_direct { Vec::new() } else { whole.bytes().into_owned() };
        let all = if is_direct { memory(&whole) } else { &mut copy[..] };
        let result = match (plan.kind, &own) {
            (Kind::Alltoall, Some(own)) => world.alltoall(&own[..], all),
            (Kind::Alltoall, None) => world.alltoall(InPlace, all),
            (_, Some(own)) => world.allgather(&own[..], all),
            (_, None) => world.allgather(InPlace, all),
        };
        if !is_direct {
            whole.set(&copy);
        }
        Some(result.map_err(Fault::from))
    }
}

/// Of standard datatypes without gaps, by standard operators: elements of the same size and kind on all ranks.
unsafe fn reduce<C: Core>(plan: &Plan, world: &Comm<'_, C>) -> Option<Result<(), Fault>> {
    let operator = plan.operator.as_deref()?;
    let operands = plan.operands().ok()?;
    let datatype = &operands.datatype;
    let size = datatype.size();
    let is_one = datatype.is_basic() && datatype.is_contiguous() && SIZES.contains(&size);
    let (operation, basic) = (operator.operation()?, datatype.basic()?);
    if !is_one {
        return None;
    }
    let by = Bytes { operator, datatype, cycles: operation.cycles(basic) };
    // SAFETY: the caller says so.
    let mut elements = unsafe { operands.bytes() }.into_owned();
    let result = match size {
        1 => of::<1, C>(plan, world, &by, &mut elements),
        2 => of::<2, C>(plan, world, &by, &mut elements),
        4 => of::<4, C>(plan, world, &by, &mut elements),
        8 => of::<8, C>(plan, world, &by, &mut elements),
        12 => of::<12, C>(plan, world, &by, &mut elements),
        _ => of::<16, C>(plan, world, &by, &mut elements),
    };
    if result.is_ok() && plan.root == Root::Here {
        // SAFETY: the caller says so.
        return Some(plan.results().map(|block| unsafe { block.set(&elements) }));
    }
    Some(result)
}

fn of<const N: usize, C: Core>(
    plan: &Plan,
    world: &Comm<'_, C>,
    by: &Bytes<'_>,
    elements: &mut [u8],
) -> Result<(), Fault>
where
    [u8; N]: Pod,
{
    let (elements, _) = elements.as_chunks_mut::<N>();
    if plan.kind == Kind::Allreduce {
        world.allreduce(InPlace, elements, by)?;
    } else {
        world.reduce(InPlace, elements, by, root(plan, world))?;
    }
    Ok(())
}
