//! Reductions against plain references, which fold the operands of all ranks in their order.

pub mod cases;

use alloc::{vec, vec::Vec};

use bytemuck::Zeroable;
use collectives::{
    Broadcast, Element, Error, Exchange, InPlace, Integer, OcBcast, Operation, Operator, Pieces, Reduction, Scan,
    Window,
};
use hal::{Core, LINE_BYTES};

use self::cases::{AFFINE, Case, FIVE_MAPS, REDUCTIONS, SCANS, TRIANGLE, map, mixed, one_or_all, random_counts};
use crate::{Context, barrier::cost_of_one, check::Outcome, check_eq, random::Numbers};

/// Lengths around tagged lines, lines and chunks, of an operation that is not commutative.
pub fn all_sizes<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let chunk = 2 * context.comm.mpb_layout().buffer_lines() * LINE_BYTES / size_of::<[u32; 2]>();
    let many: &[usize] =
        if context.size() < 5 { &[chunk / 2, chunk - 1, chunk, chunk + 1, 3 * chunk + 5] } else { &[chunk + 1] };
    let (mut numbers, mut turn) = (Numbers::new(&[context.size()]), 0);
    for &len in [0, 1, 3, 4, 5, 7, 50].iter().chain(many) {
        let case = Case { operation: &AFFINE, operand: map, len, what: "maps" };
        one_or_all(context, &mut turn, &case, &mut numbers)?;
    }
    Ok(())
}

/// Every rank is root once, and operations follow each other without a barrier, while one rank after the other is late.
pub fn all_roots_back_to_back<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    context.unchecked();
    let (rank, size) = (context.rank(), context.size());
    for root in 0..size {
        let len = [1, 2, 9, 70][root % 4];
        let case = Case { operation: &AFFINE, operand: |rank, index| map(rank + root, index), len, what: "maps" };
        if rank == (root * 7 + 3) % size {
            context.hal().compute(20_000);
        }
        let operands = case.operands(rank);
        let reduction = REDUCTIONS[root % 3];
        let mut result = vec![[0; 2]; len];
        context.comm.using(reduction, |comm| comm.reduce(&operands, &mut result, &AFFINE, root))?;
        if rank == root {
            case.compare(&result, &case.folded(size).unwrap_or_default(), reduction, "reduce in a row", root)?;
        }
    }
    Ok(())
}

/// Operations of all kinds follow each other without a barrier, mixed with others.
pub fn mixed_back_to_back<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    context.unchecked();
    let (rank, size) = (context.rank(), context.size());
    let turns = if context.has_many_ranks() { 6 } else { 24 };
    let mut numbers = Numbers::new(&[size, 5]);
    for turn in 0..turns {
        let (len, late) = ([1, 3, 12, 200][numbers.below(4)], numbers.below(size));
        let (reduction, scan) = (REDUCTIONS[numbers.below(4)], SCANS[numbers.below(4)]);
        let case = Case { operation: &AFFINE, operand: |rank, index| map(rank + turn, index), len, what: "maps" };
        if rank == late {
            context.hal().compute(10_000);
        }
        match numbers.below(6) {
            0 | 1 => case.reduce(context, reduction, numbers.below(size))?,
            2 => case.scatter(context, reduction, &random_counts(len, size, &mut numbers))?,
            3 => case.scan(context, scan)?,
            4 => context.comm.barrier(),
            _ => {
                let root = numbers.below(size);
                let mut message = vec![if rank == root { turn as u8 } else { 0xEE }; 40];
                context.comm.broadcast(&mut message, root)?;
                check_eq!(message, vec![turn as u8; 40], "a broadcast in between");
            }
        }
    }
    Ok(())
}

/// All predefined operators on all types.
pub fn all_operators<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let mut turn = 0;
    if context.has_many_ranks() {
        integers::<_, u32>(context, &mut turn, |word| word)?;
        return elements::<_, f64>(context, &mut turn, |word| [0.25, 1.0, 4.0, -1.0][word as usize % 4]);
    }
    integers::<_, i32>(context, &mut turn, |word| word as i32)?;
    integers::<_, u32>(context, &mut turn, |word| word)?;
    integers::<_, i64>(context, &mut turn, |word| i64::from(word).wrapping_mul(-0x1_0000_0001))?;
    integers::<_, u64>(context, &mut turn, |word| u64::from(word).wrapping_mul(0x1_0000_0001))?;
    // Small powers of 2, so that sums and products are exact wherever the brackets are.
    elements::<_, f32>(context, &mut turn, |word| [0.5, 1.0, 2.0, -1.0][word as usize % 4])?;
    elements::<_, f64>(context, &mut turn, |word| [0.25, 1.0, 4.0, -1.0][word as usize % 4])
}

fn integers<C: Core, T: Integer>(
    context: &Context<'_, '_, C>,
    turn: &mut usize,
    value: impl Fn(u32) -> T + Copy,
) -> Outcome {
    elements(context, turn, value)?;
    for operator in [Operator::AND, Operator::OR, Operator::XOR] {
        by_operator(context, turn, &operator, value)?;
    }
    Ok(())
}

fn elements<C: Core, T: Element>(
    context: &Context<'_, '_, C>,
    turn: &mut usize,
    value: impl Fn(u32) -> T + Copy,
) -> Outcome {
    for operator in [Operator::SUM, Operator::PRODUCT, Operator::MIN, Operator::MAX, Operator::REPLACE, Operator::KEEP]
    {
        by_operator(context, turn, &operator, value)?;
    }
    Ok(())
}

/// One operator by one algorithm, another one each time.
fn by_operator<C: Core, T: Element>(
    context: &Context<'_, '_, C>,
    turn: &mut usize,
    operator: &Operator<T>,
    value: impl Fn(u32) -> T,
) -> Outcome {
    *turn += 1;
    let len = [1, 5, 40][*turn % 3];
    let operand = |rank, index| value(mixed(rank, index + *turn));
    let case = Case { operation: operator, operand, len, what: "elements of a predefined operator" };
    let reduction = REDUCTIONS[*turn % 4];
    case.reduce(context, reduction, *turn % context.size())?;
    case.scatter(context, reduction, &random_counts(len, context.size(), &mut Numbers::new(&[*turn])))?;
    case.scan(context, SCANS[*turn % 4])
}

/// Elements that fill no line evenly, and some that are longer than lines.
pub fn elements_of_odd_sizes<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (numbers, turn) = (&mut Numbers::new(&[context.size(), 2]), &mut 0);
    for len in [1, 2, 19] {
        let operand = |rank, index| [mixed(rank, index), mixed(index, rank), 3];
        one_or_all(context, turn, &Case { operation: &TRIANGLE, operand, len, what: "triangles" }, numbers)?;
        let operand = |rank, index| {
            let mut maps = [0; 10];
            maps.chunks_exact_mut(2).enumerate().for_each(|(at, pair)| pair.copy_from_slice(&map(rank + at, index)));
            maps
        };
        one_or_all(context, turn, &Case { operation: &FIVE_MAPS, operand, len, what: "five maps" }, numbers)?;
        let first = Operation::new(|left: [u8; 3], right: [u8; 3]| [left[0], left[1].wrapping_add(right[1]), right[2]]);
        let operand = |rank: usize, index: usize| [rank as u8 ^ 5, index as u8, rank as u8];
        one_or_all(context, turn, &Case { operation: &first, operand, len, what: "three bytes" }, numbers)?;
    }
    Ok(())
}

/// Results of floats are the same bits on all ranks, each time, and for each root.
pub fn floats_are_reproducible<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (comm, rank, size) = (context.comm, context.rank(), context.size());
    for (turn, reduction) in REDUCTIONS.into_iter().enumerate() {
        for len in if size < 64 { [1, 30, 300] } else { [1, 2, 30] } {
            // Sums of these depend on where the brackets are.
            let value = |index| 1.0 / f64::from(1 + mixed(rank, index) % 1000) * [1e-9, 1.0, 1e9][index % 3];
            let operands: Vec<f64> = (0..len).map(|index| value(index + rank)).collect();
            let mut first = operands.clone();
            comm.using(reduction, |comm| comm.allreduce(InPlace, &mut first, &Operator::SUM))?;
            if rank == turn % size {
                context.hal().compute(5_000);
            }
            let mut second = operands.clone();
            comm.using(reduction, |comm| comm.allreduce(InPlace, &mut second, &Operator::SUM))?;
            let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            check_eq!(bits(&first), bits(&second), "{reduction:?} of {len} floats, a second time");
            let (mut low, mut high) = (bits(&first), bits(&first));
            comm.allreduce(InPlace, &mut low, &Operator::MIN)?;
            comm.allreduce(InPlace, &mut high, &Operator::MAX)?;
            check_eq!(low, high, "{reduction:?} of {len} floats, on all ranks");
            let at_root = |root: usize| {
                let mut result = operands.clone();
                comm.using(reduction, |comm| comm.reduce(InPlace, &mut result, &Operator::SUM, root))
                    .map(|()| (rank == root).then_some(result))
            };
            let roots = [at_root(0)?, at_root(size - 1)?, at_root(size / 2)?];
            // Reduce and allreduce may take different algorithms by default.
            if reduction != Reduction::Default {
                for result in roots.iter().flatten() {
                    check_eq!(bits(result), bits(&first), "{reduction:?} of {len} floats at a root");
                }
            }
        }
    }
    Ok(())
}

/// The brackets are where the algorithms say, shown by an operation that is not associative.
pub fn brackets_are_as_documented<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (comm, rank, size) = (context.comm, context.rank(), context.size());
    let combine = |left: u32, right: u32| left.wrapping_mul(31).wrapping_add(right.wrapping_mul(17)).wrapping_add(1);
    let operation = Operation::new(combine);
    let folded = |ranks: core::ops::Range<usize>| ranks.map(|rank| mixed(rank, 7)).reduce(combine);

    let mut data = vec![mixed(rank, 7); size];
    comm.using(Reduction::Blocks, |comm| {
        comm.reduce_scatter(Pieces::packed(&vec![1; size]).in_place(), &mut data, &operation)
    })?;
    let (low, high) = (folded(0..rank), folded(rank..size));
    let expected = match (low, high) {
        (Some(low), Some(high)) => Some(combine(low, high)),
        (low, high) => low.or(high),
    };
    check_eq!(Some(data[rank]), expected, "block {rank}");

    let mut data = [mixed(rank, 7)];
    comm.using(Scan::Chain, |comm| comm.scan(InPlace, &mut data, &operation))?;
    check_eq!(Some(data[0]), folded(0..rank + 1), "the scan of a chain");

    // Rounds double: what a rank has combined goes to the right of what comes from below.
    let mut doubled: Vec<u32> = (0..size).map(|rank| mixed(rank, 7)).collect();
    let mut distance = 1;
    while distance < size {
        let before = doubled.clone();
        for rank in distance..size {
            doubled[rank] = combine(before[rank - distance], before[rank]);
        }
        distance *= 2;
    }
    for scan in [Scan::Doubling, Scan::TwoSided] {
        let mut data = [mixed(rank, 7)];
        comm.using(scan, |comm| comm.scan(InPlace, &mut data, &operation))?;
        check_eq!(data[0], doubled[rank], "{scan:?}");
    }
    Ok(())
}

/// Lines that took part in a message have its words where short reductions look for their tags, and those may be the
/// same.
pub fn words_that_look_like_tags<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (comm, size) = (context.comm, context.size());
    let sum: u32 = (1..=size as u32).sum();
    // As many words as fill all staging lines.
    let mut words = vec![0; 2 * 96 * LINE_BYTES / 4];
    for next in 1..if !context.has_many_ranks() { 40 } else { 6 } {
        for (count, broadcast) in
            [Broadcast::OcBcast(OcBcast::default()), Broadcast::Long, Broadcast::OneSidedScatterAllgather]
                .iter()
                .enumerate()
        {
            words.fill(if context.rank() == 0 { next + count as u32 } else { 0 });
            comm.using(*broadcast, |comm| comm.broadcast(bytemuck::cast_slice_mut::<u32, u8>(&mut words), 0))?;
            let mut value = [context.rank() as u32 + 1];
            if next % 2 == 0 {
                comm.using(Reduction::Tree, |comm| comm.allreduce(InPlace, &mut value, &Operator::SUM))?;
                check_eq!(value, [sum], "a sum after words of {}", next + count as u32);
            } else {
                comm.using(Scan::Doubling, |comm| comm.scan(InPlace, &mut value, &Operator::SUM))?;
                let below = (1..=context.rank() as u32 + 1).sum();
                check_eq!(value, [below], "a scan after words of {}", next + count as u32);
            }
        }
    }
    Ok(())
}

/// No rank leaves a long reduction while others still get from its lines: what follows may write to them at once, and
/// here does so on a rank that gets nothing itself, while the one that gets from it last has hardly begun.
pub fn messages_follow_long_ones<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    context.unchecked();
    const LATE: usize = 1;
    let (comm, rank, size) = (context.comm, context.rank(), context.size());
    if size == 1 {
        return Ok(());
    }
    let lines = comm.mpb_layout().buffer_lines();
    let maps_of_a_line = LINE_BYTES / size_of::<[u32; 2]>();
    let mut message = vec![0xEE; lines * LINE_BYTES];
    let mut send_message = || match rank {
        0 => comm.send(&message, LATE),
        LATE => comm.receive(&mut message, 0),
        _ => Ok(()),
    };

    // One chunk of both staging buffers.
    let case = Case { operation: &AFFINE, operand: map, len: 2 * lines * maps_of_a_line, what: "maps" };
    let mut result = vec![[0; 2]; case.len];
    comm.using(Reduction::Blocks, |comm| comm.reduce(&case.operands(rank), &mut result, &AFFINE, LATE))?;
    send_message()?;
    if rank == LATE {
        let expected = case.folded(size).unwrap_or_default();
        case.compare(&result, &expected, Reduction::Blocks, "reduce before a message", LATE)?;
    }

    // Three rounds, by turns in both buffers, where one suffices for the blocks of all ranks.
    let mut counts = vec![3 * (lines / (size - 1)).max(1) * maps_of_a_line; size];
    counts[0] = 0;
    let case = Case { len: counts.iter().sum(), ..case };
    let mut block = vec![[0; 2]; counts[rank]];
    comm.using(Reduction::Blocks, |comm| {
        comm.reduce_scatter(Pieces::packed(&counts).of(&case.operands(rank)), &mut block, &AFFINE)
    })?;
    send_message()?;
    if rank == LATE {
        let expected = case.folded(size).unwrap_or_default();
        let expected = &expected[..block.len()];
        case.compare(&block, expected, Reduction::Blocks, "reduce-scatter before a message", LATE)?;
    }
    Ok(())
}

/// An element of 8 KB, which fits no MPB.
type HugeElement = [[u32; 32]; 64];

/// Bad arguments get an error value on every rank.
pub fn refuses_bad_arguments<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (comm, size) = (context.comm, context.size());
    let sum = Operator::<u32>::SUM;
    let no_rank = Err(Error::NoSuchRank { rank: size, size });
    check_eq!(comm.reduce(&[1], &mut [0], &sum, size), no_rank, "a root beyond the end");
    check_eq!(comm.reduce(InPlace, &mut [], &sum, size), no_rank, "such a root and no element");
    let length = |len, wanted| Err(Error::Length { len, wanted });
    let no_place = if context.rank() == 0 { length(0, 1) } else { Ok(()) };
    check_eq!(comm.reduce(&[1], &mut [], &sum, 0), no_place, "no place for the result");
    check_eq!(comm.allreduce(&[1, 2], &mut [0; 3], &sum), length(3, 2), "too long a result");
    check_eq!(comm.scan(&[1, 2], &mut [0; 3], &sum), length(3, 2), "too long a result of a scan");
    check_eq!(comm.exscan(&[1, 2], &mut [0; 1], &sum), length(1, 2), "too short a result of a scan");
    // The others do not notice that one rank's result has no place.
    let wrong = size / 2;
    let mut place = [0; 2];
    let outcome = comm.allreduce(&[1], if context.rank() == wrong { &mut place } else { &mut place[..1] }, &sum);
    let expected = if context.rank() == wrong { (length(2, 1), [0, 0]) } else { (Ok(()), [size as u32, 0]) };
    check_eq!((outcome, place), expected, "a sum with one result of a wrong length");
    let counts = vec![1; size];
    check_eq!(
        comm.reduce_scatter(Pieces::packed(&counts[1..]).of(&[1]), &mut [0], &sum),
        Err(Error::Pieces { pieces: size - 1, size }),
        "a count is missing"
    );
    let most = vec![usize::MAX; size];
    let impossible = Err(Error::PieceOutOfRange { rank: 0, end: usize::MAX, len: 1 });
    check_eq!(comm.reduce_scatter(Pieces::packed(&most).in_place(), &mut [1], &sum), impossible, "impossible counts");
    let nothing = Operation::new(|(), ()| ());
    check_eq!(comm.reduce(&[(); 3], &mut [(); 3], &nothing, 0), Ok(()), "elements without bytes");
    check_eq!(
        comm.reduce_scatter(Pieces::packed(&counts).of(&vec![(); size]), &mut [()], &nothing),
        Ok(()),
        "blocks without bytes"
    );
    let mut places = vec![0; if context.rank() == wrong { 2 } else { 1 }];
    let outcome = comm.reduce_scatter(&vec![1; size], &mut places, &sum);
    let expected = if context.rank() == wrong { length(2, 1) } else { Ok(()) };
    check_eq!(outcome, expected, "a block with one result of a wrong length");
    if size > 1 {
        check_eq!(
            comm.reduce_scatter(&vec![1; 2 * size + 1], &mut [0; 2], &sum),
            length(2 * size + 1, 2 * size),
            "too many operands"
        );
        let larger = vec![1; size + 1];
        let refused = comm.reduce_scatter(InPlace, &mut larger.clone(), &sum);
        check_eq!(refused, length(size + 1, size), "operands that are no blocks");
        let either = Operation::new(|left: HugeElement, _: HugeElement| left);
        let mut data = vec![HugeElement::zeroed()];
        for reduction in [Reduction::Default, Reduction::Tree, Reduction::Blocks] {
            let refused = comm.using(reduction, |comm| comm.allreduce(InPlace, &mut data, &either));
            let too_large = matches!(refused, Err(Error::ElementTooLarge { len_bytes: 8192, .. }));
            check_eq!(too_large, true, "an element that fits no MPB, {reduction:?}: {refused:?}");
        }
        for scan in [Scan::Default, Scan::Doubling, Scan::Chain] {
            let refused = comm.using(scan, |comm| comm.scan(InPlace, &mut data, &either));
            let too_large = matches!(refused, Err(Error::ElementTooLarge { len_bytes: 8192, .. }));
            check_eq!(too_large, true, "an element that fits no MPB, {scan:?}: {refused:?}");
        }
    }
    let profile = comm.rcce_profile()?;
    let lent = Err(Error::ProfileInForce);
    for reduction in [Reduction::Default, Reduction::Tree, Reduction::Blocks] {
        check_eq!(
            comm.using(reduction, |comm| comm.allreduce(&[1], &mut [0], &sum)),
            lent,
            "{reduction:?} while lines are lent"
        );
        check_eq!(
            comm.using(reduction, |comm| comm.reduce(InPlace, &mut [1], &sum, 0)),
            lent,
            "{reduction:?} to one while lines are lent"
        );
        let refused = comm.using(reduction, |comm| comm.reduce_scatter(InPlace, &mut vec![1; size], &sum));
        check_eq!(refused, lent, "{reduction:?} to blocks while lines are lent");
    }
    for scan in [Scan::Default, Scan::Doubling, Scan::Chain] {
        check_eq!(comm.using(scan, |comm| comm.scan(InPlace, &mut [1], &sum)), lent, "{scan:?} while lines are lent");
    }
    let mut count = [1];
    comm.using(Reduction::TwoSided, |comm| comm.allreduce(InPlace, &mut count, &sum))?;
    check_eq!(count, [size as u32], "a sum by messages while lines are lent");
    drop(profile);
    Ok(())
}

/// What is named goes for its kind until the end of its scope, and nothing that the library needs goes by it. While
/// lines are lent, only what goes by messages is not refused.
pub fn named_algorithms_go_for_a_scope<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (comm, size) = (context.comm, context.size());
    let profile = comm.rcce_profile()?;
    let lent = Err(Error::ProfileInForce);
    let sum = || comm.allreduce(InPlace, &mut [1_u32], &Operator::SUM);
    let scan = || comm.scan(InPlace, &mut [1_u32], &Operator::SUM);
    let gather = || comm.allgather(&[1_u8], &mut vec![0; size]);
    let broadcast = || comm.broadcast(&mut [1_u8], 0);
    let all = || [sum(), scan(), gather(), broadcast()];
    check_eq!(all(), [lent; 4], "by default");
    comm.using(Reduction::TwoSided, |comm| {
        check_eq!(all(), [Ok(()), lent, lent, lent], "reductions by messages");
        comm.using(Exchange::TwoSided, |comm| {
            check_eq!(all(), [Ok(()), lent, Ok(()), lent], "and exchanges");
            check_eq!(comm.using(Reduction::Tree, |_| all()), [lent, lent, Ok(()), lent], "but not reductions");
            let everything = comm.using(Scan::TwoSided, |comm| comm.using(Broadcast::Binomial, |_| all()));
            check_eq!(everything, [Ok(()); 4], "everything");
            Ok(())
        })?;
        check_eq!(all(), [Ok(()), lent, lent, lent], "reductions again");
        Ok(())
    })?;
    check_eq!(all(), [lent; 4], "by default again");
    drop(profile);
    let lines = |context: &mut Context<'_, '_, C>| {
        let before = context.hal().counters();
        let (window, view) = Window::<_, u32>::create(comm, context.caches, 4)?;
        let made = context.hal().counters() - before;
        window.free(view, context.caches)?;
        Ok::<_, crate::check::Failed>((made.mpb_lines_written, made.mpb_lines_read))
    };
    lines(context)?;
    let by_default = lines(context)?;
    let named = comm.using(Broadcast::Binomial, |comm| comm.using(Reduction::TwoSided, |_| lines(context)))?;
    check_eq!(named, by_default, "lines of a window's making");
    Ok(())
}

/// Who writes and reads how many lines.
pub fn costs_what_it_should<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    context.unchecked();
    let (hal, comm, rank, size) = (context.hal(), context.comm, context.rank(), context.size());
    if size == 1 {
        return Ok(());
    }
    // Lines that other operations have left anything in are cleared the first time they come around.
    for _ in 0..comm.mpb_layout().buffer_lines() {
        comm.using(Reduction::Tree, |comm| comm.allreduce(InPlace, &mut [1.0], &Operator::<f64>::SUM))?;
        comm.using(Scan::Doubling, |comm| comm.scan(InPlace, &mut [1.0], &Operator::<f64>::SUM))?;
    }
    // Short: one line to the parent, one more where others pull the result; neither drains nor reads beside polls.
    comm.barrier();
    let before = hal.counters();
    comm.using(Reduction::Tree, |comm| comm.allreduce(InPlace, &mut [1.0], &Operator::<f64>::SUM))?;
    let did = hal.counters() - before;
    let written = u64::from(rank > 0) + u64::from(rank * 16 + 1 < size);
    check_eq!((did.mpb_lines_written, did.mpb_lines_read, did.drains), (written, 0, 0), "lines of a short allreduce");

    comm.barrier();
    let before = hal.counters();
    let rounds = u64::from(size.next_power_of_two().trailing_zeros());
    comm.using(Scan::Doubling, |comm| comm.scan(InPlace, &mut [1.0], &Operator::<f64>::SUM))?;
    let did = hal.counters() - before;
    let written = (0..rounds).filter(|round| rank + (1 << round) < size).count() as u64;
    check_eq!((did.mpb_lines_written, did.mpb_lines_read, did.drains), (written, 0, 0), "lines of a short scan");

    // Long, with one line for each rank: that of this rank is read from all others, and each rank's from it.
    if size <= comm.mpb_layout().buffer_lines() {
        let barrier = cost_of_one(context);
        let mut data = vec![1.0; size * LINE_BYTES / 8];
        let before = hal.counters();
        comm.using(Reduction::Blocks, |comm| comm.allreduce(InPlace, &mut data, &Operator::<f64>::SUM))?;
        let did = hal.counters() - before;
        let lines = size as u64;
        let data = (did.mpb_lines_written, did.mpb_lines_read, did.drains);
        check_eq!(
            data,
            (lines + 2 * barrier.mpb_lines_written, 2 * lines - 1, 2 * barrier.drains),
            "lines of a long allreduce"
        );

        comm.barrier();
        let before = hal.counters();
        comm.using(Scan::Chain, |comm| {
            comm.scan(InPlace, &mut vec![1.0; size * LINE_BYTES / 8], &Operator::<f64>::SUM)
        })?;
        let did = hal.counters() - before;
        let (put, got) = (if rank + 1 < size { lines } else { 0 }, if rank > 0 { lines } else { 0 });
        check_eq!(did.mpb_lines_read, got, "lines that a long scan reads");
        check_eq!(did.mpb_lines_written - did.drains, put, "lines that a long scan writes beside signals");
    }
    Ok(())
}
