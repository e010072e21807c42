//! What a core notes when it is traced.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use hal::{Core, Span};

use crate::{Context, check, check::Outcome, check_eq};

/// Memory for a trace: more than these need.
const LIMIT_BYTES: usize = 64 << 10;

fn end<C: Core>(context: &Context<'_, '_, C>) -> Vec<String> {
    let mut lines = Vec::new();
    context.hal().end_trace(&mut |line| lines.push(line.to_string()));
    lines
}

/// Operations come when they end, within those that they are part of; waits come behind their places.
pub fn operations_nest_and_waits_have_places<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (comm, hal) = (context.comm, context.hal());
    hal.start_trace(LIMIT_BYTES);
    {
        let _span = hal.span(Span::new("all of it").with(comm.core_of(0)).of(3));
        comm.barrier();
        comm.broadcast(&mut [1; 100], 0)?;
    }
    let lines = end(context);
    if cfg!(target_vendor = "scc") {
        // Boards are not traced.
        check_eq!(lines, Vec::<String>::new(), "what a board noted");
        return Ok(());
    }
    let Some(((first, last), inner)) = lines.split_last().and_then(|(last, lines)| {
        let (first, inner) = lines.split_first()?;
        Some(((first, last), inner))
    }) else {
        return Err(crate::Failed(format!("{lines:?} is all that was noted")));
    };
    check_eq!(*first, format!("c {} 0", clock(first)), "the clock comes first, and nothing is lost");
    check!(last.starts_with("s 0 ") && last.ends_with(" 0 3 all of it"), "`{last}` is last");
    for name in ["barrier", "broadcast"] {
        let found = inner.iter().filter(|line| line.starts_with("s 1 ") && line.ends_with(&format!(" {name}"))).count();
        check_eq!(found, 1, "{name} in {lines:?}");
    }
    let (mut ended, mut places) = (0, 0);
    for line in inner {
        let mut words = line.split(' ');
        let kind = words.next().unwrap_or_default();
        match kind {
            "p" => places += 1,
            "t" => {}
            _ => {
                let times: Vec<u64> = words.skip(1).take(2).filter_map(|word| word.parse().ok()).collect();
                check!(times.len() == 2 && times[0] <= times[1] && ended <= times[1], "`{line}` after {ended}");
                check!(kind != "w" || places > 0, "`{line}` without a place");
                (ended, places) = (times[1], 0);
            }
        }
    }
    Ok(())
}

fn clock(line: &str) -> &str {
    line.split(' ').nth(1).unwrap_or_default()
}

/// Whoever is not traced notes nothing, and who ends a trace twice gets nothing more.
pub fn nothing_is_noted_without_a_trace<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    drop(context.hal().span(Span::new("before")));
    context.comm.barrier();
    check_eq!(end(context).len(), 0, "without a trace");
    context.hal().start_trace(LIMIT_BYTES);
    // The clock; boards have no traces.
    let lines = if cfg!(target_vendor = "scc") { 0 } else { 1 };
    check_eq!(end(context).len(), lines, "an empty trace");
    check_eq!(end(context).len(), 0, "the trace has ended");
    Ok(())
}
