use super::{acpi, mp};
use alloc::{string::String, vec::Vec};

/// Pieces of memory, and nothing between them.
#[derive(Clone, Default)]
struct Pieces(Vec<(u64, Vec<u8>)>);

impl Pieces {
    fn with(mut self, at: u64, bytes: &[u8]) -> Self {
        self.0.push((at, bytes.to_vec()));
        self
    }

    fn with_hex(self, at: u64, hex: &str) -> Self {
        let digits: Vec<_> = hex.bytes().filter_map(|digit| (digit as char).to_digit(16)).collect();
        let bytes: Vec<_> = digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect();
        self.with(at, &bytes)
    }

    fn byte(&self, at: u64) -> Option<u8> {
        let found =
            |(start, bytes): &(u64, Vec<u8>)| bytes.get(usize::try_from(at.checked_sub(*start)?).ok()?).copied();
        self.0.iter().find_map(found)
    }

    fn piece(&mut self, at: u64) -> &mut Vec<u8> {
        &mut self.0.iter_mut().find(|piece| piece.0 == at).unwrap().1
    }

    fn contents(mut self, at: u64) -> Vec<u8> {
        self.piece(at).clone()
    }

    fn acpi(&self) -> Option<Vec<u8>> {
        acpi::processors(|at| self.byte(at)).map(|ids| ids.0.to_vec())
    }

    fn mp(&self) -> Option<Vec<u8>> {
        mp::processors(|at| self.byte(at)).map(|ids| ids.0.to_vec())
    }
}

/// Makes the bytes add up to nothing by changing one of them.
fn seal(bytes: &mut [u8], place: usize) {
    bytes[place] = 0;
    bytes[place] = bytes.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte)).wrapping_neg();
}

const ROOT: u64 = 0xF_59E0;
const TABLES: u64 = 0x3FE_2389;
const MADT: u64 = 0x3FE_2265;

/// What SeaBIOS leaves on a q35 with three processors in one package.
fn q35() -> Pieces {
    Pieces::default()
        .with_hex(ROOT, "5253442050545220a5424f43485320008923fe03")
        .with_hex(
            TABLES,
            "52534454380000000126424f4348532042585043202020200100000042585043010000007121fe036522fe03ed22fe032523fe03\
             6123fe03",
        )
        .with_hex(
            MADT,
            "41504943880000000162424f4348532042585043202020200100000042585043010000000000e0fe010000000008000001000000\
             00080101010000000008020201000000010c00000000c0fe00000000020a0000020000000000020a0005050000000d00020a0009\
             090000000d00020a000a0a0000000d00020a000b0b0000000d000406ff000001",
        )
}

const MP_POINTER: u64 = 0xF_5B90;
const MP_TABLE: u64 = 0xF_5BA0;

/// What SeaBIOS leaves on an i440fx with two packages of two cores: the first core of each.
fn i440fx() -> Pieces {
    Pieces::default().with_hex(MP_POINTER, "5f4d505fa05b0f000104960000000000").with_hex(
        MP_TABLE,
        "50434d50dc00045a424f434853435055302e3120202020202020202000000000000013000000e0fe000000000000140343050000\
             bd03001000000000000000000002140143050000bd03001000000000000000000100504349202020010149534120202002001101\
             0000c0fe030001000004000903000000010000020300000001010001030000000103000303000000010400040300000001060006\
             0300000001070007030000000108000803000000010c000c03000000010d000d03000000010e000e03000000010f000f04030000\
             01000000040100000100ff01",
    )
}

/// An MADT with these entries.
fn madt(entries: &[&[u8]]) -> Vec<u8> {
    let mut table = b"APIC\0\0\0\0\x01\0".to_vec();
    table.resize(36, b' ');
    table.extend(0xFEE0_0000u32.to_le_bytes());
    table.extend([1, 0, 0, 0]);
    entries.iter().for_each(|entry| table.extend(*entry));
    let len = table.len() as u32;
    table[4..8].copy_from_slice(&len.to_le_bytes());
    seal(&mut table, 9);
    table
}

fn processor(id: u8, flags: u8) -> [u8; 8] {
    [0, 8, 0, id, flags, 0, 0, 0]
}

/// A machine whose root pointer is of version 2, with this MADT.
fn second_version(madt: &[u8]) -> Pieces {
    let mut root = b"RSD PTR \0OEMID \x02\0\0\0\0".to_vec();
    root.extend(36u32.to_le_bytes());
    root.extend(0x7000_0000u64.to_le_bytes());
    root.extend([0; 4]);
    seal(&mut root[..20], 8);
    seal(&mut root, 32);
    let mut tables = b"XSDT\x2c\0\0\0\x01\0".to_vec();
    tables.resize(36, 0);
    tables.extend(0x7000_1000u64.to_le_bytes());
    seal(&mut tables, 9);
    Pieces::default().with(0xE_0000, &root).with(0x7000_0000, &tables).with(0x7000_1000, madt)
}

#[test]
fn tables_of_a_machine_are_read() {
    assert_eq!(q35().acpi(), Some(vec_of(&[0, 1, 2])));
    assert_eq!(q35().mp(), None);
    assert_eq!(i440fx().mp(), Some(vec_of(&[0, 2])));
    assert_eq!(i440fx().acpi(), None);
    assert_eq!((Pieces::default().acpi(), Pieces::default().mp()), (None, None));
}

fn vec_of(ids: &[u8]) -> Vec<u8> {
    ids.to_vec()
}

#[test]
fn only_processors_that_can_be_started_count() {
    let x2apic = |id: u32, flags: u8| {
        let mut entry = vec_of(&[9, 16, 0, 0]);
        entry.extend(id.to_le_bytes());
        entry.extend([flags, 0, 0, 0, 0, 0, 0, 0]);
        entry
    };
    let entries: [&[u8]; 9] = [
        &processor(6, 1),
        &processor(4, 0),
        &processor(2, 1),
        // One that could be plugged in.
        &processor(3, 2),
        &processor(255, 1),
        &x2apic(6, 1),
        &x2apic(9, 1),
        &x2apic(300, 1),
        // Of a kind that nobody knows.
        &[0x7F, 3, 1],
    ];
    assert_eq!(second_version(&madt(&entries)).acpi(), Some(vec_of(&[2, 6, 9])));
    assert_eq!(second_version(&madt(&[&processor(4, 0)])).acpi(), None);
    assert_eq!(second_version(&madt(&[])).acpi(), None);
}

#[test]
fn lists_that_contradict_themselves_are_not_believed() {
    let good: &[u8] = &processor(0, 1);
    assert_eq!(second_version(&madt(&[good])).acpi(), Some(vec_of(&[0])));
    let elsewhere = [5, 12, 0, 0, 0, 0, 0xE0, 0xFD, 0, 0, 0, 0];
    let bad: [&[u8]; 7] = [&[0], &[0, 0], &[0, 1], &[0, 4, 0, 1], &[9, 4, 0, 1], &[1, 200, 0, 0], &elsewhere];
    for entry in bad {
        assert_eq!(second_version(&madt(&[good, entry])).acpi(), None, "{entry:?}");
    }
    let mut elsewhere = madt(&[good]);
    elsewhere[36..40].copy_from_slice(&0xFEC0_0000u32.to_le_bytes());
    seal(&mut elsewhere, 9);
    assert_eq!(second_version(&elsewhere).acpi(), None);
}

#[test]
fn the_older_table_of_tables_serves_where_the_newer_is_broken() {
    let mut machine = second_version(&madt(&[&processor(1, 1)]));
    let mut tables = b"RSDT\x28\0\0\0\x01\0".to_vec();
    tables.resize(36, 0);
    tables.extend(0x7000_1000u32.to_le_bytes());
    seal(&mut tables, 9);
    machine = machine.with(0x6000_0000, &tables);
    let root = machine.piece(0xE_0000);
    root[16..20].copy_from_slice(&0x6000_0000u32.to_le_bytes());
    seal(&mut root[..20], 8);
    seal(root, 32);
    machine.piece(0x7000_0000)[20] ^= 1;
    assert_eq!(machine.acpi(), Some(vec_of(&[1])));
}

#[test]
fn tables_in_the_extended_area_are_found() {
    let area = Pieces::default().with(0x40E, &[0xC0, 0x9F]).with(0x413, &[0x7F, 0x02]);
    let moved = |from: Pieces, piece: u64| area.clone().with(0x9_FC10, &from.contents(piece));
    let machine = moved(q35(), ROOT).with(TABLES, &q35().contents(TABLES)).with(MADT, &q35().contents(MADT));
    assert_eq!(machine.acpi(), Some(vec_of(&[0, 1, 2])));
    assert_eq!(moved(i440fx(), MP_POINTER).with(MP_TABLE, &i440fx().contents(MP_TABLE)).mp(), Some(vec_of(&[0, 2])));
    // At the end of the memory below 1 MiB, where there is no such area.
    let machine = Pieces::default().with(0x413, &[0x80, 0x02]).with(0x9_FFF0, &i440fx().contents(MP_POINTER));
    assert_eq!(machine.with(MP_TABLE, &i440fx().contents(MP_TABLE)).mp(), Some(vec_of(&[0, 2])));
    // Numbers that are none.
    let machine = q35().with(0x40E, &[0xFF, 0xFF]).with(0x413, &[0xFF, 0xFF]);
    assert_eq!((machine.acpi(), machine.mp()), (Some(vec_of(&[0, 1, 2])), None));
}

#[test]
fn default_configurations_have_two_processors() {
    let mut pointer = i440fx().contents(MP_POINTER);
    pointer[4..8].fill(0);
    pointer[11] = 5;
    seal(&mut pointer, 10);
    assert_eq!(Pieces::default().with(MP_POINTER, &pointer).mp(), Some(vec_of(&[0, 1])));
    for unknown in [0, 8] {
        pointer[11] = unknown;
        seal(&mut pointer, 10);
        assert_eq!(Pieces::default().with(MP_POINTER, &pointer).mp(), None);
    }
}

#[test]
fn every_damaged_byte_is_noticed() {
    let of_acpi: (_, &[u64], fn(&Pieces) -> _) = (q35(), &[ROOT, TABLES, MADT], Pieces::acpi);
    for (machine, pieces, read) in [of_acpi, (i440fx(), &[MP_POINTER, MP_TABLE], Pieces::mp)] {
        for piece in pieces {
            for place in 0..machine.clone().contents(*piece).len() {
                let mut damaged = machine.clone();
                damaged.piece(*piece)[place] ^= 0x10;
                assert_eq!(read(&damaged), None, "{piece:#x} + {place}");
                let mut cut = machine.clone();
                cut.piece(*piece).truncate(place);
                assert_eq!(read(&cut), None, "{piece:#x}..{place}");
            }
        }
    }
}

#[test]
fn damage_that_checksums_hide_harms_nobody() {
    for (machine, piece, sum) in [(q35(), TABLES, 9), (q35(), MADT, 9), (i440fx(), MP_TABLE, 7)] {
        for place in (0..machine.clone().contents(piece).len()).filter(|place| *place != sum) {
            for value in [0, 1, 9, 0xFF] {
                let mut damaged = machine.clone();
                let bytes = damaged.piece(piece);
                bytes[place] = value;
                seal(bytes, sum);
                let found = [damaged.acpi(), damaged.mp()];
                assert!(found.iter().flatten().all(|ids| !ids.is_empty() && ids.is_sorted() && ids.len() <= 255));
            }
        }
    }
}

#[test]
fn a_table_that_refers_to_itself_ends() {
    let mut machine = q35();
    let tables = machine.piece(TABLES);
    tables[36..40].copy_from_slice(&(TABLES as u32).to_le_bytes());
    tables[40..44].copy_from_slice(&u32::MAX.to_le_bytes());
    seal(tables, 9);
    assert_eq!(machine.acpi(), None);
    let mut long = q35();
    long.piece(MADT)[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(long.acpi(), None);
    // Memory that is all there, and full of signatures.
    let everywhere = |at: u64| Some(b"RSD PTR _MP_    "[(at % 16) as usize]);
    assert!(acpi::processors(everywhere).is_none() && mp::processors(everywhere).is_none());
}

#[test]
fn the_processor_that_boots_is_core_0() {
    let ids = || second_version(&madt(&[&processor(7, 1), &processor(4, 1), &processor(0, 1)]));
    let order = |booting| {
        let machine = ids();
        acpi::processors(|at| machine.byte(at)).unwrap().in_order(|| booting).map(|cores| cores.to_vec())
    };
    assert_eq!(order(0), Some(vec_of(&[0, 4, 7])));
    assert_eq!(order(4), Some(vec_of(&[4, 0, 7])));
    assert_eq!(order(7), Some(vec_of(&[7, 0, 4])));
    assert_eq!(order(1), None);
    let alone = second_version(&madt(&[&processor(7, 1)]));
    let alone = acpi::processors(|at| alone.byte(at)).unwrap().in_order(|| panic!("asked"));
    assert_eq!(alone.unwrap()[..], [7]);
    let names: String = order(7).unwrap().iter().map(|id| char::from(b'0' + id)).collect();
    assert_eq!(names, "704");
}

#[test]
fn all_processors_that_there_can_be() {
    let entries: Vec<_> = (0..=255).map(|id| processor(id, 1)).collect();
    let entries: Vec<&[u8]> = entries.iter().map(|entry| &entry[..]).collect();
    let ids = second_version(&madt(&entries)).acpi().unwrap();
    assert!(ids.len() == 255 && ids.iter().copied().eq(0..255));
}
