//! Typemaps written out, value by value, by the definitions of the standard: what datatypes are compared with.

use std::{rc::Rc, slice, vec, vec::Vec};

use super::{BASICS, Basic, Combiner, Datatype, Datatypes, datatype::Contents};

/// A typemap: basic types and where they are, and bounds that were set.
#[derive(Clone, Debug)]
struct Map {
    entries: Vec<(i64, &'static Basic)>,
    markers: Vec<(i64, i64)>,
}

impl Map {
    fn of(basic: &'static Basic) -> Self {
        Self { entries: vec![(0, basic)], markers: vec![] }
    }

    fn true_bounds(&self) -> (i64, i64) {
        let lower = self.entries.iter().map(|(place, _)| *place).min().unwrap_or(0);
        let upper = self.entries.iter().map(|(place, basic)| place + basic.true_extent() as i64).max().unwrap_or(0);
        (lower, upper)
    }

    fn bounds(&self) -> (i64, i64) {
        let set = self.markers.iter().copied().reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)));
        set.unwrap_or_else(|| {
            let (lower, mut upper) = self.true_bounds();
            let alignment = self.entries.iter().map(|(_, basic)| basic.alignment() as i64).max().unwrap_or(1);
            while (upper - lower) % alignment != 0 {
                upper += 1;
            }
            (lower, upper)
        })
    }

    fn extent(&self) -> i64 {
        let (lower, upper) = self.bounds();
        upper - lower
    }

    fn add(&mut self, other: &Self, place: i64) {
        self.entries.extend(other.entries.iter().map(|(at, basic)| (at + place, *basic)));
        self.markers.extend(other.markers.iter().map(|(lower, upper)| (lower + place, upper + place)));
    }

    /// Blocks of values: displacement in bytes, length, type.
    fn blocks<'m>(blocks: impl IntoIterator<Item = (i64, i64, &'m Self)>) -> Self {
        let mut all = Self { entries: vec![], markers: vec![] };
        for (place, len, of) in blocks {
            (0..len).for_each(|number| all.add(of, place + number * of.extent()));
        }
        all
    }

    /// Those elements of an array that `takes` wants: sizes, the dimension that varies fastest first.
    fn array(&self, sizes: &[i64], takes: impl Fn(&[i64]) -> bool) -> Self {
        let mut all = Self { entries: vec![], markers: vec![] };
        let total: i64 = sizes.iter().product();
        for number in 0..total {
            let (mut left, mut index) = (number, vec![]);
            for size in sizes {
                index.push(left % size);
                left /= size;
            }
            if takes(&index) {
                all.entries.extend(self.entries.iter().map(|(at, basic)| (at + number * self.extent(), *basic)));
            }
        }
        all.markers = vec![(0, total * self.extent())];
        all
    }

    /// Where each byte of a value is, in order.
    fn bytes(&self) -> Vec<i64> {
        let of = |(place, basic): &(i64, &'static Basic)| {
            let place = *place;
            basic
                .values()
                .flat_map(move |(within, format, _)| (0..format.size()).map(move |byte| place + (within + byte) as i64))
        };
        self.entries.iter().flat_map(of).collect()
    }
}

/// Numbers that look random, the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as i64 % limit
    }

    fn list(&mut self, len: i64, limit: i64) -> Vec<i64> {
        (0..len).map(|_| self.below(limit)).collect()
    }
}

type Both = (Rc<Datatype>, Map);

/// A call of a function of the standard: what it makes, and the typemap that it should make.
fn call(combiner: Combiner, arguments: &[i64], of: &[Both], map: Map) -> Both {
    let types: Vec<_> = of.iter().map(|(datatype, _)| datatype.clone()).collect();
    let made = Datatype::create(combiner, true, arguments, &types);
    (Rc::new(made.unwrap_or_else(|class| panic!("{combiner:?} {arguments:?}: {class:?}"))), map)
}

fn random_type(random: &mut Random, depth: i64) -> Both {
    if depth == 0 {
        // Any, but for marks of bounds, which have no bytes.
        let all: Vec<_> = BASICS.iter().filter(|basic| basic.size() > 0).collect();
        let basic = all[random.below(all.len() as i64) as usize];
        return (Rc::new(Datatype::of_basic(basic)), Map::of(basic));
    }
    let inner = random_type(random, depth - 1);
    let (of, extent) = (inner.1.clone(), inner.1.extent());
    let (count, len) = (random.below(4), random.below(4));
    let one = [inner];
    match random.below(11) {
        0 => call(Combiner::Contiguous, &[count], &one, Map::blocks([(0, count, &of)])),
        1 => {
            let stride = random.below(9) - 3;
            let map = Map::blocks((0..count).map(|block| (block * stride * extent, len, &of)));
            call(Combiner::Vector, &[count, len, stride], &one, map)
        }
        2 => {
            let stride = random.below(99) - 30;
            let map = Map::blocks((0..count).map(|block| (block * stride, len, &of)));
            call(Combiner::Hvector, &[count, len, stride], &one, map)
        }
        kind @ (3 | 4) => {
            let (lens, places) = (random.list(count, 4), random.list(count, 12));
            let (combiner, unit) = if kind == 3 { (Combiner::Indexed, extent) } else { (Combiner::Hindexed, 1) };
            let blocks = lens.iter().zip(&places).map(|(len, place)| (place * unit, *len, &of));
            call(combiner, &[&[count], &lens[..], &places[..]].concat(), &one, Map::blocks(blocks))
        }
        kind @ (5 | 6) => {
            let places = random.list(count, 12);
            let (combiner, unit) =
                if kind == 5 { (Combiner::IndexedBlock, extent) } else { (Combiner::HindexedBlock, 1) };
            let blocks = places.iter().map(|place| (place * unit, len, &of));
            call(combiner, &[&[count, len], &places[..]].concat(), &one, Map::blocks(blocks))
        }
        7 => {
            let types: Vec<_> = (0..count).map(|_| random_type(random, depth - 1)).collect();
            let (lens, places) = (random.list(count, 4), random.list(count, 99));
            let blocks = types.iter().zip(&lens).zip(&places).map(|(((_, of), len), place)| (*place - 20, *len, of));
            let map = Map::blocks(blocks);
            let places: Vec<_> = places.iter().map(|place| place - 20).collect();
            call(Combiner::Struct, &[&[count], &lens[..], &places[..]].concat(), &types, map)
        }
        8 => {
            let (lower, extent) = (random.below(20) - 10, random.below(60));
            let map = Map { entries: of.entries, markers: vec![(lower, lower + extent)] };
            call(Combiner::Resized, &[lower, extent], &one, map)
        }
        9 => random_subarray(random, &one),
        _ => random_darray(random, &one),
    }
}

/// In the order of the standard's sections on arrays: that of C has the last dimension vary fastest.
fn ordered(values: &[i64], order: i64) -> Vec<i64> {
    let mut values = values.to_vec();
    if order == 0xC {
        values.reverse();
    }
    values
}

fn random_subarray(random: &mut Random, of: &[Both; 1]) -> Both {
    let (number, order) = (1 + random.below(3), 0xC + 3 * random.below(2));
    let sizes: Vec<_> = (0..number).map(|_| 1 + random.below(4)).collect();
    let lens: Vec<_> = sizes.iter().map(|size| 1 + random.below(*size)).collect();
    let starts: Vec<_> = sizes.iter().zip(&lens).map(|(size, len)| random.below(size - len + 1)).collect();
    let [all, part, from] = [&sizes, &lens, &starts].map(|list| ordered(list, order));
    let map = of[0].1.array(&all, |index| {
        index.iter().zip(&from).zip(&part).all(|((index, from), len)| (*from..from + len).contains(index))
    });
    call(Combiner::Subarray, &[&[number], &sizes[..], &lens, &starts, &[order]].concat(), of, map)
}

fn random_darray(random: &mut Random, of: &[Both; 1]) -> Both {
    let (number, order) = (1 + random.below(3), 0xC + 3 * random.below(2));
    let (mut sizes, mut kinds, mut details, mut grid) = (vec![], vec![], vec![], vec![]);
    for _ in 0..number {
        let (size, kind) = (1 + random.below(7), 16 + random.below(3));
        let processes = if kind == 16 { 1 } else { 1 + random.below(3) };
        let detail = match (kind, random.below(2)) {
            (16, _) | (_, 0) => 19,
            (17, _) => (size - 1) / processes + 1 + random.below(2),
            _ => 1 + random.below(3),
        };
        sizes.push(size);
        kinds.push(kind);
        details.push(detail);
        grid.push(processes);
    }
    let processes: i64 = grid.iter().product();
    let rank = random.below(processes);
    let mut places = vec![];
    let mut left = rank;
    for size in grid.iter().rev() {
        places.insert(0, left % size);
        left /= size;
    }
    let [s, k, d, g, p] = [&sizes, &kinds, &details, &grid, &places].map(|list| ordered(list, order));
    let map = of[0].1.array(&s, |index| {
        (0..index.len()).all(|at| {
            let block = match (k[at], d[at]) {
                (16, _) => s[at],
                (17, 19) => (s[at] + g[at] - 1) / g[at],
                (18, 19) => 1,
                (_, detail) => detail,
            };
            index[at] / block % g[at] == p[at]
        })
    });
    let arguments = [&[processes, rank, number], &sizes[..], &kinds, &details, &grid, &[order]].concat();
    call(Combiner::Darray, &arguments, of, map)
}

/// Checks all that is known of a type against its typemap.
fn check(random: &mut Random, (datatype, map): &Both) {
    let (lower, upper) = map.bounds();
    let places = map.bytes();
    let true_bounds = map.true_bounds();
    assert_eq!((datatype.bounds().lower, datatype.bounds().upper), (lower, upper), "bounds of {datatype:?}");
    assert_eq!((datatype.true_bounds().lower, datatype.true_bounds().upper), true_bounds);
    assert_eq!(datatype.size(), places.len());
    let elements: i64 =
        map.entries.iter().map(|(_, basic)| if basic.group == super::Group::Pair { 2 } else { 1 }).sum();
    assert_eq!(datatype.elements(), elements);
    let mut all = vec![];
    datatype.for_each(0, &mut |basic, place| all.push((place, basic)));
    assert_eq!(all, map.entries);
    let only =
        map.entries.first().map(|entry| entry.1).filter(|only| map.entries.iter().all(|(_, basic)| basic == only));
    assert_eq!(datatype.basic(), only);
    check_packing(random, datatype, &places);
    check_elements(datatype, map);
}

fn check_packing(random: &mut Random, datatype: &Datatype, places: &[i64]) {
    const COUNT: usize = 3;
    let extent = datatype.extent_count();
    let places: Vec<_> =
        (0..COUNT as i64).flat_map(|value| places.iter().map(move |place| place + value * extent)).collect();
    let (Some(first), Some(last)) = (places.iter().min(), places.iter().max()) else { return };
    assert_eq!(datatype.flat().bounds(COUNT), Some(*first..last + 1), "{datatype:?}");
    let memory: Vec<u8> = (*first..=*last).map(|_| random.below(256) as u8).collect();
    let expected: Vec<u8> = places.iter().map(|place| memory[(place - first) as usize]).collect();
    let base = memory.as_ptr().wrapping_offset(-*first as isize);
    let mut packed = vec![0; places.len()];
    // SAFETY: the memory has all places of so many values.
    unsafe { datatype.pack(base, COUNT, &mut packed) };
    assert_eq!(packed, expected, "{datatype:?}");
    // From any byte on, in any order of pieces.
    for _ in 0..4 {
        let from = random.below(places.len() as i64) as usize;
        let mut piece = vec![0; 1 + random.below(40) as usize];
        // SAFETY: as above.
        let len = unsafe { datatype.flat().pack_from(base, COUNT, from, &mut piece) };
        assert_eq!(len, piece.len().min(places.len() - from));
        assert_eq!(piece[..len], expected[from..from + len], "from {from} of {datatype:?}");
    }
    let mut target = vec![0xA5; memory.len()];
    let mut should_be = target.clone();
    places.iter().zip(&expected).for_each(|(place, byte)| should_be[(place - first) as usize] = *byte);
    let mut at = 0;
    while at < packed.len() {
        let end = (at + 1 + random.below(23) as usize).min(packed.len());
        // SAFETY: as above.
        unsafe {
            datatype.flat().unpack_at(
                &packed[at..end],
                target.as_mut_ptr().wrapping_offset(-*first as isize),
                COUNT,
                at,
            );
        }
        at = end;
    }
    assert_eq!(target, should_be, "{datatype:?}");
    if let Some((offset, len)) = datatype.flat().contiguous(COUNT as i64) {
        assert!(places.iter().copied().eq(offset..offset + len));
    }
}

/// How many basic values a number of bytes has, by counting.
fn check_elements(datatype: &Datatype, map: &Map) {
    let mut ends = vec![];
    for (_, basic) in &map.entries {
        let sizes: Vec<_> = basic.values().map(|(_, format, _)| format.size()).collect();
        // A pair has two values, a complex number is one.
        let sizes = if basic.group == super::Group::Pair { sizes } else { vec![sizes.iter().sum()] };
        sizes.into_iter().for_each(|size| ends.push(ends.last().copied().unwrap_or(0) + size as i64));
    }
    let size = datatype.size_count();
    for bytes in (0..2 * size).step_by(1 + size as usize / 20) {
        let (whole, rest) = (bytes / size, bytes % size);
        let inner = ends.iter().filter(|end| **end <= rest).count();
        let is_whole = rest == 0 || ends.contains(&rest);
        assert_eq!(
            datatype.elements_in(bytes),
            (whole * ends.len() as i64 + inner as i64, is_whole),
            "{bytes} of {datatype:?}"
        );
    }
    for elements in (0..2 * ends.len()).step_by(1 + ends.len() / 20) {
        let (whole, rest) = (elements / ends.len(), elements % ends.len());
        let bytes = whole as i64 * size + if rest == 0 { 0 } else { ends[rest - 1] };
        assert_eq!(datatype.bytes_of_elements(elements as u64), Some(bytes as u64), "{elements} of {datatype:?}");
    }
}

#[test]
fn random_types_are_their_typemaps() {
    let mut random = Random(1);
    let mut sizes = 0;
    for round in 0..1500 {
        let both = random_type(&mut random, 1 + round % 3);
        if both.1.entries.len() < 3000 {
            check(&mut random, &both);
            sizes += both.0.size();
        }
    }
    assert!(sizes > 100_000, "{sizes} bytes");
}

#[test]
fn basic_types_are_as_in_c() {
    macro_rules! pair {
        ($first:ty, $second:ty) => {{
            #[repr(C)]
            struct Pair($first, $second);
            (size_of::<Pair>(), core::mem::offset_of!(Pair, 1))
        }};
    }
    let datatypes = Datatypes::new();
    for (handle, (extent, second)) in [
        (0x228, pair!(f32, i32)),
        (0x229, pair!(f64, i32)),
        (0x22A, pair!(core::ffi::c_long, i32)),
        (0x22B, pair!(i32, i32)),
        (0x22C, pair!(i16, i32)),
        (0x216, pair!(f64, f64)),
    ] {
        let datatype = datatypes.get(handle).unwrap();
        let basic = datatype.basic().unwrap();
        assert_eq!((datatype.extent() as usize, basic.second_offset()), (extent, second), "{}", basic.name);
    }
    assert!(BASICS.is_sorted_by_key(|basic| basic.handle));
    assert!(datatypes.get(super::DATATYPE_NULL).is_err() && datatypes.free(0x209).is_err());
}

#[test]
fn contents_are_what_was_said() {
    let int = Rc::new(Datatype::of_basic(super::basic(0x209).unwrap()));
    let made = |combiner, is_large, arguments: &[i64]| {
        let made = Datatype::create(combiner, is_large, arguments, &[int.clone(), int.clone()]).unwrap();
        made.recipe().unwrap().contents()
    };
    let contents = |integers: &[i32], addresses: &[isize], large_counts: &[i64]| Contents {
        integers: integers.into(),
        addresses: addresses.into(),
        large_counts: large_counts.into(),
    };
    assert_eq!(made(Combiner::Vector, false, &[2, 1, 3]), contents(&[2, 1, 3], &[], &[]));
    assert_eq!(made(Combiner::Vector, true, &[2, 1, 3]), contents(&[], &[], &[2, 1, 3]));
    assert_eq!(made(Combiner::Hvector, false, &[2, 1, 12]), contents(&[2, 1], &[12], &[]));
    assert_eq!(made(Combiner::Hindexed, false, &[2, 1, 2, 8, 0]), contents(&[2, 1, 2], &[8, 0], &[]));
    assert_eq!(made(Combiner::HindexedBlock, false, &[2, 1, 8, 0]), contents(&[2, 1], &[8, 0], &[]));
    assert_eq!(made(Combiner::Struct, true, &[2, 1, 2, 8, 0]), contents(&[], &[], &[2, 1, 2, 8, 0]));
    assert_eq!(made(Combiner::Resized, false, &[-4, 12]), contents(&[], &[-4, 12], &[]));
    assert_eq!(made(Combiner::Subarray, true, &[1, 4, 2, 1, 0xC]), contents(&[1, 0xC], &[], &[4, 2, 1]));
    assert_eq!(
        made(Combiner::Darray, true, &[2, 1, 1, 5, 18, 19, 2, 0xC]),
        contents(&[2, 1, 1, 18, 19, 2, 0xC], &[], &[5])
    );
}

#[test]
fn what_makes_no_sense_is_refused() {
    use super::Class;
    let int = Rc::new(Datatype::of_basic(super::basic(0x209).unwrap()));
    let refused =
        |combiner, arguments: &[i64]| Datatype::create(combiner, false, arguments, slice::from_ref(&int)).unwrap_err();
    assert_eq!(refused(Combiner::Contiguous, &[-1]), Class::COUNT);
    assert_eq!(refused(Combiner::Contiguous, &[i64::MAX]), Class::VALUE_TOO_LARGE);
    assert_eq!(refused(Combiner::Vector, &[2, 1, i64::MAX / 2]), Class::VALUE_TOO_LARGE);
    assert_eq!(refused(Combiner::Indexed, &[2, 1]), Class::ARG);
    assert_eq!(refused(Combiner::IndexedBlock, &[1, -1, 0]), Class::ARG);
    assert_eq!(refused(Combiner::Subarray, &[0, 0xC]), Class::DIMS);
    assert_eq!(refused(Combiner::Subarray, &[1, 4, 3, 2, 0xC]), Class::ARG);
    assert_eq!(refused(Combiner::Subarray, &[1, 4, 3, 1, 7]), Class::ARG);
    assert_eq!(refused(Combiner::Darray, &[3, 0, 1, 5, 17, 19, 2, 0xC]), Class::ARG);
    assert_eq!(refused(Combiner::Darray, &[2, 0, 1, 5, 17, 2, 2, 0xC]), Class::ARG);
}

/// A type of as many runs as there are values would be longer than what it describes.
#[test]
fn what_is_regular_stays_short() {
    let int = Rc::new(Datatype::of_basic(super::basic(0x209).unwrap()));
    let runs = |of: &Datatype| of.flat().shape().0;
    let column = Datatype::strided(&int, 1 << 20, 1, 4096).unwrap();
    assert_eq!(runs(&column), 1);
    let matrix = Rc::new(Datatype::strided(&Rc::new(column), 8, 1, 4).unwrap());
    assert_eq!(matrix.flat().shape(), (1, (8, 4)));
    let places: Vec<_> = [1 << 16].into_iter().chain([1]).chain((0..1 << 16).map(|place| 2 * place)).collect();
    let indexed = Datatype::create(Combiner::IndexedBlock, false, &places, slice::from_ref(&int)).unwrap();
    assert_eq!(runs(&indexed), 1);
    let two = Datatype::create(Combiner::Indexed, false, &[2, 1, 2, 0, 3], &[int]).unwrap();
    let many = Datatype::contiguous(&Rc::new(two), 1 << 20).unwrap();
    assert_eq!(many.flat().shape(), (2, (1 << 20, 20)));
}

/// The older way to set bounds: marks among the members of a structure, of which the outermost count.
#[test]
fn marks_set_bounds() {
    let of = |handle| Rc::new(Datatype::of_basic(super::basic(handle).unwrap()));
    let (lower, upper, int, short) = (of(0x204), of(0x205), of(0x209), of(0x208));
    let made = |places: &[i64], types: &[Rc<Datatype>]| {
        let count = types.len() as i64;
        let numbers: Vec<_> =
            [count].into_iter().chain(types.iter().map(|_| 1)).chain(places.iter().copied()).collect();
        Rc::new(Datatype::create(Combiner::Struct, false, &numbers, types).unwrap())
    };
    let bounds = |of: &Datatype| (of.bounds().lower, of.bounds().upper);
    let both = made(&[-3, 0, 9], &[lower.clone(), int.clone(), upper.clone()]);
    assert_eq!((bounds(&both), both.size(), both.elements(), both.true_extent()), ((-3, 9), 4, 1, 4));
    // One bound is set; the other is where the data say, and aligned.
    assert_eq!(bounds(&made(&[4, 11], &[short.clone(), upper])), (4, 11));
    assert_eq!(bounds(&made(&[-1, 0, 4], &[lower, int.clone(), short])), (-1, 7));
    // They stay where they were set, further inside, and in duplicates.
    let pair = made(&[0, 20], &[both.clone(), int]);
    assert_eq!((bounds(&pair), pair.elements(), pair.bytes_of_elements(2)), ((-3, 9), 2, Some(8)));
    let again = Datatype::create(Combiner::Dup, false, &[], &[pair]).unwrap();
    assert_eq!(bounds(&again), (-3, 9));
    assert_eq!(bounds(&Datatype::contiguous(&both, 3).unwrap()), (-3, 33));
}
