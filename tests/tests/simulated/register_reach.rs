//! Machines without atomic operations between coherence domains: what needs none works, and the rest is refused.

use crate::common::run;
use collectives::{Class, Error, Group, Lock, Operator, Placement, Window};
use hal::{
    CoreId, TestAndSet, kind,
    sim::{Description, Machine},
};
use tests::{allocation::check_heaps_are_whole, check_eq, suite};

/// Nine cores in domains of four, the last of which has one.
fn machine() -> Machine {
    let scc = Description::scc();
    Machine::new(Description { layout: scc.layout.with_cores(9).with_domains_of(4).with_registers_in_domains(), ..scc })
}

#[test]
fn windows_need_no_foreign_register() {
    for name in ["window::uneven_parts", "window::views_come_back"] {
        assert_eq!(run(&machine(), |context| suite::run_simulated(name, context)), Ok(()), "{name}");
    }
}

#[test]
fn epochs_of_marks_pass_between_domains() {
    let result = run(&machine(), |context| {
        let (rank, size) = (context.rank(), context.size());
        let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
        let (window, mut view) = Window::<'_, _, u32>::create(context.comm, context.caches, 40)?;
        for round in 0..3 {
            let origins = Group::of([left])?;
            let exposure = window.post(view, context.caches, &origins).map_err(|returned| returned.error)?;
            let values = [(round * 100 + rank) as u32; 40];
            let access = window.start(&Group::of([right])?)?;
            access.put(right, 0, &values)?;
            access.complete();
            view = exposure.wait(context.caches);
            check_eq!(view.load(39), (round * 100 + left) as u32, "the last element in round {round}");
        }
        window.free(view, context.caches)?;
        Ok(())
    });
    assert_eq!(result, Ok(()));
}

#[test]
fn only_the_first_domain_allocates() {
    let result = run(&machine(), |context| {
        let (allocator, core) = (context.comm.allocator(), CoreId::new(context.rank()));
        let allocated = allocator.allocate::<kind::Uncached>(64, Placement::Near(core));
        match allocated {
            Ok(region) if context.rank() < 4 => allocator.free(region)?,
            other => check_eq!(
                other.err(),
                Some(Error::RegisterOutOfReach { core, register: CoreId::new(0) }),
                "an allocation from far away"
            ),
        }
        context.comm.barrier();
        if context.rank() == 0 {
            check_heaps_are_whole(context)?;
        }
        Ok(())
    });
    assert_eq!(result, Ok(()));
}

#[test]
fn what_needs_foreign_registers_is_refused_on_all_ranks_alike() {
    let result = run(&machine(), |context| {
        let expected = Error::RegisterOutOfReach { core: CoreId::new(0), register: CoreId::new(4) };
        for class in [Class::TrulyOneSided, Class::TriggerOnly, Class::Immediate, Class::Deferred] {
            let made = Window::<'_, _, u32>::with_class(context.comm, context.caches, 5, class);
            check_eq!(made.err(), Some(expected), "a window of class {class}");
        }
        let (window, view) = Window::<'_, _, u32>::create(context.comm, context.caches, 5)?;
        let lent = window.lend(view, context.caches)?;
        context.comm.barrier();
        if context.rank() == 1 {
            let (core, register) = (CoreId::new(1), CoreId::new(8));
            window.lock(3, Lock::Shared)?.unlock();
            let refused = window.lock(8, Lock::Shared).err();
            check_eq!(refused, Some(Error::RegisterOutOfReach { core, register }), "a lock far away");
            check_eq!(window.lock_all().err(), Some(expected), "a lock of all");
        }
        context.comm.barrier();
        let view = lent.take_back(context.caches);
        window.free(view, context.caches)?;
        Ok(())
    });
    assert_eq!(result, Ok(()));
}

#[test]
fn what_is_atomic_is_refused_between_domains_and_changes_nothing() {
    for class in [Class::Default, Class::Message] {
        let result = run(&machine(), |context| {
            let (window, view) = Window::<'_, _, u32>::with_class(context.comm, context.caches, 5, class)?;
            let (far, near) = (8, 1);
            let origins = Group::of([0])?;
            if context.rank() == 0 {
                let (source, mut fetched, mut found, mut value) = ([7], [0], 0, 0);
                let access = window.start(&Group::of([near, far])?)?;
                let refusals = [
                    access.put_notify(far, 0, &source, 1),
                    access.accumulate(far, 0, &source, Operator::SUM),
                    access.get_accumulate(far, 0, &source, &mut fetched, Operator::SUM),
                    access.fetch_and_op(far, 0, 7, &mut value, Operator::SUM),
                    access.compare_and_swap(far, 0, 0, 7, &mut found),
                ];
                let refused = Error::RegisterOutOfReach { core: CoreId::new(0), register: CoreId::new(far) };
                // Packets are carried out by the target itself.
                let expected = if class == Class::Message { Ok(()) } else { Err(refused) };
                for refusal in refusals {
                    check_eq!(refusal, expected, "an atomic operation on another domain, class {class}");
                }
                access.put_notify(near, 0, &source, 1)?;
                access.accumulate(near, 1, &source, Operator::SUM)?;
                access.complete();
            } else if context.rank() == far || context.rank() == near {
                let exposure = window.post(view, context.caches, &origins).map_err(|returned| returned.error)?;
                let view = exposure.wait(context.caches);
                // One put and three sums; what was found is not what was expected.
                let far_away = if class == Class::Message { 4 * 7 } else { 0 };
                check_eq!(view.load(0), if context.rank() == near { 7 } else { far_away }, "element 0, class {class}");
                check_eq!(
                    view.load(1),
                    if context.rank() == near { 7 } else { 0 },
                    "what was accumulated, class {class}"
                );
            }
            Ok(())
        });
        assert_eq!(result, Ok(()), "{class}");
    }
}

#[test]
fn a_register_of_another_domain_is_refused_by_name() {
    let attempt = |register: usize| {
        run(&machine(), |context| {
            if context.rank() == 5 {
                drop(context.hal().try_lock(CoreId::new(register)));
            }
            Ok(())
        })
    };
    assert_eq!(attempt(7), Ok(()));
    let failure = attempt(8).unwrap_err();
    assert!(failure.contains("register of core 8 is out of reach of core 5"), "{failure}");
}
