//! Waiting.

use hal::{Core, CoreId, Deadline, Place, Reason, TimedOut};

use crate::{Context, check, check::Outcome, check_eq, memory::spare_line};

/// A wait for what never comes ends at its deadline, with its reason and who was missing.
pub fn times_out<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let hal = context.hal();
    let line = spare_line(context, context.rank(), 0);
    let reason = Reason::new("nothing").number(7);
    let begin = hal.now();
    let outcome = hal.wait_until::<()>(&[Place::Line(line)], Deadline::At(begin + 20_000), reason, |poll| {
        poll.missing(CoreId::new(0));
        None
    });
    check_eq!(outcome, Err(TimedOut { reason: reason.from(CoreId::new(0)) }), "a wait for nothing");
    check!(hal.now() >= begin + 20_000, "it ended {} ticks after its begin", hal.now() - begin);
    // What is there already is found even if the deadline has passed.
    let found = hal.wait_until(&[Place::Line(line)], Deadline::At(0), reason, |poll| Some(poll.line(0)));
    check!(found.is_ok(), "what is there was not found");
    context.comm.barrier();
    Ok(())
}
