//! What tests of windows have in common: making them, and doing the same in epochs of every kind.

use collectives::{Class, ExposureEpoch, Group, Lent, Lock, Operations, Window};
use hal::{Core, Layout, LocalView, Pod};

use crate::{Context, Failed, check::Outcome, format};

/// A rank's part of a window, and the window.
pub type Made<'c, C, T> = (Window<'c, C, T>, LocalView<'c, T>);

/// Makes a window of the default class.
pub fn make<'c, C: Core, T: Pod>(context: &mut Context<'_, 'c, C>, len: usize) -> Result<Made<'c, C, T>, Failed> {
    make_of(context, Class::default(), len)
}

/// Makes a window of a class.
pub fn make_of<'c, C: Core, T: Pod>(
    context: &mut Context<'_, 'c, C>,
    class: Class,
    len: usize,
) -> Result<Made<'c, C, T>, Failed> {
    Ok(Window::with_class(context.comm, context.caches, len, class)?)
}

/// Posts, or says why not.
pub fn post<'w, 'c, C: Core, T: Pod>(
    context: &mut Context<'_, 'c, C>,
    window: &'w Window<'c, C, T>,
    view: LocalView<'c, T>,
    origins: &Group,
) -> Result<ExposureEpoch<'w, 'c, C, T>, Failed> {
    window.post(view, context.caches, origins).map_err(Failed::from)
}

/// An access epoch in which one element is put to rank 0.
pub fn put_to_rank_0<C: Core, T: Pod>(window: &Window<'_, C, T>, index: usize, value: T) -> Outcome {
    let access = window.start(&Group::of([0])?)?;
    access.put_value(0, index, value)?;
    access.complete();
    Ok(())
}

/// The neighbours of this rank in a ring of all: the one behind it and the one before.
pub fn ring<C: Core>(context: &Context<'_, '_, C>) -> (usize, usize) {
    let (rank, size) = (context.rank(), context.size());
    ((rank + 1) % size, (rank + size - 1) % size)
}

/// Whether the machine has what a class needs: some need every register.
fn is_possible(layout: &Layout, class: Class) -> bool {
    layout.registers_reach_everywhere() || [Class::Default, Class::Message].contains(&class)
}

/// Runs a test with one class after another, of those that the machine can have; a failure names its class.
pub fn with_each<C: Core>(
    context: &mut Context<'_, '_, C>,
    classes: &[Class],
    test: impl Fn(&mut Context<'_, '_, C>, Class) -> Outcome,
) -> Outcome {
    let layout = *context.hal().layout();
    classes
        .iter()
        .filter(|class| is_possible(&layout, **class))
        .try_for_each(|class| test(context, *class).map_err(|Failed(why)| Failed(format!("class {class}: {why}"))))
}

/// Runs a test with every class; where ranks are many, with marks and with match vectors, which stand for all with the same
/// mechanism.
pub fn with_every_class<C: Core>(
    context: &mut Context<'_, '_, C>,
    test: impl Fn(&mut Context<'_, '_, C>, Class) -> Outcome,
) -> Outcome {
    let two = [Class::Default, Class::TriggerOnly];
    with_each(context, if !context.has_many_ranks() { &Class::ALL } else { &two }, test)
}

/// A kind of epoch in which all ranks may access all parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// All ranks post to all and start with all, in a window of this class.
    Pscw(Class),
    /// Between two fences.
    Fence,
    /// Every part is lent, and locked alone or with others.
    Lock(Lock),
    /// Every part is lent, and an epoch reaches all of them.
    LockAll,
}

impl Kind {
    /// All kinds.
    pub fn all() -> impl Iterator<Item = Self> {
        let others = [Self::Fence, Self::Lock(Lock::Exclusive), Self::Lock(Lock::Shared), Self::LockAll];
        Class::ALL.into_iter().map(Self::Pscw).chain(others)
    }

    /// The class that windows for it have.
    pub fn class(self) -> Class {
        match self {
            Self::Pscw(class) => class,
            _ => Class::default(),
        }
    }
}

/// Kinds that are enough where ranks are many: one with the targets' help and one without.
const ENOUGH: [Kind; 2] = [Kind::Pscw(Class::Default), Kind::Lock(Lock::Shared)];

/// Runs a test with every kind of epoch, or with some where ranks are many; a failure names it.
pub fn with_every_kind<C: Core>(
    context: &mut Context<'_, '_, C>,
    test: impl Fn(&mut Context<'_, '_, C>, Kind) -> Outcome,
) -> Outcome {
    let are_many = context.has_many_ranks();
    // Locks are words under registers.
    let layout = *context.hal().layout();
    let is_possible = |kind: &Kind| match kind {
        Kind::Pscw(class) => is_possible(&layout, *class),
        Kind::Fence => true,
        Kind::Lock(_) | Kind::LockAll => layout.registers_reach_everywhere(),
    };
    Kind::all()
        .filter(|kind| (!are_many || ENOUGH.contains(kind)) && is_possible(kind))
        .try_for_each(|kind| test(context, kind).map_err(|Failed(why)| Failed(format!("epochs of {kind:?}: {why}"))))
}

/// Does `act` to every rank's part, in one epoch that reaches all of them or in one for each; then all ranks have done
/// so, and the view
/// is back. Collective.
pub fn in_epochs<'b, 'c, C: Core, T: Pod>(
    context: &mut Context<'_, 'c, C>,
    window: &Window<'c, C, T>,
    view: LocalView<'c, T>,
    kind: Kind,
    mut act: impl FnMut(&Operations<'b, '_, 'c, C, T>, usize) -> Outcome,
) -> Result<LocalView<'c, T>, Failed> {
    let (rank, size) = (context.rank(), context.size());
    let all = context.comm.group();
    // Each rank begins with another part.
    let mut targets = (0..size).map(|turn| (rank + turn) % size);
    match kind {
        Kind::Pscw(_) => {
            let exposure = post(context, window, view, &all)?;
            let access = window.start(&all)?;
            targets.try_for_each(|target| act(&access, target))?;
            access.complete();
            Ok(exposure.wait(context.caches))
        }
        Kind::Fence => {
            let epoch = window.fence(view, context.caches, Default::default())?;
            targets.try_for_each(|target| act(&epoch, target))?;
            Ok(epoch.close(context.caches, Default::default()))
        }
        Kind::Lock(lock) => {
            let lent = window.lend(view, context.caches)?;
            for target in targets {
                let epoch = window.lock(target, lock)?;
                act(&epoch, target)?;
                epoch.unlock();
            }
            Ok(take_back_together(context, lent))
        }
        Kind::LockAll => {
            let lent = window.lend(view, context.caches)?;
            let epoch = window.lock_all()?;
            targets.try_for_each(|target| act(&epoch, target))?;
            epoch.unlock_all();
            Ok(take_back_together(context, lent))
        }
    }
}

/// Takes a part back when all ranks are done with it, and before any goes on to lock it again. Collective.
pub fn take_back_together<'c, C: Core, T: Pod>(
    context: &mut Context<'_, 'c, C>,
    lent: Lent<'_, 'c, C, T>,
) -> LocalView<'c, T> {
    context.comm.barrier();
    let view = lent.take_back(context.caches);
    context.comm.barrier();
    view
}
