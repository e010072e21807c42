//! Whether the machine keeps what `hal` promises, as anybody can ask a machine of theirs.

use hal::{
    Core,
    conformance::{self, Room},
};

use crate::{
    Context,
    check::Outcome,
    memory::{free, shared, spare_line},
};

/// The machine has no defect that conformance checks know.
pub fn finds_no_defect<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let memory = shared(context, Room::bytes(context.size()))?;
    let first = spare_line(context, 0, 0).line.into();
    spare_line(context, 0, conformance::LINES - 1);
    context.comm.barrier();
    conformance::check(context.hal(), context.caches, &regions::of_a_test(), &Room::new(memory, first))?;
    free(context, memory)
}
