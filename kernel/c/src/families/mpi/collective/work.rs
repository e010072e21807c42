//! What the ranks do in each operation of all.

use alloc::{vec, vec::Vec};

use kernel::{collectives::collective::nonblocking::schedules::Peers, hal::Core};

use super::{
    super::{
        class::{Class, Fault},
        operators::Operator,
    },
    blocks::{Block, Elements},
    party::Party,
    plan::{Kind, Plan, Root},
};

/// Does what a plan says. Where ranks name different lengths, those that hear of it fail when all is over, and nobody waits for them.
///
/// # Safety
/// Its buffers are there until this is over, and nobody else writes to them, nor reads those of results.
pub(super) async unsafe fn run<C: Core>(plan: &Plan, party: &Party<'_, C>) -> Result<(), Fault> {
    // SAFETY: the caller says so.
    unsafe {
        match plan.kind {
            Kind::Barrier => barrier(plan, party).await,
            Kind::Broadcast => broadcast(plan, party).await,
            Kind::Gather => gather(plan, party).await,
            Kind::Scatter => scatter(plan, party).await,
            Kind::Allgather => allgather(plan, party).await,
            Kind::Alltoall => alltoall(plan, party).await,
            Kind::Reduce => reduce(plan, party).await,
            Kind::Allreduce => allreduce(plan, party).await,
            Kind::ReduceScatter => reduce_scatter(plan, party).await,
            Kind::Scan | Kind::Exscan => scan(plan, party).await,
            Kind::NeighbourAllgather | Kind::NeighbourAlltoall => neighbours(plan, party).await,
        }
    }?;
    party.ended()
}

async fn barrier<C: Core>(plan: &Plan, party: &Party<'_, C>) -> Result<(), Fault> {
    let local = party.local();
    local.barrier().await?;
    if plan.comm.remote.is_none() {
        return Ok(());
    }
    // All of this group are here, which its first rank tells that of the other group.
    if party.rank == 0 {
        party.swap(&[], 0, 0).await?;
    }
    local.broadcast(&mut Vec::new(), 0).await
}

async unsafe fn broadcast<C: Core>(plan: &Plan, party: &Party<'_, C>) -> Result<(), Fault> {
    let Some(blocks) = &plan.receives else { return Ok(()) };
    let block = blocks.first()?;
    let is_inter = plan.comm.remote.is_some();
    if plan.root == Root::Here {
        // SAFETY: the caller says so.
        let mut message = unsafe { block.bytes() }.into_owned();
        return if is_inter { party.send(&message, 0).await } else { party.broadcast(&mut message, party.rank).await };
    }
    let Root::At(root) = plan.root else { return Ok(()) };
    let mut message = vec![0; block.len_bytes()];
    if is_inter {
        party.two_groups().broadcast_from(&mut message, root).await?;
    } else {
        party.broadcast(&mut message, root).await?;
    }
    // SAFETY: the caller says so.
    unsafe { block.set(&message) };
    Ok(())
}

async unsafe fn gather<C: Core>(plan: &Plan, party: &Party<'_, C>) -> Result<(), Fault> {
    let mut receives = plan.receives.as_ref().map_or_else(Vec::new, |blocks| blocks.numbered(party.peers.size()));
    let mut sends = Vec::new();
    match (&plan.sends, plan.root) {
        // The root's own block is where it belongs.
        (None, Root::Here) if plan.is_in_place => receives.retain(|(rank, _)| *rank != party.rank),
        (Some(block), Root::Here) => sends.push((party.rank, block.first()?)),
        (Some(block), Root::At(root)) => sends.push((root, block.first()?)),
        _ => {}
    }
    // SAFETY: the caller says so.
    unsafe { party.exchange(sends, receives, false).await }
}

async unsafe fn scatter<C: Core>(plan: &Plan, party: &Party<'_, C>) -> Result<(), Fault> {
    let mut sends = plan.sends.as_ref().map_or_else(Vec::new, |blocks| blocks.numbered(party.peers.size()));
    let mut receives = Vec::new();
    match (&plan.receives, plan.root) {
        (None, Root::Here) if plan.is_in_place => sends.retain(|(rank, _)| *rank != party.rank),
        (Some(block), Root::Here) => receives.push((party.rank, block.first()?)),
        (Some(block), Root::At(root)) => receives.push((root, block.first()?)),
        _ => {}
    }
    // SAFETY: the caller says so.
    unsafe { party.exchange(sends, receives, false).await }
}

async unsafe fn allgather<C: Core>(plan: &Plan, party: &Party<'_, C>) -> Result<(), Fault> {
    let blocks = plan.receives.as_ref().ok_or(Class::BUFFER)?;
    let mut receives = blocks.numbered(party.peers.size());
    let own = match &plan.sends {
        Some(block) => block.first()?,
        None => {
            receives.retain(|(rank, _)| *rank != party.rank);
            blocks.get(party.rank)
        }
    };
    let mut sends: Vec<_> = (0..party.peers.size()).map(|rank| (rank, own.clone())).collect();
    if plan.is_in_place {
        sends.retain(|(rank, _)| *rank != party.rank);
    }
    let first = party.rank.min(sends.len());
    sends.rotate_left(first);
    // SAFETY: the caller says so.
    unsafe { party.exchange(sends, receives, false).await }
}

async unsafe fn alltoall<C: Core>(plan: &Plan, party: &Party<'_, C>) -> Result<(), Fault> {
    let blocks = plan.receives.as_ref().ok_or(Class::BUFFER)?;
    let size = party.peers.size();
    let mut sends = plan.sends.as_ref().unwrap_or(blocks).numbered(size);
    // Not all to the same rank at the same time.
    sends.rotate_left(party.rank % size);
    // SAFETY: the caller says so.
    unsafe { party.exchange(sends, blocks.numbered(size), plan.is_in_place).await }
}

/// Combines elements of an earlier rank and a later one, which become the later one's.
fn combining(operator: &Operator) -> impl Fn(&Elements, &mut Elements) {
    |earlier, later| later.combine_with_earlier(earlier, operator)
}

fn operator(plan: &Plan) -> Result<&Operator, Fault> {
    plan.operator.as_deref().ok_or_else(|| Class::OP.into())
}

async unsafe fn reduce<C: Core>(plan: &Plan, party: &Party<'_, C>) -> Result<(), Fault> {
    let operator = operator(plan)?;
    if plan.comm.remote.is_none() {
        let root = if let Root::At(root) = plan.root { root } else { party.rank };
        // SAFETY: the caller says so.
        let mut elements = unsafe { Elements::of(&plan.operands()?) };
        // A tree in the order of ranks begins with rank 0, which tells the root.
        let first = if operator.is_commutative() { root } else { 0 };
        party.reduce(&mut elements, &combining(operator), [first, root]).await?;
        if plan.root == Root::Here {
            // SAFETY: the caller says so.
            unsafe { elements.copy_to(&plan.results()?) };
        }
        return Ok(());
    }
    match plan.root {
        Root::Here => {
            let block = plan.results()?;
            let result = party.receive(block.len_bytes(), 0).await?;
            // SAFETY: the caller says so.
            unsafe { block.set(&result) };
            Ok(())
        }
        Root::Beside => Ok(()),
        Root::At(root) => {
            // SAFETY: the caller says so.
            let mut elements = unsafe { Elements::of(&plan.operands()?) };
            party.two_groups().reduce_for(&mut elements, &combining(operator), root).await
        }
    }
}

async unsafe fn allreduce<C: Core>(plan: &Plan, party: &Party<'_, C>) -> Result<(), Fault> {
    let (operator, block) = (operator(plan)?, plan.results()?);
    // SAFETY: the caller says so.
    let mut elements = unsafe { Elements::of(&plan.operands()?) };
    if plan.comm.remote.is_none() {
        party.allreduce(&mut elements, &combining(operator)).await?;
        // SAFETY: the caller says so.
        unsafe { elements.copy_to(&block) };
        return Ok(());
    }
    let result = party.two_groups().allreduce(&mut elements, &combining(operator), block.len_bytes()).await?;
    // SAFETY: the caller says so.
    unsafe { block.set(&result) };
    Ok(())
}

async unsafe fn reduce_scatter<C: Core>(plan: &Plan, party: &Party<'_, C>) -> Result<(), Fault> {
    let parts = plan.receives.as_ref().ok_or(Class::BUFFER)?;
    let mut end = 0;
    let block = |rank| {
        let start = end;
        end += parts.get(rank).len_bytes();
        start..end
    };
    let blocks: Vec<_> = (0..party.size()).map(block).collect();
    // SAFETY: the caller says so.
    let mut elements = unsafe { Elements::of(&plan.operands()?) };
    let combine = combining(operator(plan)?);
    let own = match plan.comm.remote {
        None => party.reduce_scatter(&mut elements, &combine, &blocks).await?,
        Some(_) => party.two_groups().reduce_scatter(&mut elements, &combine, &blocks).await?,
    };
    // Each part comes to the beginning of the buffer.
    let target = Block { count: parts.get(party.rank).count, ..parts.first()? };
    // SAFETY: the caller says so.
    unsafe { target.set(&own) };
    Ok(())
}

async unsafe fn scan<C: Core>(plan: &Plan, party: &Party<'_, C>) -> Result<(), Fault> {
    // SAFETY: the caller says so.
    let mut known = unsafe { Elements::of(&plan.operands()?) };
    let before = party.scan(&mut known, &combining(operator(plan)?)).await?;
    let result = if plan.kind == Kind::Scan { Some(known) } else { before };
    if let Some(result) = result {
        // SAFETY: the caller says so.
        unsafe { result.copy_to(&plan.results()?) };
    }
    Ok(())
}

async unsafe fn neighbours<C: Core>(plan: &Plan, party: &Party<'_, C>) -> Result<(), Fault> {
    let (Some(neighbours), Some(sends), Some(receives)) = (&plan.neighbours, &plan.sends, &plan.receives) else {
        return Err(Class::BUFFER.into());
    };
    let is_same = plan.kind == Kind::NeighbourAllgather;
    let mut sent = Vec::new();
    for (at, to) in neighbours.sends() {
        sent.push((to, if is_same { sends.first()? } else { sends.get(at) }));
    }
    let received = neighbours.receives().map(|(at, from)| (from, receives.get(at))).collect();
    // SAFETY: the caller says so.
    unsafe { party.exchange(sent, received, false).await }
}
