//! Whole directories, read by readers that share no code with the writers.

mod loader;
mod merge;

use super::{
    elf::made,
    files, names,
    object::{self, Content, Run},
    *,
};
use descriptions::boards::{Handed, map};
use tempfile::TempDir;

fn board(name: &str) -> Board {
    Board::built_in(name).unwrap()
}

/// A run of a program with two input files, neither of which ends on a line.
fn flash(board: Board, setup: &Setup) -> Flash {
    let inputs = tempfile::tempdir().unwrap();
    let paths = ["a.pgm", "b c"].map(|name| inputs.path().join(name));
    fs::write(&paths[0], (0..5000_u32).map(|byte| byte as u8).collect::<Vec<_>>()).unwrap();
    fs::write(&paths[1], b"x").unwrap();
    let program = Program::resolve("terrain").unwrap();
    let words = kernel_line::KernelLine::default().value("program", Some("terrain")).value("steps", Some(3));
    Flash::new(board, setup, &program, &words, &paths).unwrap()
}

fn written(flash: &Flash) -> TempDir {
    let parent = tempfile::tempdir().unwrap();
    flash.write(&made::image(), &parent.path().join("out")).unwrap();
    parent
}

fn out(parent: &TempDir) -> PathBuf {
    parent.path().join("out")
}

fn read_text(directory: &TempDir, name: &str) -> String {
    fs::read_to_string(out(directory).join(name)).unwrap()
}

/// Compares what each core sees with what was to be there. Nothing if all is right.
fn difference(flash: &Flash, directory: &Path) -> Option<String> {
    let loaded = match loader::load(directory) {
        Ok(loaded) => loaded,
        Err(error) => return Some(error),
    };
    let geometry = flash.memory.board().geometry;
    let placement = flash.place(&elf::Image::read(&made::image()).unwrap()).unwrap();
    for core in 0..geometry.cores() {
        let [_, x, y] = geometry.tile_of(core);
        let tile = u64::from(y << 4 | x);
        let table = u64::from(geometry.lookup_table + core % geometry.cores_per_tile * geometry.lookup_table_stride);
        for piece in &placement.pieces {
            for (address, expected) in (piece.address..=u32::MAX).zip(&piece.bytes) {
                let expected = (core < flash.loaded_cores()).then_some(*expected);
                let found = loaded.byte(tile, table, address);
                if found != expected {
                    return Some(format!("core {core} sees {found:x?} instead of {expected:x?} at {address:#x}"));
                }
            }
        }
        for (slot, entry) in flash.memory.lut(core) {
            let found = loaded.entry(tile, table, slot.into());
            if found != Some(entry.to_register().into()) {
                return Some(format!("slot {slot:#x} of core {core} is {found:x?}"));
            }
        }
    }
    None
}

#[test]
fn every_core_sees_its_memory_through_its_table() {
    for (name, memory_gib, cores, starts_others) in [
        ("scc", None, None, false),
        ("scc", Some(4), Some(5), false),
        ("scc", Some(16), Some(48), true),
        ("scc-2x2", None, None, false),
        ("scc-2x2", Some(3), Some(1), false),
    ] {
        let flash = flash(board(name), &Setup { cores, memory_gib, starts_others });
        let directory = written(&flash);
        assert_eq!(difference(&flash, &out(&directory)), None, "{name} {memory_gib:?} {cores:?} {starts_others}");
    }
}

#[test]
fn the_classic_way_leads_to_the_same_words() {
    let full = Board::parse("full", "base = \"scc\"\n[memory]\n# chosen: to test it\nlut_default = true\n").unwrap();
    for (board, memory_gib, cores) in [
        (board("scc"), 4, 48),
        (board("scc"), 8, 48),
        (board("scc"), 16, 48),
        (board("scc"), 8, 1),
        (board("scc"), 8, 13),
        (full, 8, 48),
    ] {
        let what = format!("{}, {memory_gib} GiB, {cores} cores", board.name);
        let lut_default = board.mesh().unwrap().lut_default;
        let setup = Setup { cores: Some(cores), memory_gib: Some(memory_gib), starts_others: false };
        let directory = written(&flash(board, &setup));
        let merged = merge::merge(&out(&directory), memory_gib, 12, lut_default).unwrap();
        for (route, text) in &merged.memory {
            let name = format!("mch_{}_{}.32.obj", route & 0xF, route >> 4);
            assert!(read_text(&directory, &name) == *text, "{name} differs, {what}");
        }
        let objects = fs::read_dir(out(&directory)).unwrap().map(|entry| entry.unwrap().file_name());
        let objects = objects.filter(|name| name.to_string_lossy().starts_with("mch_")).count();
        assert_eq!(objects, merged.memory.len());
        let luts = read_text(&directory, names::LUTS);
        match cores {
            48 => assert!(luts == merged.luts, "{what}"),
            // Its tables are of the cores in the list only.
            _ => assert!(luts.starts_with(&merged.luts), "{what}"),
        }
    }
}

#[test]
fn pieces_make_the_object() {
    let directory = written(&flash(board("scc"), &Setup::default()));
    let mut text = String::new();
    for line in read_text(&directory, names::MAP).lines() {
        let (address, name) = line.split_once(' ').unwrap();
        let address = u64::from_str_radix(address, 16).unwrap();
        let bytes = fs::read(out(&directory).join(name)).unwrap();
        assert!(address.is_multiple_of(32) && bytes.len().is_multiple_of(32) && !bytes.is_empty(), "{line}");
        text += &format!("/origin {:08x}\n", address >> 2);
        for line in bytes.chunks(16) {
            let words: Vec<_> =
                line.chunks(4).map(|word| format!("{:08x}", u32::from_le_bytes(word.try_into().unwrap()))).collect();
            text += &format!("{}\n", words.join(" "));
        }
    }
    assert!(read_text(&directory, names::OBJECT) == text + "/eof\n");
}

#[test]
fn small_memory_is_written_like_this() {
    let bytes: Vec<u8> = (0..32).collect();
    let content = [(0x1_0000, &bytes), (0xFFFF_F000, &vec![0xFF; 32])]
        .map(|(address, bytes)| Content { run: Run { address, bytes: bytes.clone() }, text: object::text(bytes) });
    let memory = board("scc").mesh().unwrap().memory(8).unwrap();
    // The first and the second core of the controller at tile (5, 2), which has the last cores.
    let mut text = Vec::new();
    files::merged(&mut text, &[memory.place(30), memory.place(31)], &content).unwrap();
    let expected = "\
/origin 0
/origin 00000000
/origin 00004000
03020100 07060504 0b0a0908 0f0e0d0c
13121110 17161514 1b1a1918 1f1e1d1c
/origin 7d3ffc00
ffffffff ffffffff ffffffff ffffffff
ffffffff ffffffff ffffffff ffffffff
/origin 0a400000
/origin 0a404000
03020100 07060504 0b0a0908 0f0e0d0c
13121110 17161514 1b1a1918 1f1e1d1c
/origin 7d7ffc00
ffffffff ffffffff ffffffff ffffffff
ffffffff ffffffff ffffffff ffffffff
/eof
";
    assert_eq!(String::from_utf8(text).unwrap(), expected);
}

#[test]
fn tables_and_lists_are_those_of_the_facts() {
    let directory = written(&flash(board("scc"), &Setup::default()));
    let luts = read_text(&directory, names::LUTS);
    // 41 private slots, 4 shared ones, 24 MPBs and 24 tiles' registers, 2 of the own tile, 4 fixed ones and the last.
    assert_eq!(luts.lines().count(), 48 * (41 + 4 + 24 + 24 + 2 + 4 + 1));
    assert_eq!(luts.lines().next(), Some("00 2 00000800 00001800"));
    for line in [
        "00 2 00000c00 000019ec",
        "00 2 00000c08 0000b1ec",
        "00 2 00000c10 000419ec",
        "00 2 00000c18 0004b1ec",
        "00 2 00000fc8 00007500",
        "35 2 000016b8 0006ac00",
        "35 2 000017f8 0004b1ff",
    ] {
        assert!(luts.lines().any(|other| other == line), "{line}");
    }
    assert_eq!(luts.lines().last(), Some("35 2 000017f8 0004b1ff"));
    let cores = read_text(&directory, names::CORES);
    let lines: Vec<_> = cores.lines().collect();
    assert_eq!(lines.len(), 49);
    assert_eq!(lines[1], "0 0x00 6 0 core.32.obj");
    assert_eq!(lines[13], "12 0x00 6 6 core.32.obj");
    assert_eq!(lines[48], "47 0x25 4 11 core.32.obj");
}

#[test]
fn files_of_controllers_are_called_as_the_loader_calls_them() {
    let name = |tile| names::controller(&descriptions::boards::Controller { tile, side: SubDestination::East });
    assert_eq!([name([5, 2]), name([11, 10])], ["mch_5_2.32.obj", "mch_b_a.32.obj"]);
}

#[test]
fn what_is_loaded_says_what_was_chosen() {
    let setup = Setup { cores: Some(3), memory_gib: None, starts_others: true };
    let flash = flash(board("scc-2x2"), &setup);
    let directory = written(&flash);
    let loaded = loader::load(&out(&directory)).unwrap();
    let table = u64::from(flash.memory.board().geometry.lookup_table);
    let bytes: Vec<_> = (map::HANDED..).map_while(|address| loaded.byte(0, table, address)).collect();
    let handed = Handed::read(&bytes).unwrap();
    assert_eq!((handed.setting.cores, handed.setting.starts_others), (3, 1));
    assert_eq!(handed.setting.private_slots, flash.memory.private_slots);
    assert_eq!(handed.command_line, "program=terrain steps=3 heap_kib=4106 heap0_kib=4176");
    assert_eq!(handed.geometry, flash.memory.board().geometry);
    let names: Vec<_> = handed.modules().map(|module| module.name).collect();
    assert_eq!(names, ["a.pgm", "b_c"]);
    let resolved = Board::parse("board.toml", &read_text(&directory, "board.toml")).unwrap();
    assert_eq!(resolved.mesh(), flash.board.mesh());
}

#[test]
fn whoever_changes_a_file_changes_what_a_core_sees() {
    let flash = flash(board("scc"), &Setup { cores: Some(2), ..Setup::default() });
    let directory = written(&flash);
    let change = |name: &str, from: &str, to: &str| {
        let (path, text) = (out(&directory).join(name), read_text(&directory, name));
        assert!(text.contains(from), "{name} has no {from}");
        fs::write(&path, text.replacen(from, to, 1)).unwrap();
        let found = difference(&flash, &out(&directory));
        fs::write(&path, text).unwrap();
        found
    };
    let objects = "mch_0_0.32.obj";
    assert!(
        change(names::LUTS, "00 2 00000808 00001801", "00 2 00000808 00001802").unwrap().contains("slot 0x1 of core 0")
    );
    assert!(change(names::LUTS, "00 2 00000808 00001801", "00 2 00000808").unwrap().contains("line 2"));
    assert!(change(objects, "/origin 00040000", "/origin 00040008").unwrap().contains("at 0x100000"));
    assert!(change(objects, "/origin 00040000", "/origin 00040001").unwrap().contains("at 0x100000"));
    assert!(change(objects, "/eof", "/oops").is_some());
    // The reset page's jump.
    assert!(change(objects, "f4f00de9", "f4f00dea").unwrap().contains("0xfffffff0"));
    assert_eq!(difference(&flash, &out(&directory)), None);
}

#[test]
fn what_is_wrong_is_said_in_one_line() {
    let program = Program::resolve("terrain").unwrap();
    let refused = |board: &str, setup: Setup, inputs: &[PathBuf]| {
        let words = kernel_line::KernelLine::default();
        let board = Board::find(board).map_err(anyhow::Error::from);
        let flash = board.and_then(|board| Flash::new(board, &setup, &program, &words, inputs));
        let message = format!("{:#}", flash.map(drop).unwrap_err());
        assert!(!message.contains('\n'), "{message}");
        message
    };
    let cores = |cores| Setup { cores: Some(cores), ..Setup::default() };
    assert_eq!(refused("scc", cores(49), &[]), "49 cores are too many: scc has 48");
    assert!(refused("scc-2x2", cores(9), &[]).contains("scc-2x2 has 8"));
    assert!(refused("pc", cores(1), &[]).contains("pc is no board"));
    let message = refused("scd", cores(1), &[]);
    assert!(message.contains("`scd`") && message.contains("scc, scc-2x2, pc"), "{message}");
    let message = refused("scc", Setup { memory_gib: Some(32), ..Setup::default() }, &[]);
    assert!(message.contains("--memory-gib 32") && message.contains("4, 8, 16"), "{message}");
    let mut other = board("scc").mesh().unwrap().clone();
    other.controllers[0].side = SubDestination::South;
    let message = check_controllers(&other).unwrap_err().to_string();
    assert_eq!(message, "the memory controller at tile (0, 0) is South of it, and the loader looks for it West");
    assert!(refused("scc", cores(1), &["/nonexistent/x".into()]).contains("cannot read /nonexistent/x"));
}

#[test]
fn nothing_is_written_for_an_image_that_does_not_fit() {
    let parent = tempfile::tempdir().unwrap();
    let out = parent.path().join("out");
    let flash = flash(board("scc"), &Setup::default());
    let large = made::elf(&[(map::IMAGE, b"x", 70 << 20), (map::RESET, &made::reset_page(), 0)]);
    assert!(flash.write(&large, &out).unwrap_err().to_string().starts_with("too large for the board"));
    assert!(flash.write(b"no ELF", &out).is_err());
    assert!(!out.exists());
}

#[test]
fn the_guide_has_the_commands_and_the_places() {
    let directory = written(&flash(board("scc"), &Setup { cores: Some(5), memory_gib: Some(4), starts_others: false }));
    let guide = read_text(&directory, names::GUIDE);
    for text in [
        "terrain on 5 cores of scc",
        "sccBmc -i Tile533_Mesh800_DDR800",
        "sccBoot -g .",
        "sccReset -r 0..4\n",
        "memorySize=4",
        "sccMerge -m 4 -n 12 -noimage -force cores.mt",
        "seq 0 4",
        "read-log",
        "| 0x00010000 |",
        "| 0x04000000 | 0x04001388 | a.pgm |",
        "| 0x80–0x83 | shared memory, from block 0xf0 on behind each controller |",
        "| 47 | (5, 2) |",
        "(0, 0): cores 0 1 2 3 4 |",
    ] {
        assert!(guide.contains(text), "{text} is not in\n{guide}");
    }
    let setup = Setup { starts_others: true, ..Setup::default() };
    let directory = written(&flash(board("scc"), &setup));
    assert!(read_text(&directory, names::GUIDE).contains("sccReset -r 0\n"));
    let tells = |board| read_text(&written(&board), names::GUIDE).contains("the controllers of the SCC only");
    assert!(!tells(flash(board("scc"), &setup)) && tells(flash(board("scc-2x2"), &setup)));
}
