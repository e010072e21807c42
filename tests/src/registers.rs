//! Test-and-set registers.

use hal::{Core, CoreId, LINE_BYTES, kind};

use crate::{
    Context, check,
    check::Outcome,
    check_eq,
    memory::{free, shared},
};

/// A read-modify-write of an uncached word loses nothing under a register.
pub fn exclude<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    const ROUNDS: u32 = 5;
    let hal = context.hal();
    let word = shared::<_, kind::Uncached>(context, LINE_BYTES)?;
    for _ in 0..ROUNDS {
        let _guard = hal.lock(CoreId::new(context.size() / 2), "the counter");
        let count = hal.load_word(word, 0);
        hal.store_word(word, 0, count + 1);
    }
    context.comm.barrier();
    check_eq!(hal.load_word(word, 0), ROUNDS * context.size() as u32, "the counter that all ranks raised");
    free(context, word)
}

/// Reading acquires; any core's write frees.
pub fn are_freed_by_any_write<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let hal = context.hal();
    let register = CoreId::new(0);
    if context.rank() == 0 {
        check!(hal.try_acquire_register(register), "a free register was not acquired");
        check!(!hal.try_acquire_register(register), "a taken register was acquired");
    }
    context.comm.barrier();
    if context.rank() == context.size() - 1 {
        check!(hal.try_lock(register).is_none(), "a register that rank 0 holds was locked");
        hal.free_register(register);
        check!(hal.try_lock(register).is_some(), "a freed register was not locked");
    }
    context.comm.barrier();
    Ok(())
}
