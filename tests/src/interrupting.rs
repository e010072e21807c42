//! What goes on while ranks compute: messages with tags and non-blocking operations, by interrupts.

use alloc::vec;

use collectives::{Class, Error, Group, Interrupting, Operator, Source, Tag};
use hal::{Core, Region, kind};

use crate::{
    Context, Failed, check,
    check::Outcome,
    check_eq,
    epochs::{make_of, post},
    interrupts::{while_working, work},
    memory::{free, shared},
};

/// A message that goes by way of halves and streams, in several chunks.
const LONG: usize = 20_000;

/// Computes for a while, by interrupts if they are on; without them there is nothing but the work.
fn compute<C: Core>(context: &Context<'_, '_, C>, by: Option<&Interrupting<'_, C>>, rounds: u32) -> Result<(), Failed> {
    match by {
        Some(interrupting) => interrupting.compute(|core| work(core, rounds))?,
        None => work(context.hal(), rounds),
    }
    Ok(())
}

/// Says what another rank was done with when this one had computed.
fn has_said<C: Core>(context: &Context<'_, '_, C>, words: Region<kind::Uncached>, rank: usize) -> bool {
    context.hal().load_word(words, rank) == 1
}

/// Rank 0 sends a message that waits for its receive, to a rank that computes. Says whether it was sent by then.
fn receive_while_computing<C: Core>(
    context: &Context<'_, '_, C>,
    words: Region<kind::Uncached>,
    by: Option<&Interrupting<'_, C>>,
    rounds: u32,
    is_copied: bool,
) -> Result<bool, Failed> {
    let (comm, hal, me) = (context.comm, context.hal(), context.rank());
    hal.store_word(words, me, 0);
    comm.barrier();
    let mut was_sent = true;
    match me {
        0 if is_copied => {
            comm.start_send_tagged(&[7_u8; LONG], 1, 3)?.wait()?;
            hal.store_word(words, me, 1);
        }
        0 => {
            comm.send_tagged(&[7_u8; LONG], 1, 3)?;
            hal.store_word(words, me, 1);
        }
        1 => {
            let mut data = vec![0_u8; LONG];
            let mut receive = comm.start_receive_tagged(&mut data, Source::Rank(0), Tag::Is(3))?;
            compute(context, by, rounds)?;
            was_sent = has_said(context, words, 0);
            receive.wait()?;
            drop(receive);
            check_eq!(data == vec![7; LONG], true, "the message");
        }
        _ => {}
    }
    comm.barrier();
    Ok(was_sent)
}

/// A long message is received by a rank that computes and calls nothing; and is not without interrupts.
pub fn messages_are_received_while_ranks_compute<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    context.unchecked();
    if context.size() < 2 {
        return Ok(());
    }
    let words = shared::<_, kind::Uncached>(context, context.size() * 4)?;
    let messages = context.comm.open_messages()?;
    for is_copied in [false, true] {
        let alone = receive_while_computing(context, words, None, 100, is_copied)?;
        check!(!alone || context.rank() != 1, "a message was received without anybody");
        let interrupting = context.comm.progress_by_interrupts()?;
        while_working(context.comm, |rounds| {
            receive_while_computing(context, words, Some(&interrupting), rounds, is_copied)
        })?;
        interrupting.close()?;
    }
    messages.close()?;
    free(context, words)
}

/// Rank 0 puts more than there is room for at a time into a part of rank 1, which computes. Says whether it was through by then.
fn put_while_computing<C: Core>(
    context: &mut Context<'_, '_, C>,
    words: Region<kind::Uncached>,
    by: Option<&Interrupting<'_, C>>,
    rounds: u32,
) -> Result<bool, Failed> {
    let (comm, hal, me) = (context.comm, context.hal(), context.rank());
    hal.store_word(words, me, 0);
    let (window, mut view) = make_of::<_, u32>(context, Class::Message, if me == 1 { LONG / 4 } else { 0 })?;
    let mut was_over = true;
    match me {
        0 => {
            let access = window.start(&Group::of([1])?)?;
            access.put(1, 0, &[7; LONG / 4])?;
            access.complete();
            hal.store_word(words, me, 1);
        }
        1 => {
            let exposure = post(context, &window, view, &Group::of([0])?)?;
            compute(context, by, rounds)?;
            was_over = has_said(context, words, 0);
            view = exposure.wait(context.caches);
            check_eq!([view.load(0), view.load(LONG / 4 - 1)], [7; 2], "the ends of what was put");
        }
        _ => {}
    }
    window.free(view, context.caches)?;
    comm.barrier();
    Ok(was_over)
}

/// What is put by packets comes to a rank that computes and calls nothing; and does not without interrupts.
pub fn packets_are_taken_while_ranks_compute<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    context.unchecked();
    if context.size() < 2 {
        return Ok(());
    }
    let words = shared::<_, kind::Uncached>(context, context.size() * 4)?;
    let alone = put_while_computing(context, words, None, 100)?;
    check!(!alone || context.rank() != 1, "packets were taken without anybody");
    let interrupting = context.comm.progress_by_interrupts()?;
    while_working(context.comm, |rounds| put_while_computing(context, words, Some(&interrupting), rounds))?;
    interrupting.close()?;
    free(context, words)
}

/// The last rank waits for the result of an operation in which all others compute. Says whether it had that by then.
fn combine_while_computing<C: Core>(
    context: &Context<'_, '_, C>,
    words: Region<kind::Uncached>,
    by: Option<&Interrupting<'_, C>>,
    rounds: u32,
) -> Result<bool, Failed> {
    let (comm, hal, me, size) = (context.comm, context.hal(), context.rank(), context.size());
    hal.store_word(words, me, 0);
    comm.barrier();
    let mut sums = [1_u32; 40];
    let mut had_it = true;
    let mut request = comm.start_allreduce(collectives::InPlace, &mut sums, Operator::SUM)?;
    if me + 1 == size {
        request.wait()?;
        hal.store_word(words, me, 1);
    } else {
        compute(context, by, rounds)?;
        had_it = has_said(context, words, size - 1);
        request.wait()?;
    }
    drop(request);
    check_eq!(sums, [size as u32; 40], "sums");
    comm.barrier();
    Ok(had_it)
}

/// An allreduce goes on through ranks that compute and call nothing; and does not without interrupts.
pub fn operations_go_on_while_ranks_compute<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    context.unchecked();
    let words = shared::<_, kind::Uncached>(context, context.size() * 4)?;
    let alone = combine_while_computing(context, words, None, 100)?;
    check!(!alone || context.rank() + 1 == context.size(), "an operation has gone on without its ranks");
    let interrupting = context.comm.progress_by_interrupts()?;
    while_working(context.comm, |rounds| combine_while_computing(context, words, Some(&interrupting), rounds))?;
    interrupting.close()?;
    free(context, words)
}

/// Rank 1 begins a second barrier after rank 0 has begun to compute, and has looked for that before, when it did not. Says whether it
/// was over by the end.
fn begin_one_after_the_other<C: Core>(
    context: &Context<'_, '_, C>,
    words: Region<kind::Uncached>,
    interrupting: &Interrupting<'_, C>,
    rounds: u32,
) -> Result<bool, Failed> {
    let (comm, hal, me) = (context.comm, context.hal(), context.rank());
    hal.store_word(words, me, 0);
    comm.barrier();
    let mut first = comm.start_barrier()?;
    if me == 1 {
        work(hal, rounds / 4);
    }
    let mut second = comm.start_barrier()?;
    let mut was_over = true;
    if me == 0 {
        work(hal, rounds / 8);
        compute(context, Some(interrupting), rounds)?;
        was_over = has_said(context, words, 1);
    }
    first.wait()?;
    second.wait()?;
    hal.store_word(words, me, 1);
    comm.barrier();
    Ok(was_over)
}

/// Who looks whether a rank computes does not take what it has seen before for the present.
pub fn ranks_that_begin_to_compute_are_interrupted<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    context.unchecked();
    if context.size() < 2 {
        return Ok(());
    }
    let words = shared::<_, kind::Uncached>(context, context.size() * 4)?;
    let interrupting = context.comm.progress_by_interrupts()?;
    while_working(context.comm, |rounds| begin_one_after_the_other(context, words, &interrupting, rounds))?;
    interrupting.close()?;
    free(context, words)
}

/// One at a time, and beside no other handler.
pub fn has_the_handler_to_itself<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (comm, rank) = (context.comm, context.rank());
    let interrupting = comm.progress_by_interrupts()?;
    check_eq!(
        comm.progress_by_interrupts().err(),
        Some(Error::InForce { what: "progress by interrupts" }),
        "a second time"
    );
    let handler = context.hal().handle_interrupts((), |_, ()| {});
    check_eq!(interrupting.compute(|_| ()), Err(Error::Subscribed { rank }), "beside another handler");
    drop(handler);
    check_eq!(interrupting.compute(|core| core.core().index()), Ok(rank), "what a computation returns");
    Ok(interrupting.close()?)
}
