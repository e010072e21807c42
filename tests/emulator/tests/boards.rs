//! The model of every board that has a file, with the tables that the file leads to.

use std::fmt::Write;

use descriptions::boards::{MeshBoard, map::SLOT_BYTES};
use emulator::{Board, Chip, PageKind::*, System, loader};

/// Every mesh with each memory that it can have.
fn boards() -> Vec<MeshBoard> {
    let meshes = descriptions::boards::Board::all().filter_map(|board| board.mesh().cloned());
    let all = |mesh: MeshBoard| {
        let choices = mesh.memory_gib.clone();
        choices.into_iter().map(move |default_memory_gib| MeshBoard { default_memory_gib, ..mesh.clone() })
    };
    meshes.flat_map(all).collect()
}

/// A chip with the lookup tables of the board's memory, all of its cores running.
fn chip(mesh: &MeshBoard) -> Chip {
    let mut chip = Chip::new(&Board::of(mesh));
    let (geometry, memory) = (&mesh.geometry, mesh.memory(mesh.default_memory_gib).unwrap());
    let mut text = String::new();
    for core in 0..geometry.cores() {
        let [_, x, y] = geometry.tile_of(core);
        let table = geometry.lookup_table + core % geometry.cores_per_tile * geometry.lookup_table_stride;
        for (slot, entry) in memory.lut(core) {
            let address = table + 8 * u32::from(slot);
            writeln!(text, "{:02x} 2 {address:08x} {:08x}", y << 4 | x, entry.to_register()).unwrap();
        }
    }
    loader::load_table(&mut chip, &text).unwrap();
    (0..geometry.cores()).for_each(|core| chip.release(core as usize));
    chip
}

#[test]
fn boards_that_are_not_modelled_are_refused() {
    assert!(boards().iter().all(|mesh| Chip::check(&Board::of(mesh)).is_ok()));
    let mut board = Board::scc(8);
    board.geometry.l2_ways = 8;
    assert_eq!(Chip::check(&board).unwrap_err(), "L2 has 4 ways in the model, and not 8");
}

const fn slot(slot: u32, offset: u32) -> u32 {
    slot * SLOT_BYTES + offset
}

#[test]
fn every_slot_leads_where_the_board_says() {
    for mesh in boards() {
        let (chip, geometry) = (chip(&mesh), &mesh.geometry);
        let memory = mesh.memory(mesh.default_memory_gib).unwrap();
        let behind = |controller: usize, block: u32, offset: u32| {
            let address = u64::from(block) * u64::from(SLOT_BYTES) + u64::from(offset);
            Ok(System::Memory { controller, address })
        };
        for core in 0..geometry.cores() {
            let place = memory.place(core);
            let at = |number: u32, offset: u32| chip.translate(core as usize, slot(number, offset));
            for number in 0..memory.private_slots {
                assert_eq!(at(number, 0x1234), behind(place.controller, place.code_block + number, 0x1234));
            }
            assert_eq!(at(0xFF, 0xFF_FFF0), behind(place.controller, place.boot_block, 0xFF_FFF0));
            for controller in 0..geometry.controllers {
                let shared = behind(controller as usize, memory.shared_block, 8);
                assert_eq!(at(geometry.shared_slot + controller, 8), shared);
            }
            for tile in 0..mesh.tiles() {
                let end = geometry.mpb_bytes * geometry.cores_per_tile;
                assert_eq!(
                    at(geometry.mpb_slot + tile, end - 4),
                    Ok(System::Mpb { tile: tile as usize, offset: end - 4 })
                );
                assert!(at(geometry.mpb_slot + tile, end).is_err());
                let register = Ok(System::Registers { tile: tile as usize, offset: 4 });
                assert_eq!(at(geometry.registers_slot + tile, 4), register);
            }
            assert_eq!(at(geometry.board_slot, 4), Ok(System::Board { offset: 4 }));
            assert!(at(memory.private_slots, 0).is_err(), "slots for other cores' memory lead nowhere yet");
        }
    }
}

#[test]
fn registers_are_where_the_board_says() {
    for mesh in boards() {
        let (mut chip, geometry) = (chip(&mesh), mesh.geometry);
        for core in 0..geometry.cores() {
            let [tile, x, y] = geometry.tile_of(core);
            let which = core % geometry.cores_per_tile;
            let mut own =
                |offset: u32| chip.load(core as usize, slot(geometry.own_registers_slot, offset), Uncached, 4);
            assert_eq!(own(geometry.tile_id).map(|id| id & 0x7FF), Ok(u64::from(y << 7 | x << 3 | which)));
            let register = geometry.test_and_set + which * geometry.test_and_set_stride;
            chip.store(core as usize, slot(geometry.registers_slot + tile, register), Uncached, 4, 0).unwrap();
            let other = (core + 1) % geometry.cores();
            let mut taken = || chip.load(other as usize, slot(geometry.registers_slot + tile, register), Uncached, 4);
            assert_eq!([taken(), taken()], [Ok(1), Ok(0)]);
            for offset in [geometry.core_configuration, geometry.l2_configuration] {
                assert!(
                    chip.load(core as usize, slot(geometry.own_registers_slot, offset + 8 * which), Uncached, 4)
                        .is_ok()
                );
            }
            let last = geometry.lookup_table + which * geometry.lookup_table_stride + 8 * 255;
            let entry = chip.load(core as usize, slot(geometry.own_registers_slot, last), Uncached, 4);
            let memory = mesh.memory(mesh.default_memory_gib).unwrap();
            assert_eq!(entry, Ok(memory.lut(core).last().unwrap().1.to_register().into()));
        }
        let mut board = |offset: u32| chip.load(0, slot(geometry.board_slot, offset), Uncached, 4);
        assert!(board(geometry.timestamp).is_ok() && board(geometry.timestamp + 4).is_ok());
        for half in geometry.counter_offsets {
            let last = half + (geometry.counters / 2 - 1) * 8;
            assert!(board(half).is_ok() && board(last + 4).is_ok() && board(last + 8).is_err());
        }
    }
}

#[test]
fn a_core_reaches_anothers_memory_through_a_slot_that_it_points_there() {
    for mesh in boards() {
        let (mut chip, geometry) = (chip(&mesh), mesh.geometry);
        let memory = mesh.memory(mesh.default_memory_gib).unwrap();
        let (owner, reader) = (geometry.cores() - 1, 0);
        let table = |core: u32, slot: u32| {
            geometry.lookup_table + core % geometry.cores_per_tile * geometry.lookup_table_stride + 8 * slot
        };
        let owners = slot(geometry.registers_slot + geometry.tile_of(owner)[0], table(owner, 1));
        let entry = chip.load(reader as usize, owners, Uncached, 4).unwrap();
        let own = slot(geometry.own_registers_slot, table(reader, memory.private_slots));
        chip.store(reader as usize, own, Uncached, 4, entry).unwrap();
        chip.store(owner as usize, slot(1, 0x40), Uncached, 4, 0xA70).unwrap();
        assert_eq!(chip.load(reader as usize, slot(memory.private_slots, 0x40), Uncached, 4), Ok(0xA70));
    }
}
