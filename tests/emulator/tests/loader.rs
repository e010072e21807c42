//! What the board's own tools do with objects and tables, peculiarities included.

use std::{fs, path::PathBuf};

use emulator::{Board, Chip, loader};

fn chip() -> Chip {
    Chip::new(&Board::scc(4))
}

/// Words of the first controller's memory.
fn words<const N: usize>(chip: &Chip, address: u64) -> [u32; N] {
    std::array::from_fn(|word| {
        let mut bytes = [0; 4];
        chip.memory(0).peek(address + 4 * word as u64, &mut bytes);
        u32::from_le_bytes(bytes)
    })
}

/// What is in memory from the start of the line at 0x100 bytes on after an object was loaded, two lines.
fn loaded(text: &str) -> [u32; 16] {
    let mut chip = chip();
    loader::load_object(&mut chip, 0, text).unwrap();
    words(&chip, 0x100)
}

/// What was there before.
fn untouched() -> u32 {
    words::<1>(&chip(), 0x100)[0]
}

#[test]
fn whole_lines_arrive() {
    let mut chip = chip();
    let text = "/origin 0\n/origin 00000040\n00000001 00000002 3 4 \n5 6 7 deadbeef\n9 a b c d e f 10\n/eof\n";
    assert_eq!(loader::load_object(&mut chip, 0, text), Ok(2));
    assert_eq!(words(&chip, 0x100), [1, 2, 3, 4, 5, 6, 7, 0xDEAD_BEEF, 9, 10, 11, 12, 13, 14, 15, 16]);
    assert_eq!(words::<1>(&chip, 0x140)[0] >> 16, 0xDEAD);
    assert_eq!(words::<1>(&chip, 0)[0] >> 16, 0xDEAD, "an origin without words writes nothing");
}

#[test]
fn only_tokens_count() {
    let spread = "/origin\n40\n1\n2\n\n3 4 5\t6 7 8 /eof";
    assert_eq!(loaded(spread), loaded("/origin 40\n1 2 3 4 5 6 7 8\n/eof\n"));
    assert_eq!(loaded("1 2 3 /origin 40 1 2 3 4 5 6 7 8 /eof"), loaded(spread));
}

#[test]
fn words_before_an_origin_become_zeros() {
    let expected = [0, 0, 0, 1, 2, 3, 4, 5];
    assert_eq!(loaded("/origin 43\n1 2 3 4 5\n/eof")[..8], expected);
}

#[test]
fn a_last_line_is_completed_with_the_previous_one() {
    assert_eq!(
        loaded("/origin 40\n1 2 3 4 5 6 7 8 9\n/eof"),
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5, 6, 7, 8],
        "at the end"
    );
    assert_eq!(
        loaded("/origin 40\n1 2 3 4 5 6 7 8 9\n/origin 80\n1 /eof"),
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5, 6, 7, 8],
        "before another origin"
    );
    assert_eq!(loaded("/origin 40\n1 2\n/eof")[..8], [1, 2, 0, 0, 0, 0, 0, 0], "there is no previous one");
}

#[test]
fn a_second_origin_in_a_line_zeroes_what_the_first_one_had() {
    assert_eq!(loaded("/origin 40\n1 2\n/origin 44\n5 6 7 8\n/eof")[..8], [0, 0, 0, 0, 5, 6, 7, 8]);
    assert_eq!(
        loaded("/origin 40\n1 2 3 4 5 6 7 8\n/origin 44\n9\n/eof")[..8],
        [0, 0, 0, 0, 9, 0, 0, 0],
        "even if that was written already"
    );
}

#[test]
fn without_an_end_the_last_line_is_lost_if_it_is_not_full() {
    let found = loaded("/origin 40\n1 2 3 4 5 6 7 8 9 a");
    assert_eq!((found[7], found[8]), (8, untouched()));
}

#[test]
fn what_is_beyond_the_memory_is_refused() {
    let mut chip = chip();
    for (text, reason) in [
        ("/origin 400000000 1 2 3 4 5 6 7 8 /eof", "the origin 0x400000000 is beyond 0x3ffffffff"),
        ("/origin 3ffffffff 1 /eof", "it has words for 0xfffffffe0, and the memory ends at 0x100000000"),
        ("/origin 40000000 1 2 3 4 5 6 7 8 /eof", "it has words for 0x100000000, and the memory ends at 0x100000000"),
        ("/origin 40 1 2 x /eof", "\"x\" is no word"),
        ("/origin 40 123456789 /eof", "\"123456789\" is no word"),
        ("/origin here", "\"here\" is no address of an origin"),
        ("/origin", "it ends with an origin without an address"),
        ("/origin 40 1 /eof 2", "there is \"2\" after /eof"),
    ] {
        assert_eq!(loader::load_object(&mut chip, 0, text), Err(reason.into()), "{text}");
    }
    assert_eq!(loader::load_object(&mut chip, 0, "/origin 3ffffff8 1 2 3 4 5 6 7 8 /eof"), Ok(1));
}

#[test]
fn tables_have_four_columns() {
    let mut chip = chip();
    let text = "00 2 00000800 00001800\n35 2 000017f8 0004b1ff\n";
    assert_eq!(loader::load_table(&mut chip, text), Ok(2));
    let there = |chip: &Chip, core, address| chip.translate(core, address).is_ok();
    assert!(there(&chip, 0, 0) && !there(&chip, 1, 0) && !there(&chip, 0, 0x0100_0000));
    refused_table("00 2 00000800\n", "line 1 has 3 columns instead of 4");
    refused_table("00 2 800 1800\n00 2 808 1801 0\n", "line 2 has 5 columns instead of 4");
    refused_table("\n", "line 1 has 0 columns instead of 4");
    refused_table("00 2 800 180g\n", "line 1: \"180g\" is no hexadecimal number");
    refused_table("06 2 800 1800\n", "line 1: there is no tile (6, 0)");
    refused_table("00 2 1804 1800\n", "line 1: a tile has no register with the offset 0x1804");
    refused_table("00 2 800 400000\n", "line 1: 0x400000 is no entry of a lookup table");
    refused_table("00 6 800 1800\n", "line 1: side 6 of tile 0 is neither its registers nor its MPB");
    refused_table("00 2 100 0\n", "line 1: register 0x100 is read only");
}

#[track_caller]
fn refused_table(text: &str, reason: &str) {
    assert_eq!(loader::load_table(&mut chip(), text), Err(reason.into()));
}

#[test]
fn other_registers_and_mpbs_are_written_too() {
    let mut chip = chip();
    loader::load_table(&mut chip, "35 2 00000018 00348dfa\n35 3 00000010 1122334455667788\n").unwrap();
    assert!(chip.interrupt_pins(47).intr);
    assert_eq!(chip.mpb(23)[0x10..0x18], 0x1122_3344_5566_7788_u64.to_le_bytes());
}

/// A directory of its own for each test.
fn directory(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    files.iter().for_each(|(name, text)| fs::write(directory.join(name), text).unwrap());
    directory
}

const LINE: &str = "/origin 0\n/origin 40\n1 2 3 4 5 6 7 8\n/eof\n";
const TABLE: &str = "00 2 00000800 00001800\n";

#[test]
fn a_directory_is_loaded() {
    let files = [("mch_0_0.32.obj", LINE), ("mch_5_2.32.obj", LINE), ("lut_init.dat", TABLE)];
    let mut chip = chip();
    let loaded = loader::load(&mut chip, &directory("whole", &files)).unwrap();
    assert_eq!((loaded.objects, loaded.lines, loaded.registers), (2, 2, 1));
    let first = |controller| {
        let mut bytes = [0; 4];
        chip.memory(controller).peek(0x100, &mut bytes);
        u32::from_le_bytes(bytes)
    };
    assert_eq!((first(0), first(3), first(1) >> 16), (1, 1, 0xDEAD));
}

#[test]
fn a_directory_that_cannot_be_loaded_gets_one_line() {
    for (name, files, reason) in [
        ("no-objects", &[("lut_init.dat", TABLE)][..], "mch_X_Y.32.obj: there is none in "),
        ("no-table", &[("mch_0_0.32.obj", LINE)], "lut_init.dat: "),
        ("elsewhere", &[("mch_3_0.32.obj", LINE)], "mch_3_0.32.obj: there is no memory controller at (3, 0)"),
        ("damaged", &[("mch_5_0.32.obj", "/origin 1 2 x")], "mch_5_0.32.obj: \"x\" is no word"),
        ("short", &[("mch_0_0.32.obj", LINE), ("lut_init.dat", "0 2 3")], "lut_init.dat: line 1 has 3 columns"),
    ] {
        let error = loader::load(&mut chip(), &directory(name, files)).unwrap_err().to_string();
        assert!(error.starts_with(reason) && !error.contains('\n'), "{error}");
    }
}

#[test]
fn boards_that_files_describe_are_modelled() {
    let mesh = |name| descriptions::boards::Board::built_in(name).unwrap().mesh().unwrap().clone();
    let (scc, small) = (Board::of(&mesh("scc")), Board::of(&mesh("scc-2x2")));
    assert_eq!(scc, Board::scc(8));
    // West and east sides; the registers are south of tile (3, 0), with 2 as bits 33:31 of the address.
    assert_eq!((scc.controller_sides, scc.registers_entry), ([6, 4, 6, 4, 0, 0, 0, 0], 0x0_7500));
    let mut chip = Chip::new(&small);
    assert_eq!(chip.board().cores(), 8);
    // East of tile (1, 0), west of tile (0, 1), south of tile (0, 0), and south of tile (1, 0), where there is nothing.
    let text = "00 2 1000 3000\n00 2 1008 2183f\n00 2 1010 1500\n00 2 1018 3400\n";
    loader::load_table(&mut chip, text).unwrap();
    use emulator::System;
    assert_eq!(chip.translate(0, 4), Ok(System::Memory { controller: 0, address: 4 }));
    assert_eq!(chip.translate(0, 0x0100_0000), Ok(System::Memory { controller: 1, address: 0x3F00_0000 }));
    assert_eq!(chip.translate(0, 0x0200_0100), Ok(System::Board { offset: 0x100 }));
    assert!(chip.translate(0, 0x0300_0000).is_err());
}
