//! Parts of arrays: a block of one, and what of one is a process's when it is distributed.

use alloc::{rc::Rc, vec::Vec};

use super::{
    super::class::Class,
    datatype::{Blocks, Datatype},
};

/// The ABI's orders of arrays.
const ORDER_C: i64 = 0xC;
const ORDER_FORTRAN: i64 = 0xF;

/// The ABI's distributions.
const DISTRIBUTE_NONE: i64 = 16;
const DISTRIBUTE_BLOCK: i64 = 17;
const DISTRIBUTE_CYCLIC: i64 = 18;
const DISTRIBUTE_DEFAULT: i64 = 19;

/// What is taken of one dimension of an array: blocks of `len` indices, `period` apart from `start` on, of which the last
/// may be shorter.
struct Taken {
    size: i64,
    start: i64,
    period: i64,
    len: i64,
    full: i64,
    rest: i64,
}

impl Taken {
    fn block(size: i64, start: i64, len: i64) -> Self {
        Self { size, start, period: 0, len, full: 1, rest: 0 }
    }
}

/// What is taken of an array of all these dimensions, the one that varies fastest first. The bounds are the array's.
fn part(dimensions: &[Taken], of: &Rc<Datatype>) -> Result<Datatype, Class> {
    let mut inner = of.clone();
    // Bytes from one index of this dimension to the next.
    let mut step = of.extent_count();
    for taken in dimensions {
        let times = |count: i64| count.checked_mul(step).ok_or(Class::VALUE_TOO_LARGE);
        // The inner dimensions are as far apart as the array's, however long what is taken of them.
        let row = Rc::new(Datatype::strided(&inner, 1, 1, 0)?.with_bounds(0, step)?);
        let blocks = |count, len, skipped: i64| -> Result<Blocks, Class> {
            let displacement = times(taken.start.checked_add(skipped).ok_or(Class::VALUE_TOO_LARGE)?)?;
            Ok(Blocks { displacement, count, stride: times(taken.period)?, len, of: row.clone() })
        };
        let all = [blocks(taken.full, taken.len, 0)?, blocks(1, taken.rest, taken.full * taken.period)?];
        inner = Rc::new(Datatype::of(all.into())?);
        step = times(taken.size)?;
    }
    Datatype::strided(&inner, 1, 1, 0)?.with_bounds(0, step)
}

/// Splits arguments into lists of so many, and what is left.
fn lists<const N: usize>(arguments: &[i64], number: usize) -> Result<([&[i64]; N], &[i64]), Class> {
    let mut rest = arguments;
    let mut lists = [&arguments[..0]; N];
    for list in &mut lists {
        (*list, rest) = rest.split_at_checked(number).ok_or(Class::ARG)?;
    }
    Ok((lists, rest))
}

/// Dimensions, the one that varies fastest first.
fn in_order(mut dimensions: Vec<Taken>, order: i64) -> Result<Vec<Taken>, Class> {
    match order {
        ORDER_C => dimensions.reverse(),
        ORDER_FORTRAN => {}
        _ => return Err(Class::ARG),
    }
    Ok(dimensions)
}

/// `MPI_Type_create_subarray`: dimensions, sizes, sizes of the part, where it starts, order.
pub(super) fn subarray(arguments: &[i64], of: &Rc<Datatype>) -> Result<Datatype, Class> {
    let [number, rest @ ..] = arguments else { return Err(Class::ARG) };
    let number = usize::try_from(*number).ok().filter(|number| *number > 0).ok_or(Class::DIMS)?;
    let ([sizes, lens, starts], [order]) = lists(rest, number)? else { return Err(Class::ARG) };
    let dimensions = (0..number).map(|dimension| {
        let (size, len, start) = (sizes[dimension], lens[dimension], starts[dimension]);
        let fits = size >= 1 && len >= 1 && start >= 0 && len <= size && start <= size - len;
        if fits { Ok(Taken::block(size, start, len)) } else { Err(Class::ARG) }
    });
    part(&in_order(dimensions.collect::<Result<_, _>>()?, *order)?, of)
}

/// `MPI_Type_create_darray`: processes, which of them, dimensions; sizes, distributions, their arguments and processes of each
/// dimension; order.
pub(super) fn darray(arguments: &[i64], of: &Rc<Datatype>) -> Result<Datatype, Class> {
    let [processes, rank, number, rest @ ..] = arguments else { return Err(Class::ARG) };
    let number = usize::try_from(*number).ok().filter(|number| *number > 0).ok_or(Class::DIMS)?;
    let ([sizes, distributions, details, grid], [order]) = lists(rest, number)? else { return Err(Class::ARG) };
    let all =
        grid.iter().try_fold(1_i64, |all, processes| if *processes >= 1 { all.checked_mul(*processes) } else { None });
    if *processes < 1 || all != Some(*processes) || !(0..*processes).contains(rank) {
        return Err(Class::ARG);
    }
    // Processes are numbered as rows are in C, whatever the order of the array.
    let (mut left, mut places) = (*rank, alloc::vec![0; number]);
    for (place, processes) in places.iter_mut().zip(grid).rev() {
        (*place, left) = (left % processes, left / processes);
    }
    let dimensions = (0..number).map(|dimension| {
        let distribution = [distributions[dimension], details[dimension]];
        distributed(sizes[dimension], distribution, grid[dimension], places[dimension])
    });
    part(&in_order(dimensions.collect::<Result<_, _>>()?, *order)?, of)
}

/// What of a dimension is the process's in this place.
fn distributed(size: i64, [kind, detail]: [i64; 2], processes: i64, place: i64) -> Result<Taken, Class> {
    if size < 1 {
        return Err(Class::ARG);
    }
    let block = match kind {
        DISTRIBUTE_NONE if processes == 1 => size,
        DISTRIBUTE_BLOCK if detail == DISTRIBUTE_DEFAULT => (size - 1) / processes + 1,
        DISTRIBUTE_BLOCK if detail >= 1 && detail.saturating_mul(processes) >= size => detail,
        DISTRIBUTE_CYCLIC if detail == DISTRIBUTE_DEFAULT => 1,
        DISTRIBUTE_CYCLIC if detail >= 1 => detail,
        _ => return Err(Class::ARG),
    };
    let start = block.checked_mul(place).ok_or(Class::VALUE_TOO_LARGE)?.min(size);
    let period = block.checked_mul(processes).ok_or(Class::VALUE_TOO_LARGE)?;
    let left = size - start;
    let full = left / period + i64::from(left % period >= block);
    let rest = if left % period >= block { 0 } else { left % period };
    Ok(Taken { size, start, period, len: block, full, rest })
}
