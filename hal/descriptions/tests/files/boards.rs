//! Boards, and how their memory is divided.

use descriptions::{
    Costs, MOST_CONTROLLERS,
    boards::{Board, Geometry, Kind, LutEntry, Memory, MeshBoard, SubDestination, map},
    machines::MachineFile,
};

use crate::{are_wrong, parse};

fn mesh(name: &str) -> MeshBoard {
    Board::built_in(name).and_then(|board| board.mesh().cloned()).expect("it is a mesh that is built in")
}

/// The boards that are meshes, with each memory that they can have, and with both ways to fill lookup tables.
fn memories() -> Vec<(&'static str, Memory)> {
    let mut memories = Vec::new();
    for name in Board::names() {
        let Some(board) = Board::built_in(name).expect("it is built in").mesh().cloned() else { continue };
        for lut_default in [false, true] {
            let board = MeshBoard { lut_default, ..board.clone() };
            memories.extend(board.memory_gib.iter().map(|gib| (name, board.memory(*gib).expect("it is a choice"))));
        }
    }
    memories
}

/// What operations cost on a machine of the simulator.
fn costs(machine: &str) -> Costs {
    MachineFile::built_in(machine).expect("it is built in").costs()
}

#[test]
fn the_scc_is_as_the_facts_say() {
    let geometry = mesh("scc").geometry;
    let mut controller_tiles = [[0; 2]; MOST_CONTROLLERS];
    controller_tiles[..4].copy_from_slice(&[[0, 0], [5, 0], [0, 2], [5, 2]]);
    let expected = Geometry {
        columns: 6,
        rows: 4,
        cores_per_tile: 2,
        mpb_bytes: 8192,
        mpb_slot: 0xC0,
        registers_slot: 0xE0,
        own_registers_slot: 0xF8,
        board_slot: 0xF9,
        shared_slot: 0x80,
        foreign_slots_end: 0x80,
        controllers: 4,
        controller_tiles,
        core_configuration: 0x10,
        l2_configuration: 0x20,
        tile_configuration: 0x80,
        tile_id: 0x100,
        test_and_set: 0x200,
        test_and_set_stride: 0x200,
        lookup_table: 0x800,
        lookup_table_stride: 0x800,
        timestamp: 0x8224,
        timestamp_mhz: 125,
        counters: 96,
        counter_offsets: [0xE000, 0xF000],
        l2_ways: 4,
        costs: costs("scc"),
    };
    assert_eq!((geometry, geometry.cores(), geometry.tile_of(47)), (expected, 48, [23, 5, 3]));
    assert_eq!((mesh("scc").default_memory_gib, mesh("scc-2x2").geometry.costs), (8, costs("scc-2x2")));
    assert_eq!(Board::built_in("pc").map(|pc| matches!(pc.kind, Kind::Pc(pc) if pc.most_cores == 255)), Some(true));
}

#[test]
fn memory_of_the_scc_is_divided_as_by_merge() {
    let scc = mesh("scc");
    for (gib, private, shared, boot) in [(4, 20, 0xF0, 0xF4), (8, 41, 0x1EC, 0x1F4), (16, 84, 0x3F0, 0x3F4)] {
        let memory = scc.memory(gib).unwrap();
        assert_eq!((memory.private_slots, memory.shared_block, memory.shared_blocks), (private, shared, 1));
        assert_eq!(memory.private_bytes(), u64::from(private) << 24);
        for core in 0..48 {
            let place = memory.place(core);
            assert_eq!((place.code_block, place.boot_block), (place.base * private, boot + place.base));
        }
    }
    // One slot less where the slots that nothing is behind lead somewhere: only where it does not come out even.
    let filled = MeshBoard { lut_default: true, ..scc.clone() };
    assert_eq!([4, 8, 16].map(|gib| filled.memory(gib).unwrap().private_slots), [20, 41, 84]);
    let even = MeshBoard { cores_per_controller: 51, ..scc.clone() };
    let filled = MeshBoard { lut_default: true, ..even.clone() };
    assert_eq!([even, filled].map(|board| board.memory(4).unwrap().private_slots), [4, 3]);
    assert_eq!(
        scc.memory(5).unwrap_err().to_string(),
        "there are no 5 GiB behind each controller; choices are 4, 8, 16"
    );
}

/// The standard core list of `sccMerge` (`hal::hardware`, Memory map).
#[test]
fn cores_of_the_scc_have_the_places_of_the_standard_list() {
    let memory = mesh("scc").memory(8).unwrap();
    for pid in 0..48 {
        let (controller, first) = match pid {
            0..=5 => (0, 0),
            12..=17 => (0, 6),
            6..=11 => (1, 6),
            18..=23 => (1, 12),
            24..=29 => (2, 24),
            36..=41 => (2, 30),
            30..=35 => (3, 30),
            _ => (3, 36),
        };
        let place = memory.place(pid);
        assert_eq!((place.controller, place.base), (controller, pid - first), "core {pid}");
    }
}

#[test]
fn lookup_tables_of_the_scc_are_those_of_merge() {
    let memory = mesh("scc").memory(8).unwrap();
    for core in 0..48 {
        let lut = memory.lut(core);
        let at = |slot: u8| lut.iter().find(|(other, _)| *other == slot).map(|(_, entry)| entry.to_register());
        assert!(lut.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert_eq!([0x80, 0x81, 0x82, 0x83].map(at), [0x019EC, 0x0B1EC, 0x419EC, 0x4B1EC].map(Some));
        assert_eq!([0xF9, 0xFA, 0xFB, 0xFC].map(at), [0x07500, 0x07600, 0x01400, 0x07580].map(Some));
        assert_eq!([0x29, 0x7F, 0x84, 0xBF, 0xD9, 0xF7 + 6, 0xFE].map(at), [None; 7]);
        let (tile, x, y) = (core / 2, core / 2 % 6, core / 12);
        let route = (y << 4 | x) << 13;
        assert_eq!((at(0xC0 + tile as u8), at(0xD8)), (Some(route | 0xC00), Some(route | 0xC00)));
        assert_eq!((at(0xE0 + tile as u8), at(0xF8)), (Some(route | 0x800), Some(route | 0x800)));
        assert_eq!(lut.len(), 41 + 4 + 24 + 1 + 24 + 1 + 4 + 1);
    }
    // Core 19 is the eighth of the controller at the east.
    let lut = memory.lut(19);
    let east = |block: u32| 0x05 << 13 | 4 << 10 | block;
    assert_eq!(lut[0], (0, LutEntry::from_register(east(7 * 41))));
    assert_eq!(lut[40], (40, LutEntry::from_register(east(7 * 41 + 40))));
    assert_eq!(lut.last(), Some(&(0xFF, LutEntry::from_register(east(0x1F4 + 7)))));

    let filled = MeshBoard { lut_default: true, ..mesh("scc") }.memory(8).unwrap().lut(19);
    assert_eq!(filled.len(), 256);
    let spare = LutEntry::from_register(east(0x1ED));
    assert_eq!([0x29, 0x7F, 0x84, 0xBF].map(|slot| filled[slot].1), [spare; 4]);
    assert!(lut.iter().all(|entry| filled.contains(entry)));
}

/// Values of `copycat.dat`, the table with 8 GiB behind each controller that sccKit comes with: the first private slot
/// that is not merged with the one to start in, the last one, and that one.
#[test]
fn lookup_tables_agree_with_one_that_merge_has_written() {
    let memory = mesh("scc").memory(8).unwrap();
    for (core, first, last, boot) in [
        (0, 0x0_1801, 0x0_1828, 0x0_19F4),
        (1, 0x0_182A, 0x0_1851, 0x0_19F5),
        (3, 0x0_187C, 0x0_18A3, 0x0_19F7),
        (5, 0x0_18CE, 0x0_18F5, 0x0_19F9),
        (6, 0x0_B001, 0x0_B028, 0x0_B1F4),
        (46, 0x4_B19B, 0x4_B1C2, 0x4_B1FE),
        (47, 0x4_B1C4, 0x4_B1EB, 0x4_B1FF),
    ] {
        let lut = memory.lut(core);
        let found = [1, 40, 255].map(|slot| lut.iter().find(|(other, _)| *other == slot).unwrap().1.to_register());
        assert_eq!(found, [first, last, boot], "core {core}");
    }
}

#[test]
fn a_single_controller_has_all_the_shared_memory() {
    let text = "base = \"scc\"\n[layout]\ncontrollers = [[5, 2]]\n[controllers]\nsides = [\"east\"]\ncores = 48";
    let board: Board = parse(text).unwrap();
    let memory = board.mesh().unwrap().memory(16).unwrap();
    // sccMerge -m 16 -n 48 -single_mc
    assert_eq!((memory.private_slots, memory.shared_block, memory.place(47).boot_block), (20, 960, 1023));
    let lut = memory.lut(3);
    let shared: Vec<_> = lut.iter().filter(|(slot, _)| (0x80..0x90).contains(slot)).map(|(_, entry)| *entry).collect();
    assert_eq!(shared, [960, 961, 962, 963].map(|block| LutEntry::new(5, 2, SubDestination::East, block)));
}

#[test]
fn nothing_overlaps_on_any_board() {
    memories().iter().for_each(|(name, memory)| nothing_overlaps(name, memory));
}

/// Meshes of many shapes, with one to four controllers and as many cores for each as it takes.
#[test]
fn nothing_overlaps_on_boards_of_any_shape() {
    let corners = |columns, rows| {
        [(0, 0, "west"), (columns - 1, rows - 1, "east"), (0, rows - 1, "north"), (columns - 1, 0, "south")]
    };
    let mut shapes = 0;
    for (columns, rows, per_tile) in (1..=5).flat_map(|x| (1..=4).flat_map(move |y| [(x, y, 1), (x, y, 2)])) {
        for controllers in 1..=4 {
            let mut placed: Vec<_> = corners(columns, rows)[..controllers].to_vec();
            placed.sort_by_key(|(x, y, _)| [*x, *y]);
            placed.dedup_by_key(|(x, y, _)| [*x, *y]);
            let tiles: Vec<_> = placed.iter().map(|(x, y, _)| [*x, *y]).collect();
            let sides: Vec<_> = placed.iter().map(|(_, _, side)| *side).collect();
            let spare = columns * rows % 3;
            let text = format!(
                "base = \"scc\"\n[layout]\ncolumns = {columns}\nrows = {rows}\ncores_per_tile = {per_tile}\n\
                 controllers = {tiles:?}\n[controllers]\nsides = {sides:?}\ncores = {}\n\
                 [memory]\nchoices_gib = [2, 5, 16]\ndefault_gib = 2\nmost_private_slots = 100\n\
                 [slots]\nfixed = [[0xF9, 0x1100]]",
                columns * rows * per_tile + spare,
            );
            let board: Board = parse(&text).unwrap();
            for lut_default in [false, true] {
                let board = MeshBoard { lut_default, ..board.mesh().unwrap().clone() };
                board.memory_gib.iter().for_each(|gib| nothing_overlaps(&text, &board.memory(*gib).unwrap()));
                shapes += 1;
            }
        }
    }
    assert_eq!(shapes, 5 * 4 * 2 * 4 * 2);
}

/// No block of memory is two cores', or a core's and shared, or not there; and everything that an image maps is mapped.
fn nothing_overlaps(name: &str, memory: &Memory) {
    let board = memory.board();
    let cores = board.geometry.cores();
    let shared: Vec<_> = memory.lut(0).into_iter().filter(|(slot, _)| is_shared(board, *slot)).collect();
    assert_eq!(shared.len() as u32, board.shared_slots(), "{name}");
    let mut used: Vec<_> = shared.iter().map(|(_, entry)| *entry).collect();
    for core in 0..cores {
        let lut = memory.lut(core);
        let own: Vec<_> = lut.iter().filter(|(slot, _)| is_private(memory, *slot)).map(|(_, entry)| *entry).collect();
        assert_eq!(own.len() as u32, memory.private_slots + 1, "{name}, core {core}");
        let place = memory.place(core);
        let controller = board.controllers[place.controller];
        for entry in &own {
            assert_eq!(([entry.x(), entry.y()], entry.destination()), (controller.tile, controller.side));
            assert!(u64::from(entry.block()) < 64 * memory.gib && !entry.has_bypass());
        }
        assert_eq!((own[0].block(), own[own.len() - 1].block()), (place.code_block, place.boot_block));
        used.extend(own);
        let same: Vec<_> = lut.iter().filter(|(slot, _)| is_shared(board, *slot)).copied().collect();
        assert_eq!(same, shared, "{name}, core {core}");
        let [tile, x, y] = board.geometry.tile_of(core);
        for (slot, what) in [
            (board.geometry.mpb_slot + tile, SubDestination::Mpb),
            (board.geometry.registers_slot + tile, SubDestination::Registers),
            (board.geometry.own_registers_slot, SubDestination::Registers),
        ] {
            assert!(lut.contains(&(slot as u8, LutEntry::new(x, y, what, 0))), "{name}, core {core}");
        }
        if board.lut_default {
            let spare = lut[memory.private_slots as usize].1;
            assert!(lut.len() == 256 && !used.contains(&spare), "{name}, core {core}");
        }
    }
    let count = used.len();
    used.sort_by_key(|entry| entry.to_register());
    used.dedup();
    assert_eq!(used.len(), count, "{name}: {} GiB", memory.gib);
}

fn is_shared(board: &MeshBoard, slot: u8) -> bool {
    let shared = board.geometry.shared_slot;
    (shared..shared + board.shared_slots()).contains(&slot.into())
}

fn is_private(memory: &Memory, slot: u8) -> bool {
    u32::from(slot) < memory.private_slots || u32::from(slot) == map::BOOT_SLOT
}

#[test]
fn a_file_says_what_differs() {
    let board: Board = parse("base = \"scc\"\n[cores]\n# chosen: faster\nclock_mhz = 800").unwrap();
    let geometry = mesh("scc").geometry;
    let costs = Costs { core_mhz: 800, ..geometry.costs };
    assert_eq!(board.mesh().unwrap().geometry, Geometry { costs, ..geometry });
    assert!(board.about.starts_with("like scc: "));
    let of = |name: &str| board.values.parameters().find(|parameter| parameter.key.name == name).unwrap().clone();
    assert_eq!(
        (of("cores.clock_mhz").from.as_str(), of("cores.clock_mhz").source.text.as_str()),
        ("my.toml", "faster")
    );
    assert_eq!((of("layout.rows").from.as_str(), of("slots.mpb").from.as_str()), ("machine scc", "scc"));
    assert_eq!((of("slots.mpb").shown().as_str(), of("layout.rows").shown().as_str()), ("0xc0", "4"));
    let filled: Board = parse("base = \"scc\"\n[memory]\nlut_default = true").unwrap();
    let again: Board = parse(&filled.to_toml()).unwrap();
    assert!(filled.mesh().unwrap().lut_default && again.mesh().unwrap().lut_default && !mesh("scc").lut_default);
    let pc: Board = parse("base = \"pc\"\n[pc]\nmost_cores = 4").unwrap();
    assert!(matches!(pc.kind, Kind::Pc(pc) if pc.most_cores == 4) && pc.mesh().is_none());
}

#[test]
fn what_is_written_is_what_was_read() {
    for name in Board::names() {
        let board = Board::built_in(name).unwrap();
        let text = board.to_toml();
        let read: Board = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!((&read.kind, &read.about, read.to_toml()), (&board.kind, &board.about, text));
    }
    let chosen = Board::built_in("scc").unwrap().with_memory(16).unwrap();
    let read: Board = parse(&chosen.to_toml()).unwrap();
    assert_eq!((read.mesh().unwrap().default_memory_gib, read.mesh()), (16, chosen.mesh()));
    assert!(chosen.with_memory(17).is_err() && Board::built_in("pc").unwrap().with_memory(8).is_err());
}

#[test]
fn what_is_wrong_is_said_in_a_line_with_its_key() {
    let section = |section: &str, rest: &str| format!("base = \"scc\"\n[{section}]\n{rest}");
    are_wrong::<Kind>(&[
        (String::new(), "layout.columns"),
        ("base = \"abacus\"".into(), "scc-2x2"),
        ("machine = \"abacus\"".into(), "scc-calibrated"),
        ("machine = \"cluster-asic\"".into(), "machine"),
        ("base = \"pc\"\nmachine = \"scc\"".into(), "machine"),
        ("machine = \"scc\"".into(), "layout.controllers"),
        ("base = \"scc\"\n\n[slots".into(), "line 3"),
        ("base = \"scc\"\nslot = 3".into(), "slot "),
        (section("slot", "mpb = 3"), "slot.mpb"),
        (section("slots", "mbp = 3"), "slots.mbp"),
        (section("slots", "mpb = 256"), "slots.mpb"),
        (section("slots", "mpb = -1"), "slots.mpb"),
        (section("slots", "mpb = \"0xC0\""), "slots.mpb"),
        (section("pc", "most_cores = 3"), "pc.most_cores"),
        ("base = \"pc\"\n[slots]\nmpb = 0xC0".into(), "slots.mpb"),
        // Slots that overlap, or are not there.
        (section("slots", "mpb = 0xC9"), "slots.mpb"),
        (section("slots", "registers = 0xD0"), "slots.registers"),
        (section("slots", "own_mpb = 0xD7"), "slots.own_mpb"),
        (section("slots", "own_registers = 0xFE"), "APIC"),
        (section("slots", "own_registers = 0xFF"), "starts in"),
        (section("slots", "own_registers = 0xFA"), "slots.fixed"),
        (section("slots", "registers = 0xFA"), "below 0x100"),
        (section("slots", "shared = 0x7E"), "slots.foreign_end"),
        (section("slots", "shared = 0xBE"), "slots.shared"),
        (section("slots", "foreign_end = 0x81"), "slots.foreign_end"),
        (section("slots", "foreign_end = 0x58"), "slots.foreign_end"),
        (section("slots", "mpb = 0x90"), "slots.mpb"),
        (section("slots", "own_registers = 0x98"), "slots.own_registers"),
        (section("slots", "board = 0xDA"), "slots.fixed"),
        (section("slots", "fixed = [[0xF9, 0x07500], [0xF9, 0x07600]]"), "slots.fixed"),
        (section("slots", "fixed = [[0xF9, 0x207500]]"), "bypass"),
        (section("slots", "fixed = [[0xF9, 0x0C500]]"), "6 x 4 tiles"),
        (section("slots", "fixed = [[0xF9, 0x07500], [0xFA, 0x419EC]]"), "into a controller"),
        (section("slots", "fixed = [[0x1F9, 0x07500]]"), "slots.fixed"),
        // Registers that overlap.
        (section("registers", "core_configuration = 0x18"), "registers.l2_configuration"),
        (section("registers", "test_and_set = 0x700"), "registers.test_and_set"),
        (section("registers", "test_and_set_stride = 0"), "registers.test_and_set"),
        (section("registers", "lookup_table_stride = 0x400"), "registers.lookup_table"),
        (section("registers", "lookup_table = 0x80"), "registers.lookup_table"),
        (section("registers", "lookup_table = 0x1008"), "registers.lookup_table"),
        (section("registers", "tile_id = 0x102"), "registers.tile_id"),
        (section("board", "timestamp = 0xE004"), "board.timestamp"),
        (section("board", "counter_offsets = [0xE000, 0xE100]"), "board.counter_offsets"),
        (section("board", "counter_offsets = [0xE000]"), "board.counter_offsets"),
        (section("board", "counters = 48"), "board.counters"),
        // Controllers, cores and memory.
        (section("layout", "controllers = [[0, 0], [6, 0], [0, 2], [5, 2]]"), "layout.controllers"),
        (section("layout", "controllers = [[0, 0]]"), "controllers.sides"),
        (section("layout", "controllers = [[0, 0], [5, 0], [0, 2], [4, 2]]"), "controllers.sides"),
        (section("layout", "controllers = [[0, 0], [5, 0], [0, 0], [5, 2]]"), "layout.controllers"),
        (section("layout", "columns = 17"), "layout.columns"),
        (section("layout", "cores_per_tile = 3"), "layout.cores_per_tile"),
        (section("layout", "rows = 11"), "layout"),
        (section("controllers", "cores = 11"), "controllers.cores"),
        (section("controllers", "sides = [\"up\"]"), "controllers.sides"),
        (section("memory", "choices_gib = [1, 17]\ndefault_gib = 1"), "memory.choices_gib"),
        (section("memory", "choices_gib = []"), "memory.choices_gib"),
        (section("memory", "default_gib = 5"), "memory.default_gib"),
        ("base = \"scc\"\n[controllers]\ncores = 100\n[memory]\nchoices_gib = [1]\ndefault_gib = 1".into(), "memory"),
        (section("mpb", "core_bytes = 4_096"), "mpb.core_bytes"),
        (section("mpb", "core_bytes = 8_224"), "mpb.core_bytes"),
        (section("mpb", "core_bytes = 4_194_304"), "mpb.core_bytes"),
        (section("layout", "columns = 8\nrows = 8"), "128 cores"),
        (section("cores", "l2_sets = 1_000"), "cores.l2_sets"),
        (section("cores", "l2_sets = 16"), "32 sets or more"),
        (section("cores", "l2_ways = 3"), "cores.l2_ways"),
        (section("cores", "l2_sets = 8_192\nl2_ways = 16"), "cores.l2_sets"),
    ]);
    let error = Board::find("abacus").unwrap_err().to_string();
    assert!(error.contains("abacus") && error.contains("scc, scc-2x2, pc"), "{error}");
    let error = Board::find("nowhere.toml").unwrap_err().to_string();
    assert!(error.starts_with("cannot read nowhere.toml"), "{error}");
}
