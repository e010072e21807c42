//! Operations in epochs of every kind: what they do to the elements that they name, and to no others, with all ranks
//! at it at a time.

use alloc::{vec, vec::Vec};
use core::fmt::Debug;

use collectives::{Blocks, Class, Element, Error, Group, Integer, Operator, one_sided::window::NOTIFICATION_COUNTERS};
use hal::{Core, Deadline, Pod};

use crate::{
    Context, check,
    check::Outcome,
    check_eq,
    epochs::{Kind, in_epochs, make_of, post, with_each, with_every_class, with_every_kind},
    random::Numbers,
};

/// Elements of each origin's share of a part: a half to put to, a half to get from.
const SHARE: usize = 60;

/// Blocks within `range` elements from `first` on, of any shape that fits.
fn blocks(numbers: &mut Numbers, first: usize, range: usize) -> Blocks {
    let skipped = numbers.below(range);
    let left = range - skipped;
    let block = numbers.below(left.min(12) + 1);
    let stride = block + numbers.below(9);
    let most = (left - block).checked_div(stride).map_or(3, |steps| steps + 1);
    Blocks { first: first + skipped, block, stride, count: numbers.below(most + 1) }
}

/// The elements of blocks.
fn indices(blocks: Blocks) -> impl Iterator<Item = usize> {
    (0..blocks.count)
        .flat_map(move |index| (0..blocks.block).map(move |inner| blocks.first + index * blocks.stride + inner))
}

/// Puts and gets, straight and in blocks, of any offset, length and stride, against a model: each rank draws what all
/// others do to its part.
fn shapes<C: Core, T: Pod + PartialEq + Debug>(
    context: &mut Context<'_, '_, C>,
    kind: Kind,
    element: fn(usize) -> T,
) -> Outcome {
    let (rank, size) = (context.rank(), context.size());
    // Of a rank's part each of up to four origins has a share.
    let origins = size.min(4);
    let slot = |origin: usize, target: usize| Some((origin + size - target) % size).filter(|slot| *slot < origins);
    let (window, mut view) = make_of::<_, T>(context, kind.class(), origins * SHARE)?;
    for round in 0..if !context.has_many_ranks() { 3 } else { 2 } {
        let draw = |origin: usize, target: usize, slot: usize| {
            let mut numbers = Numbers::new(&[round, origin, target]);
            let first = slot * SHARE;
            let in_blocks = round % 2 == 1;
            let mut drawn = [0, SHARE / 2].map(|half| blocks(&mut numbers, first + half, SHARE / 2));
            if !in_blocks {
                drawn = drawn.map(|blocks| Blocks::run(blocks.first, blocks.block));
            }
            drawn
        };
        let sent = |origin: usize, index: usize| element(round * 7919 + origin * 521 + index * 3 + 1);
        let shown = |target: usize, index: usize| element(round * 6007 + target * 97 + index * 5 + 2);
        let mut model: Vec<T> = (0..origins * SHARE).map(|index| shown(rank, index)).collect();
        view.copy_from(0, &model);
        for origin in 0..size {
            if let Some(slot) = slot(origin, rank) {
                let [to, _] = draw(origin, rank, slot);
                indices(to).enumerate().for_each(|(place, index)| model[index] = sent(origin, place));
            }
        }
        let source: Vec<T> = (0..SHARE).map(|place| sent(rank, place)).collect();
        let mut buffers = vec![T::zeroed(); size * SHARE];
        let mut places = buffers.chunks_mut(SHARE);
        view = in_epochs(context, &window, view, kind, |epoch, target| {
            let Some(slot) = slot(rank, target) else { return Ok(()) };
            let into = places.next().unwrap_or_default();
            let [to, from] = draw(rank, target, slot);
            let (source, into) = (&source[..to.len()], &mut into[..from.len()]);
            if to.count == 1 && round % 2 == 0 {
                epoch.put(target, to.first, source)?;
                epoch.get(target, from.first, into)?;
            } else {
                epoch.put_blocks(target, to, source)?;
                epoch.get_blocks(target, from, into)?;
            }
            Ok(())
        })?;
        let wrong = (0..view.len()).find(|index| view.load(*index) != model[*index]);
        check_eq!(wrong, None, "first wrong element of the part in round {round}");
        let targets = (0..size).map(|turn| (rank + turn) % size);
        let shares = targets.filter_map(|target| slot(rank, target).map(|slot| (target, slot)));
        for ((target, slot), got) in shares.zip(buffers.chunks(SHARE)) {
            let [_, from] = draw(rank, target, slot);
            let wanted: Vec<T> = indices(from).map(|index| shown(target, index)).collect();
            check_eq!(&got[..from.len()], &wanted[..], "what {from:?} of rank {target} are in round {round}");
        }
    }
    window.free(view, context.caches)?;
    Ok(())
}

/// Puts and gets reach the elements that they name, and no others, whatever their shape and the elements' size.
pub fn shapes_of_all_sizes<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    with_every_kind(context, |context, kind| match kind {
        Kind::Pscw(Class::Deferred) => shapes::<_, u8>(context, kind, |number| number as u8),
        Kind::Pscw(Class::Immediate) => shapes::<_, u16>(context, kind, |number| number as u16),
        Kind::Pscw(Class::TriggerOnly) => shapes::<_, f64>(context, kind, |number| number as f64),
        _ => shapes::<_, [u8; 3]>(context, kind, |number| [number as u8, 1, (number >> 8) as u8]),
    })
}

/// All ranks combine with the same elements of some parts, from 3 on, by one operator after another.
fn combine<C: Core, T: Element>(
    context: &mut Context<'_, '_, C>,
    kind: Kind,
    operators: &[Operator<T>],
    number: fn(u8) -> T,
) -> Outcome {
    // More than is combined at a time, from the middle of a line on.
    const LEN: usize = 40;
    /// Ranks whose parts are accumulated to.
    const HUBS: usize = 3;
    let size = context.size();
    let operand = |rank: usize, index: usize| number((rank % 3 + index % 2) as u8);
    let (window, mut view) = make_of::<_, T>(context, kind.class(), LEN + 5)?;
    for (turn, operator) in operators.iter().enumerate() {
        (0..LEN + 5).for_each(|index| view.store(index, number(3)));
        let source: Vec<T> = (0..LEN).map(|index| operand(context.rank(), index)).collect();
        view = in_epochs(context, &window, view, kind, |epoch, target| {
            if target < HUBS {
                epoch.accumulate(target, 3, &source, *operator)?;
            }
            Ok(())
        })?;
        for index in (0..LEN + 5).filter(|_| context.rank() < HUBS) {
            let got = view.load(index);
            let index = index.wrapping_sub(3);
            let folded = (0..size).fold(number(3), |there, rank| operator.combine(there, operand(rank, index)));
            let wanted = if index < LEN { folded } else { number(3) };
            // The last of all operands replaces, and any may be the last.
            let replaced = turn == REPLACE && index < LEN && (0..size).any(|rank| got == operand(rank, index));
            check!(
                got == wanted || replaced,
                "operator {turn} made {got:?} of element {index} of {size} ranks, not {wanted:?}"
            );
        }
    }
    window.free(view, context.caches)?;
    Ok(())
}

/// Where the operators that all elements have contain the one that depends on the order.
const REPLACE: usize = 4;

fn arithmetic<T: Element>() -> Vec<Operator<T>> {
    vec![Operator::SUM, Operator::PRODUCT, Operator::MIN, Operator::MAX, Operator::REPLACE, Operator::KEEP]
}

fn integer<T: Integer>() -> Vec<Operator<T>> {
    let mut operators = arithmetic();
    operators.extend([Operator::AND, Operator::OR, Operator::XOR]);
    operators
}

/// No contribution of any rank is lost, whatever the epoch, the type and the operator.
pub fn contributions_are_complete<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    with_every_kind(context, |context, kind| {
        combine::<_, u64>(context, kind, &[Operator::SUM, Operator::XOR], |number| u64::from(number) << 40 | 1)
    })?;
    if context.has_many_ranks() {
        return Ok(());
    }
    // What an operator does depends on where it is carried out, and that on the class alone.
    with_each(context, &[Class::Default, Class::Message], |context, class| {
        let kind = Kind::Pscw(class);
        combine::<_, i32>(context, kind, &integer(), |number| 1 - i32::from(number))?;
        combine::<_, u32>(context, kind, &integer(), u32::from)?;
        combine::<_, i64>(context, kind, &integer(), |number| (i64::from(number) - 1) << 33)?;
        combine::<_, u64>(context, kind, &integer(), |number| u64::from(number) << 40 | 1)?;
        combine::<_, f32>(context, kind, &arithmetic(), |number| exact(number) as f32)?;
        combine::<_, f64>(context, kind, &arithmetic(), exact)
    })
}

/// Numbers whose sums and products are exact, in whatever order.
fn exact(number: u8) -> f64 {
    if number == 3 { 1.0 } else { f64::from(number % 2) }
}

/// Whoever draws a ticket is the only one who does, one by one and as vectors.
pub fn tickets_are_unique<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    const DRAWS: usize = 3;
    with_every_kind(context, |context, kind| {
        let size = context.size();
        let (window, mut view) = make_of::<_, u32>(context, kind.class(), 3)?;
        let (tally, mut tally_view) = make_of::<_, u32>(context, kind.class(), 3 * DRAWS * size)?;
        let (mut singles, mut vectors) = ([0; DRAWS], [0; 2 * DRAWS]);
        let mut places = singles.iter_mut().zip(vectors.chunks_mut(2));
        view = in_epochs(context, &window, view, kind, |epoch, target| {
            if target == size - 1 {
                for (single, pair) in places.by_ref() {
                    epoch.fetch_and_op(target, 0, 1, single, Operator::SUM)?;
                    epoch.get_accumulate(target, 1, &[1, 1], pair, Operator::SUM)?;
                }
            }
            Ok(())
        })?;
        if context.rank() == size - 1 {
            let drawn = (DRAWS * size) as u32;
            check_eq!([0, 1, 2].map(|index| view.load(index)), [drawn; 3], "tickets drawn");
        }
        tally_view = in_epochs(context, &tally, tally_view, kind, |epoch, target| {
            if target == 0 {
                singles.iter().try_for_each(|ticket| epoch.accumulate(0, *ticket as usize, &[1], Operator::SUM))?;
                for (index, ticket) in vectors.iter().enumerate() {
                    let place = (1 + index % 2) * DRAWS * size + *ticket as usize;
                    epoch.accumulate(0, place, &[1], Operator::SUM)?;
                }
            }
            Ok(())
        })?;
        if context.rank() == 0 {
            let wrong = (0..tally_view.len()).find(|ticket| tally_view.load(*ticket) != 1);
            check_eq!(wrong, None, "first ticket that not exactly one rank has");
        }
        tally.free(tally_view, context.caches)?;
        window.free(view, context.caches)?;
        Ok(())
    })
}

/// Of all ranks that swap an element from 0, exactly one does, and all others find that one there.
pub fn one_swap_wins<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    with_every_kind(context, |context, kind| {
        let (rank, size) = (context.rank(), context.size());
        let (window, mut view) = make_of::<_, i64>(context, kind.class(), 2)?;
        for round in 0..3 {
            view.store(1, 0);
            let own = (rank as i64 + 1) << 32 | round;
            let mut found = vec![0; size];
            let mut places = found.iter_mut();
            view = in_epochs(context, &window, view, kind, |epoch, target| {
                let Some(found) = places.next() else { return Ok(()) };
                epoch.compare_and_swap(target, 1, 0, own, found)?;
                Ok(())
            })?;
            let winner = view.load(1);
            check!((1..=size as i64).contains(&(winner >> 32)), "nobody has swapped {winner:#x} in");
            check_eq!((view.load(0), winner & 0xFFFF_FFFF), (0, round), "the neighbour and the round");
            // Whether this rank won elsewhere: it found 0 there, or else the winner.
            for (turn, found) in found.iter().enumerate() {
                let target = (rank + turn) % size;
                let valid = *found == 0 || *found >> 32 != rank as i64 + 1 && *found & 0xFFFF_FFFF == round;
                check!(valid, "rank {target} had {found:#x} in round {round}");
                let is_own = target != rank || (*found == 0) == (winner == own);
                check!(
                    is_own && (target != rank || *found == 0 || *found == winner),
                    "{found:#x} was found, not {winner:#x}"
                );
            }
        }
        window.free(view, context.caches)?;
        Ok(())
    })
}

/// What was put is there when its notification is, before the epoch is complete; counters count up over all epochs,
/// each for itself.
pub fn notified_puts_are_there<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    with_every_class(context, |context, class| {
        let (rank, size) = (context.rank(), context.size());
        let (right, left) = crate::epochs::ring(context);
        let (window, mut view) = make_of::<_, u16>(context, class, 50)?;
        for round in 1..5u32 {
            let exposure = post(context, &window, view, &Group::of([left])?)?;
            let values: Vec<u16> = (0..30).map(|index| (round * 100 + index) as u16 + rank as u16).collect();
            let access = window.start(&Group::of([right])?)?;
            access.put(right, 0, &values[..10])?;
            access.put_notify(right, 10, &values[10..], 3)?;
            access.put_notify(right, 40, &[], NOTIFICATION_COUNTERS - 1)?;
            // Some classes carry operations out in COMPLETE only.
            access.complete();
            for counter in [NOTIFICATION_COUNTERS - 1, 3] {
                window.await_notifications(counter, round, Deadline::Never)?;
            }
            let mut got = [0; 30];
            exposure.read(0, &mut got)?;
            let wanted = |index: usize| (round * 100 + index as u32) as u16 + left as u16;
            check!((0..30).all(|index| got[index] == wanted(index)), "what was notified in round {round}: {got:?}");
            let too_many = window.await_notifications(3, round + 1, Deadline::At(0));
            check!(matches!(too_many, Err(Error::TimedOut { .. })), "{too_many:?} of {size} ranks in round {round}");
            view = exposure.wait(context.caches);
        }
        window.free(view, context.caches)?;
        Ok(())
    })
}

/// What does not fit is refused with rank, window and epoch, in epochs of every kind, and nothing is done.
pub fn what_does_not_fit_is_refused<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    with_every_kind(context, |context, kind| {
        let (size, are_many) = (context.size(), context.has_many_ranks());
        let (window, mut view) = make_of::<_, u32>(context, kind.class(), 10)?;
        let number = window.number();
        for round in 1..3 {
            let epochs = if let Kind::Lock(_) = kind { size as u32 } else { 1 };
            let mut epoch_number = (round - 1) * epochs;
            // No refused operation keeps its buffers.
            let mut buffers = vec![[0; 12]; 4 * size];
            let mut places = buffers.iter_mut();
            view = in_epochs(context, &window, view, kind, |epoch, target| {
                epoch_number = if epochs == 1 { round } else { epoch_number + 1 };
                if are_many && target > 2 {
                    return Ok(());
                }
                let beyond =
                    |end| Err(Error::OutOfRange { rank: target, window: number, epoch: epoch_number, end, len: 10 });
                let mut next = || places.next().map(|place| &mut place[..]).unwrap_or_default();
                check_eq!(epoch.put(target, 8, &[1, 2, 3]), beyond(11), "a put beyond the end");
                check_eq!(epoch.put_value(target, usize::MAX, 1), beyond(usize::MAX), "a put far beyond the end");
                check_eq!(epoch.get(target, 0, next()), beyond(12), "a get beyond the end");
                check_eq!(
                    epoch.accumulate(target, 10, &[1], Operator::SUM),
                    beyond(11),
                    "an accumulate beyond the end"
                );
                check_eq!(epoch.put_notify(target, 10, &[1], 0), beyond(11), "a notified put beyond the end");
                let spread = Blocks { first: 0, block: 2, stride: 5, count: 3 };
                check_eq!(epoch.put_blocks(target, spread, &[1; 6]), beyond(12), "blocks beyond the end");
                check_eq!(
                    epoch.get_blocks(target, spread, &mut next()[..6]),
                    beyond(12),
                    "blocks to get beyond the end"
                );

                let length = |len, wanted| Err(Error::Length { len, wanted });
                let overlapping = Blocks { first: 0, block: 3, stride: 2, count: 2 };
                let overlap = Err(Error::BlocksOverlap { block: 3, stride: 2 });
                check_eq!(epoch.put_blocks(target, spread, &[1; 5]), length(5, 6), "too short a source");
                check_eq!(epoch.put_blocks(target, overlapping, &[1; 6]), overlap, "blocks that overlap");
                check_eq!(epoch.get_blocks(target, spread, &mut next()[..7]), length(7, 6), "too long a buffer");
                let unequal = epoch.get_accumulate(target, 0, &[1, 2], &mut next()[..3], Operator::SUM);
                check_eq!(unequal, length(3, 2), "buffers of two lengths");
                let counter = NOTIFICATION_COUNTERS;
                let no_counter = Err(Error::NoSuchCounter { counter });
                check_eq!(epoch.put_notify(target, 0, &[1], counter), no_counter, "a counter that does not exist");
                let nobody = Err(Error::NoSuchRank { rank: size, size });
                check_eq!(epoch.put(size, 0, &[1]), nobody, "a put to nobody");
                if let Kind::Lock(_) = kind
                    && size > 1
                {
                    let rank = (target + 1) % size;
                    let not_locked = Err(Error::NotInEpoch { rank, window: number, epoch: epoch_number });
                    check_eq!(epoch.put(rank, 0, &[1]), not_locked, "a put to a part that is not locked");
                }
                Ok(())
            })?;
            check!((0..10).all(|index| view.load(index) == 0), "a refused operation was carried out");
        }
        let no_counter = Err(Error::NoSuchCounter { counter: 8 });
        check_eq!(
            window.await_notifications(8, 1, Deadline::At(0)),
            no_counter,
            "a wait for a counter that does not exist"
        );
        let early = window.await_notifications(0, 1, Deadline::At(0));
        check!(matches!(early, Err(Error::TimedOut { .. })), "a refused put was notified: {early:?}");
        window.free(view, context.caches)?;
        Ok(())
    })
}

/// Blocks that overlap may be got, and so may the same element again and again.
pub fn overlapping_blocks_are_got<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    with_every_kind(context, |context, kind| {
        let size = context.size();
        let (window, mut view) = make_of::<_, u8>(context, kind.class(), 9)?;
        (0..9).for_each(|index| view.store(index, index as u8));
        let mut got = vec![[0; 20]; size];
        let mut places = got.iter_mut();
        view = in_epochs(context, &window, view, kind, |epoch, target| {
            let Some((overlapping, same)) = places.next().map(|place| place.split_at_mut(12)) else { return Ok(()) };
            epoch.get_blocks(target, Blocks { first: 1, block: 4, stride: 2, count: 3 }, overlapping)?;
            epoch.get_blocks(target, Blocks { first: 8, block: 1, stride: 0, count: 8 }, same)?;
            Ok(())
        })?;
        let wanted = [1, 2, 3, 4, 3, 4, 5, 6, 5, 6, 7, 8, 8, 8, 8, 8, 8, 8, 8, 8];
        check!(got.iter().all(|got| *got == wanted), "what was got: {got:?}");
        window.free(view, context.caches)?;
        Ok(())
    })
}
