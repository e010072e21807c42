use super::*;
use std::os::unix::fs::symlink;

/// A host whose `sda` holds the system, with three more disks.
struct Fake {
    root: tempfile::TempDir,
    mounts: String,
}

const STICK: Number = Number { major: 8, minor: 16 };

impl Fake {
    fn new() -> Self {
        let mut fake = Self { root: tempfile::tempdir().unwrap(), mounts: String::new() };
        fake.disk("sda", "8:0", 1_000_000_000, &[("sda1", "8:1"), ("sda2", "8:2"), ("sda5", "8:5")]);
        fake.disk("sdb", "8:16", 62_333_952, &[("sdb1", "8:17")]);
        fake.disk("sdc", "8:32", 1000, &[]);
        fake.disk("dm-0", "253:0", 900_000_000, &[]);
        fake.write("dev/null", "");
        fake.mount("0:5", "/dev", "udev");
        fake.mount("8:1", "/", "/dev/sda1");
        fake.write("proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n/dev/sda5 partition 1 0 -2\n");
        fake
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn link(&self, target: &str, path: &str) {
        let path = self.root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(self.root.path().join(target), path).unwrap();
    }

    fn block(&self, directory: &str, name: &str, number: &str, sectors: u64) {
        self.write(&format!("{directory}/dev"), &format!("{number}\n"));
        self.write(&format!("{directory}/size"), &format!("{sectors}\n"));
        self.write(&format!("{directory}/ro"), "0\n");
        self.link(directory, &format!("sys/dev/block/{number}"));
        self.link(directory, &format!("sys/class/block/{name}"));
        self.write(&format!("dev/{name}"), "");
    }

    fn disk(&self, name: &str, number: &str, sectors: u64, parts: &[(&str, &str)]) {
        let directory = format!("sys/devices/{name}");
        self.block(&directory, name, number, sectors);
        fs::create_dir_all(self.root.path().join(&directory).join("holders")).unwrap();
        for (part, number) in parts {
            let directory = format!("{directory}/{part}");
            self.block(&directory, part, number, sectors / 2);
            self.write(&format!("{directory}/partition"), "1\n");
            fs::create_dir_all(self.root.path().join(&directory).join("holders")).unwrap();
        }
    }

    fn mount(&mut self, number: &str, place: &str, source: &str) {
        self.mounts += &format!("36 35 {number} / {place} rw,noatime shared:1 master:2 - ext4 {source} rw,errors=x\n");
        self.write("proc/self/mountinfo", &self.mounts);
    }

    fn find(&self, number: Number) -> Result<Found, String> {
        let system = System { root: self.root.path().into() };
        system.disk(number, "/dev/x").map_err(|error| format!("{error:#}"))
    }

    fn refusal(&self, number: Number) -> String {
        let message = self.find(number).unwrap_err();
        assert!(message.starts_with("/dev/x ") && !message.contains('\n'), "{message}");
        message
    }
}

#[test]
fn a_disk_that_nobody_uses_is_shown() {
    let fake = Fake::new();
    fake.write("sys/devices/sdb/device/vendor", "SanDisk \n");
    fake.write("sys/devices/sdb/device/model", "Ultra           \n");
    fake.write("sys/devices/sdb/removable", "1\n");
    fake.write("run/udev/data/b8:17", "S:disk/by-id/x\nE:ID_FS_TYPE=vfat\nE:ID_FS_LABEL=HOLIDAYS\n");
    let found = fake.find(STICK).unwrap();
    assert_eq!(found.bytes, 31_914_983_424);
    assert_eq!(
        found.description,
        ["/dev/x: SanDisk Ultra, 31.9 GB, removable", "  sdb1: 16.0 GB, vfat, called HOLIDAYS"]
    );
    let found = fake.find(Number { major: 8, minor: 32 }).unwrap();
    assert_eq!(found.description, ["/dev/x: of unknown make, 0.5 MB", "  no partitions; nothing that is known"]);
}

#[test]
fn what_is_no_whole_disk_is_refused() {
    let fake = Fake::new();
    assert!(fake.refusal(Number { major: 8, minor: 17 }).contains("is a partition"));
    fake.link("sys/devices/sda/sda1", "sys/devices/dm-0/slaves/sda1");
    let message = fake.refusal(Number { major: 253, minor: 0 });
    assert_eq!(message, "/dev/x is made of sda1, and a PC boots from a whole disk");
    assert!(fake.refusal(Number { major: 9, minor: 9 }).contains("no disk that the system knows"));
    fake.write("sys/devices/sdb/size", "0\n");
    assert!(fake.refusal(STICK).contains("no medium"));
    fake.write("sys/devices/sdb/size", "7\n");
    fake.write("sys/devices/sdb/ro", "1\n");
    assert!(fake.refusal(STICK).contains("write-protected"));
}

#[test]
fn the_system_disk_is_refused() {
    let sda = Number { major: 8, minor: 0 };
    let mut fake = Fake::new();
    assert_eq!(fake.refusal(sda), "/dev/x is the system disk: it holds /");
    // Its swap space alone would do.
    fake.mounts.clear();
    fake.mount("0:5", "/dev", "udev");
    assert_eq!(fake.refusal(sda), "/dev/x is the system disk: it holds the swap space /dev/sda5");
    fake.write("proc/swaps", "Filename\n");
    assert!(fake.find(sda).is_ok());
    fake.mount("8:2", "/boot", "/dev/sda2");
    assert_eq!(fake.refusal(sda), "/dev/x is the system disk: it holds /boot");
}

#[test]
fn mounted_disks_are_refused() {
    for (number, source) in [("8:17", "/dev/sdb1"), ("8:16", "/dev/sdb"), ("0:44", "/dev/sdb1"), ("8:17", "other")] {
        let mut fake = Fake::new();
        fake.mount(number, "/media/my\\040stick", source);
        assert_eq!(
            fake.refusal(STICK),
            "/dev/x is in use: it is mounted at /media/my stick; unmount that first",
            "{number} {source}"
        );
    }
    // By another name, as device managers make them.
    let mut fake = Fake::new();
    fake.link("dev/sdb1", "dev/disk/by-label/STICK");
    fake.mount("0:44", "/mnt", "/dev/disk/by-label/STICK");
    assert!(fake.refusal(STICK).contains("mounted at /mnt"));
}

#[test]
fn disks_behind_volumes_are_refused() {
    let mut fake = Fake::new();
    fake.link("sys/devices/dm-0", "sys/devices/sdb/sdb1/holders/dm-0");
    assert_eq!(fake.refusal(STICK), "/dev/x is in use: dm-0 is made of it; detach that first");
    fake.write("sys/devices/dm-0/dm/name", "cellar\n");
    assert_eq!(fake.refusal(STICK), "/dev/x is in use: cellar is made of it; detach that first");
    // A volume in a volume, one of which holds itself for good measure.
    fake.disk("dm-1", "253:1", 100, &[]);
    fake.link("sys/devices/dm-1", "sys/devices/dm-0/holders/dm-1");
    fake.link("sys/devices/dm-0", "sys/devices/dm-1/holders/dm-0");
    assert!(fake.refusal(STICK).contains("cellar is made of it"));
    fake.mount("253:1", "/home", "/dev/mapper/home");
    assert_eq!(fake.refusal(STICK), "/dev/x is in use: it is mounted at /home; unmount that first");
    fake.mount("253:0", "/", "/dev/mapper/root");
    assert_eq!(fake.refusal(STICK), "/dev/x is the system disk: it holds /");
}

#[test]
fn disks_behind_loop_devices_are_refused() {
    let mut fake = Fake::new();
    fake.disk("loop3", "7:3", 100, &[]);
    fake.write("sys/devices/loop3/loop/backing_file", "/somewhere/file\n");
    assert!(fake.find(STICK).is_ok());
    fake.write("sys/devices/loop3/loop/backing_file", "/dev/sdb1\n");
    assert_eq!(fake.refusal(STICK), "/dev/x is in use: loop3 is made of it; detach that first");
    fake.mount("7:3", "/mnt", "/dev/loop3");
    assert!(fake.refusal(STICK).contains("mounted at /mnt"));
}

#[test]
fn without_mounts_nothing_is_certain() {
    let fake = Fake::new();
    fs::remove_file(fake.root.path().join("proc/self/mountinfo")).unwrap();
    assert!(fake.find(STICK).unwrap_err().starts_with("cannot read "));
}

#[test]
fn escapes_and_sizes() {
    assert_eq!(unescaped("a\\040b\\134c\\9d\\"), "a b\\c\\9d\\");
    assert_eq!(
        [999, 12_034_048, 31_914_983_424, 2_000_398_934_016].map(size),
        ["0.0 MB", "12.0 MB", "31.9 GB", "2.0 TB"]
    );
}
