//! A PC in QEMU that boots from a disk, as one that is no QEMU would.

use super::{EXIT_DEVICE, PROCESSOR, REPEATABLE, Staged, surroundings};
use crate::{monitor::Monitor, workspace};
use anyhow::{Context, Result};
use std::{os::unix::fs::symlink, path::Path};

/// The disk's name where QEMU runs.
const DISK: &str = "disk.img";

/// What the machine is made of.
pub(crate) struct FromDisk<'a> {
    pub(crate) qemu: &'a Path,
    /// The disk's image, which stays as it is.
    pub(crate) disk: &'a Path,
    /// The kernel on it, for the names of its functions.
    pub(crate) image: &'a Path,
    /// The machine's model, with its options.
    pub(crate) model: &'a str,
    /// Processors and how they are arranged, as QEMU's `-smp` says it.
    pub(crate) processors: &'a str,
    pub(crate) memory_mib: u64,
    /// Whether it has the device that ends QEMU.
    pub(crate) has_exit_device: bool,
}

impl FromDisk<'_> {
    /// Makes the machine ready to start.
    pub(crate) fn stage(&self) -> Result<Staged> {
        let directory = workspace::scratch()?;
        let disk = self.disk.canonicalize().context("cannot find the image of the disk")?;
        symlink(disk, directory.path().join(DISK)).context("cannot name the image of the disk")?;
        let mut command = workspace::command(self.qemu);
        command.args(self.arguments()).current_dir(directory.path());
        let monitor = Monitor { directory: directory.path().into(), image: self.image.into() };
        Ok(Staged { command, monitor, _directory: directory })
    }

    fn arguments(&self) -> Vec<String> {
        let memory = self.memory_mib.to_string();
        let mut words = vec!["-machine", self.model, "-cpu", PROCESSOR, "-smp", self.processors, "-m", &memory];
        words.extend(REPEATABLE);
        let surroundings = surroundings();
        words.extend(surroundings.iter().map(String::as_str));
        if self.has_exit_device {
            words.extend(EXIT_DEVICE);
        }
        let drive = format!("file={DISK},format=raw,snapshot=on");
        words.extend(["-drive", &drive]);
        words.into_iter().map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(disk: &Path, has_exit_device: bool) -> FromDisk<'_> {
        FromDisk {
            qemu: Path::new("q"),
            disk,
            image: Path::new("i"),
            model: "q35",
            processors: "4",
            memory_mib: 200,
            has_exit_device,
        }
    }

    #[test]
    fn nothing_but_the_disk_is_there() {
        let line = machine(Path::new("d"), false).arguments().join("|");
        assert!(
            line.starts_with("-machine|q35|-cpu|pentium,-mmx|-smp|4|-m|200|-accel|tcg,thread=single|-icount|"),
            "{line}"
        );
        assert!(line.ends_with("|-drive|file=disk.img,format=raw,snapshot=on"), "{line}");
        assert!(!line.contains("-kernel") && !line.contains("-append") && !line.contains("debug-exit"), "{line}");
        assert!(machine(Path::new("d"), true).arguments().join("|").contains("isa-debug-exit"));
    }

    #[test]
    fn the_disk_has_a_plain_name() {
        let directory = tempfile::tempdir().unwrap();
        let disk = directory.path().join("a,b c.img");
        std::fs::write(&disk, "x").unwrap();
        let staged = machine(&disk, false).stage().unwrap();
        assert_eq!(std::fs::read(staged.monitor.directory.join(DISK)).unwrap(), b"x");
        assert!(machine(Path::new("/nonexistent/disk"), false).stage().is_err());
    }
}
