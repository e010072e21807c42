//! Whether all ranks of a communicator call the same operation of all, with arguments that agree. Intercommunicators are left out: of a
//! rooted operation their ranks name different things, and one group cannot tell the other that it takes no part.
//!
//! They are compared only if the program is run with the word `check=arguments`. Then rank 0 first tells all the others in words what it
//! calls. The first rank that calls something else tells all ranks both texts. So all of them fail, where they would wait for ever or mix
//! data up; also where a rank has found its own arguments to be wrong. A call that only begins an operation waits for all ranks then, too.

use alloc::{
    format,
    rc::Rc,
    string::{String, ToString},
    vec::Vec,
};

use kernel::{collectives::collective::nonblocking::schedules::Peers, hal::Core};

use super::{
    super::{
        class::{Class, Fault},
        messages::Form,
        state::Here,
    },
    party::Party,
    plan::{Blocks, Kind, Plan, Root, described::CCollective},
};

impl Plan {
    /// What all ranks have to name alike.
    fn told(&self) -> String {
        let lens = |blocks: &Blocks| match blocks {
            Blocks::Alike(block) => block.len_bytes().to_string(),
            Blocks::Each(all) => format!("{:?}", all.iter().map(|block| block.len_bytes()).collect::<Vec<_>>()),
        };
        let len = match (self.kind, &self.receives) {
            (Kind::Broadcast | Kind::Allgather | Kind::ReduceScatter, Some(blocks)) => Some(lens(blocks)),
            (Kind::Alltoall, Some(blocks @ Blocks::Alike(_))) => Some(lens(blocks)),
            (Kind::Reduce | Kind::Allreduce | Kind::Scan | Kind::Exscan, _) => {
                self.operands().ok().map(|operands| operands.len_bytes().to_string())
            }
            _ => None,
        };
        let mut told = len.map_or_else(String::new, |len| format!(" of {len} bytes"));
        if let (Some(operator), Ok(operands)) = (&self.operator, self.operands()) {
            let (basic, by) = (operands.datatype.basic(), operator.operation());
            told += &basic.map_or_else(String::new, |basic| format!(" of {}", basic.name));
            told += &by.map_or_else(|| " by a function of the program's".to_string(), |by| format!(" by {by:?}"));
        }
        let is_rooted = matches!(self.kind, Kind::Broadcast | Kind::Gather | Kind::Scatter | Kind::Reduce);
        if is_rooted {
            let root = if let Root::At(root) = self.root { root } else { self.comm.rank };
            told += &format!(" with root {root}");
        }
        told
    }
}

/// What this rank is to do, if all ranks call the same, or calls are not compared.
pub(super) fn compared<C: Core>(
    here: &Here<'_, '_, '_, C>,
    call: &CCollective,
    plan: Result<Rc<Plan>, Fault>,
) -> Result<Rc<Plan>, Fault> {
    let comm = here.communicator(call.comm).ok().filter(|comm| comm.remote.is_none());
    let Some(comm) = comm.filter(|_| here.world.compares_arguments()) else { return plan };
    here.session.before_waiting();
    let what = format!("{:?} {:?}", Form::of(call.form), call.kind()).to_lowercase();
    let own =
        what + &plan.as_ref().map_or_else(|fault| format!(" with a wrong argument: {}", fault.why), |plan| plan.told());
    let party = here.party(&comm);
    let report = Party::wait(&here.engine, async {
        let mut first = own.as_bytes().to_vec();
        party.broadcast(&mut first, 0).await?;
        let mut report = Vec::new();
        if first != own.as_bytes() {
            let first = String::from_utf8_lossy(&first);
            report = format!("rank {} calls {own}, rank 0 {first}; all have to name the same", comm.rank).into_bytes();
        }
        let first_of = |earlier: &Vec<u8>, later: &mut Vec<u8>| {
            if !earlier.is_empty() {
                later.clone_from(earlier);
            }
        };
        party.allreduce(&mut report, &first_of).await?;
        Ok(report)
    });
    let (plan, report) = (plan?, report?);
    if report.is_empty() {
        return Ok(plan);
    }
    Err(Fault::new(Class::NOT_SAME, String::from_utf8_lossy(&report).into_owned()))
}
