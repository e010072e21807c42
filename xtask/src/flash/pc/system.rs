//! What the kernel of the host says about its disks, and who uses them.
//!
//! All of it is read from `/sys`, `/proc` and `/run/udev` below a root, which tests replace.

use anyhow::{Context, Result, bail, ensure};
use std::{
    collections::BTreeSet,
    fmt, fs,
    path::{Path, PathBuf},
};

/// The kernel counts disks in these, whatever sectors they have.
const SECTOR_BYTES: u64 = 512;

/// What makes a disk the system's own.
const SYSTEM_PLACES: [&str; 4] = ["/", "/boot", "/boot/efi", "/usr"];

/// How the kernel numbers block devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Number {
    pub(super) major: u32,
    pub(super) minor: u32,
}

impl fmt::Display for Number {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.major, self.minor)
    }
}

impl Number {
    fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.trim().split_once(':')?;
        Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }
}

/// A host.
pub(super) struct System {
    root: PathBuf,
}

/// A whole disk that nobody uses.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) bytes: u64,
    /// What it is and what is on it, line by line.
    pub(super) description: Vec<String>,
}

impl System {
    /// This host.
    pub(super) fn new() -> Self {
        Self { root: "/".into() }
    }

    /// Finds out about the block device with this number, which the user calls `shown`.
    ///
    /// # Errors
    ///
    /// When it is none that may be overwritten: no whole disk, in use, or not writable.
    pub(super) fn disk(&self, number: Number, shown: &str) -> Result<Found> {
        let directory = self.directory(number).with_context(|| format!("{shown} is no disk that the system knows"))?;
        ensure!(!directory.join("partition").exists(), "{shown} is a partition, and a PC boots from a whole disk");
        if let Some(part) = entries(&directory.join("slaves")).first() {
            bail!("{shown} is made of {}, and a PC boots from a whole disk", name(part));
        }
        self.check_unused(&directory, shown)?;
        let bytes =
            text(&directory, "size").and_then(|sectors| sectors.parse::<u64>().ok()).unwrap_or(0) * SECTOR_BYTES;
        ensure!(bytes > 0, "{shown} has no medium");
        ensure!(text(&directory, "ro").is_none_or(|is| is == "0"), "{shown} is write-protected");
        Ok(Found { bytes, description: self.describe(&directory, number, bytes, shown) })
    }

    fn directory(&self, number: Number) -> Option<PathBuf> {
        self.root.join("sys/dev/block").join(number.to_string()).canonicalize().ok()
    }

    /// Refuses a disk that the system or a mount uses, or any of its partitions and of what is made of them, and one
    /// that anything is made of.
    fn check_unused(&self, disk: &Path, shown: &str) -> Result<()> {
        let parts = self.family(disk);
        let mounts = self.read("proc/self/mountinfo")?;
        let mounted = mounts.lines().filter_map(Mount::parse);
        let mounted = mounted.filter(|mount| {
            let by_source = || self.number_of(&mount.source);
            parts.contains(&mount.number) || by_source().is_some_and(|number| parts.contains(&number))
        });
        let places: Vec<_> = mounted.map(|mount| mount.place).collect();
        if let Some(place) = places.iter().find(|place| SYSTEM_PLACES.contains(&place.as_str())) {
            bail!("{shown} is the system disk: it holds {place}");
        }
        let swaps = self.read("proc/swaps").unwrap_or_default();
        let swaps = swaps.lines().skip(1).filter_map(|line| line.split_whitespace().next());
        if let Some(swap) = swaps.map(unescaped).find(|swap| self.number_of(swap).is_some_and(|it| parts.contains(&it)))
        {
            bail!("{shown} is the system disk: it holds the swap space {swap}");
        }
        if let Some(place) = places.first() {
            bail!("{shown} is in use: it is mounted at {place}; unmount that first");
        }
        let mut blocks = partitions(disk).into_iter().chain([disk.to_path_buf()]);
        if let Some(holder) = blocks.find_map(|block| self.holders(&block).into_iter().next()) {
            bail!("{shown} is in use: {} is made of it; detach that first", called(&holder));
        }
        Ok(())
    }

    /// A block device, its partitions, and all that is made of one of them.
    fn family(&self, directory: &Path) -> BTreeSet<Number> {
        let mut numbers = BTreeSet::new();
        let mut open = vec![directory.to_path_buf()];
        while let Some(directory) = open.pop() {
            let Some(number) = device_number(&directory) else { continue };
            if numbers.insert(number) {
                open.extend(partitions(&directory));
                open.extend(self.holders(&directory));
            }
        }
        numbers
    }

    /// What is made of a block device: volumes, arrays, what is encrypted, and so on. Loop devices are not in the
    /// kernel's list of holders, and do not reserve what they lead to.
    fn holders(&self, directory: &Path) -> Vec<PathBuf> {
        let listed = entries(&directory.join("holders"));
        let all = entries(&self.root.join("sys/class/block"));
        let loops = all.into_iter().filter(|block| {
            let file = text(block, "loop/backing_file").and_then(|file| self.number_of(&file));
            file.is_some() && file == device_number(directory)
        });
        listed.into_iter().chain(loops).filter_map(|path| path.canonicalize().ok()).collect()
    }

    fn read(&self, path: &str) -> Result<String> {
        let path = self.root.join(path);
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    }

    /// The number of the block device with this path. File systems of several disks have numbers of their own, and are
    /// found by it.
    fn number_of(&self, device: &str) -> Option<Number> {
        let path = self.root.join(device.strip_prefix('/')?).canonicalize().ok()?;
        let name = path.strip_prefix(self.root.join("dev").canonicalize().ok()?).ok()?;
        // The kernel writes a slash in a name as this.
        let name = name.to_string_lossy().replace('/', "!");
        device_number(&self.root.join("sys/class/block").join(name))
    }

    fn describe(&self, directory: &Path, number: Number, bytes: u64, shown: &str) -> Vec<String> {
        let maker = ["device/vendor", "device/model"].map(|file| text(directory, file).unwrap_or_default());
        let model = maker.join(" ").trim().to_owned();
        let file = text(directory, "loop/backing_file").map(|file| format!("the file {file}"));
        let model = if model.is_empty() { file.unwrap_or_else(|| "of unknown make".into()) } else { model };
        let removable = if text(directory, "removable").is_some_and(|is| is == "1") { ", removable" } else { "" };
        let mut lines = vec![format!("{shown}: {model}, {}{removable}", size(bytes))];
        for part in partitions(directory) {
            let name = name(&part);
            let bytes = text(&part, "size").and_then(|sectors| sectors.parse::<u64>().ok()).unwrap_or(0) * SECTOR_BYTES;
            let content = device_number(&part).and_then(|number| self.content(number));
            let content = content.unwrap_or_else(|| "nothing that is known".into());
            lines.push(format!("  {name}: {}, {content}", size(bytes)));
        }
        if lines.len() == 1 {
            let content = self.content(number).unwrap_or_else(|| "nothing that is known".into());
            lines.push(format!("  no partitions; {content}"));
        }
        lines
    }

    /// What is on a block device, as the device manager has noted it.
    fn content(&self, number: Number) -> Option<String> {
        let notes = self.read(&format!("run/udev/data/b{number}")).ok()?;
        let note =
            |key: &str| notes.lines().find_map(|line| line.strip_prefix("E:")?.strip_prefix(key)?.strip_prefix('='));
        let kind = note("ID_FS_TYPE").filter(|kind| !kind.is_empty())?;
        let called = note("ID_FS_LABEL").filter(|label| !label.is_empty());
        Some(called.map_or_else(|| kind.to_owned(), |label| format!("{kind}, called {label}")))
    }
}

/// The number of a block device, by its directory.
fn device_number(directory: &Path) -> Option<Number> {
    Number::parse(&text(directory, "dev")?)
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// What users call a block device: volumes have names beside those of their devices.
fn called(directory: &Path) -> String {
    text(directory, "dm/name").filter(|name| !name.is_empty()).unwrap_or_else(|| name(directory))
}

fn partitions(directory: &Path) -> Vec<PathBuf> {
    entries(directory).into_iter().filter(|path| path.join("partition").exists()).collect()
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn text(directory: &Path, file: &str) -> Option<String> {
    Some(fs::read_to_string(directory.join(file)).ok()?.trim().to_owned())
}

/// A line of `mountinfo`.
struct Mount {
    number: Number,
    place: String,
    source: String,
}

impl Mount {
    fn parse(line: &str) -> Option<Self> {
        let (fields, rest) = line.split_once(" - ")?;
        let mut fields = fields.split(' ').skip(2);
        let number = Number::parse(fields.next()?)?;
        let place = unescaped(fields.nth(1)?);
        let source = unescaped(rest.split(' ').nth(1)?);
        Some(Self { number, place, source })
    }
}

/// The kernel writes spaces and the like as a backslash and three digits of base 8.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let digits = after.get(..3).and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        match (first, digits) {
            (b'\\', Some(byte)) => {
                bytes.push(byte);
                rest = &after[3..];
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A number of bytes as makers of disks count.
pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        1_000_000_000..1_000_000_000_000 => format!("{:.1} GB", bytes as f64 / 1e9),
        _ => format!("{:.1} TB", bytes as f64 / 1e12),
    }
}

#[cfg(test)]
#[path = "system_tests.rs"]
mod tests;
