//! A disk that may be overwritten, and how that is done.

use super::system::{Number, System, size};
use crate::{interrupt, progress::Progress, workspace};
use anyhow::{Context, Error, Result, anyhow, ensure};
use std::{
    fmt,
    fs::{self, File, OpenOptions},
    io::{ErrorKind, Read, Seek, Write},
    os::{
        fd::AsRawFd,
        unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt},
    },
    path::Path,
};

/// What is written or compared at a time, in bytes.
const PIECE: usize = 1 << 20;

/// Orders to a block device: forget what you have cached of it, and look for partitions again.
const BLKFLSBUF: libc::Ioctl = 0x1261;
const BLKRRPART: libc::Ioctl = 0x125F;

/// A disk that nobody uses, with what is on it.
#[derive(Debug)]
pub(super) struct Device {
    /// Opened for this process alone: as long as it is, nobody mounts it or makes something of it, and what is written
    /// goes to the disk that was shown, whatever its path names by then.
    disk: File,
    number: Number,
    /// What the user calls it.
    pub(super) shown: String,
    bytes: u64,
    description: Vec<String>,
}

impl fmt::Display for Device {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.description.join("\n"))
    }
}

impl System {
    /// The disk at this path, which stays reserved until it is dropped.
    ///
    /// # Errors
    ///
    /// When it must not or cannot be overwritten.
    pub(super) fn device(&self, path: &Path) -> Result<Device> {
        let shown = workspace::display(path);
        let data = fs::metadata(path).with_context(|| format!("cannot find {shown}"))?;
        ensure!(data.file_type().is_block_device(), "{shown} is not a block device; --out writes a file");
        let number = number_of(&data);
        let found = self.disk(number, &shown)?;
        let disk = open(path, &shown)?;
        let opened = disk.metadata().with_context(|| format!("cannot open {shown} for writing"))?;
        ensure!(number_of(&opened) == number, "{shown} was exchanged while it was looked at; try again");
        Ok(Device { disk, number, shown, bytes: found.bytes, description: found.description })
    }
}

fn number_of(data: &fs::Metadata) -> Number {
    Number { major: libc::major(data.rdev()), minor: libc::minor(data.rdev()) }
}

/// Opens a disk for this process alone.
fn open(path: &Path, shown: &str) -> Result<File> {
    // Of a block device this flag asks that nobody else has it: no mount of another namespace, no array, no volume.
    let disk = OpenOptions::new().read(true).write(true).custom_flags(libc::O_EXCL).open(path);
    disk.map_err(|error| match error.kind() {
        ErrorKind::ResourceBusy => {
            anyhow!("{shown} is in use: a mount, a volume or an array that is not seen from here has it; detach that")
        }
        ErrorKind::PermissionDenied => anyhow!("{shown} cannot be written by this user; that may take root"),
        _ => Error::new(error).context(format!("cannot open {shown} for writing")),
    })
}

impl Device {
    /// Refuses a disk that has no room for the image.
    ///
    /// # Errors
    ///
    /// When it has not.
    pub(super) fn check_room(&self, needed: u64) -> Result<()> {
        let Self { shown, bytes, .. } = self;
        ensure!(
            *bytes >= needed,
            "{shown} is too small: it has {}, and the image takes {}",
            size(*bytes),
            size(needed)
        );
        Ok(())
    }

    /// Writes an image to the disk, and compares what is read back.
    ///
    /// # Errors
    ///
    /// When somebody has begun to use the disk, or it does not take or keep what is written.
    pub(super) fn write(&self, system: &System, image: &Path) -> Result<()> {
        let Self { disk, shown, .. } = self;
        // It is reserved, but not everything that can use a disk asks for that.
        system.disk(self.number, shown)?;
        let mut image = File::open(image).context("cannot read the image of the disk")?;
        let mut disk: &File = disk;
        let pieces = image.metadata()?.len().div_ceil(PIECE as u64);
        let progress = Progress::bar(format!("writing {shown}"), pieces);
        let written = write(&mut image, &mut disk, shown, &progress)
            .and_then(|()| disk.sync_all().with_context(|| format!("cannot write to {shown}")));
        written.with_context(|| format!("{shown} is overwritten in part, and boots nothing"))?;
        drop(progress);
        // What is compared has to come from the disk.
        order(disk, BLKFLSBUF).with_context(|| format!("cannot read {shown} back"))?;
        image.rewind()?;
        disk.rewind()?;
        let progress = Progress::bar(format!("reading {shown} back"), pieces);
        compare(&mut image, &mut disk, shown, &progress)?;
        // Only for who looks at the disk next; it may be refused.
        let _ = order(disk, BLKRRPART);
        Ok(())
    }
}

fn order(disk: &File, order: libc::Ioctl) -> std::io::Result<()> {
    // SAFETY: both orders take no argument, and the descriptor is open.
    let result = unsafe { libc::ioctl(disk.as_raw_fd(), order, 0) };
    if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// Reads the next piece of the image; an empty one at its end.
fn piece<'b>(image: &mut impl Read, buffer: &'b mut Vec<u8>) -> Result<&'b [u8]> {
    buffer.clear();
    image.take(PIECE as u64).read_to_end(buffer).context("cannot read the image of the disk")?;
    interrupt::check()?;
    Ok(buffer)
}

fn write(image: &mut impl Read, disk: &mut impl Write, shown: &str, progress: &Progress) -> Result<()> {
    let mut buffer = Vec::new();
    loop {
        let piece = piece(image, &mut buffer)?;
        if piece.is_empty() {
            return Ok(());
        }
        disk.write_all(piece).with_context(|| format!("cannot write to {shown}"))?;
        progress.step();
    }
}

fn compare(image: &mut impl Read, disk: &mut impl Read, shown: &str, progress: &Progress) -> Result<()> {
    let (mut buffer, mut found) = (Vec::new(), Vec::new());
    let mut before = 0;
    loop {
        let piece = piece(image, &mut buffer)?;
        if piece.is_empty() {
            return Ok(());
        }
        found.resize(piece.len(), 0);
        disk.read_exact(&mut found).with_context(|| format!("cannot read {shown} back"))?;
        if let Some(place) = piece.iter().zip(&found).position(|(written, read)| written != read) {
            anyhow::bail!("{shown} has not kept what was written: byte {} differs", before + place);
        }
        before += piece.len();
        progress.step();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{path::PathBuf, process::Command};

    #[test]
    fn what_is_no_block_device_is_refused() {
        for (path, expected) in [
            ("/dev/null", "/dev/null is not a block device; --out writes a file"),
            ("/nonexistent/disk", "cannot find /nonexistent/disk: "),
            ("/", "/ is not a block device"),
        ] {
            let message = format!("{:#}", System::new().device(Path::new(path)).unwrap_err());
            assert!(message.starts_with(expected) && !message.contains('\n'), "{message}");
        }
    }

    #[test]
    fn what_is_read_back_is_compared() {
        let image: Vec<u8> = (0..PIECE * 2 + 7).map(|place| place as u8).collect();
        let progress = Progress::new("test");
        let mut disk = Vec::new();
        write(&mut &image[..], &mut disk, "/dev/x", &progress).unwrap();
        assert!(disk == image);
        // A disk is longer.
        disk.push(1);
        compare(&mut &image[..], &mut &disk[..], "/dev/x", &progress).unwrap();
        disk[PIECE + 3] ^= 1;
        let message = compare(&mut &image[..], &mut &disk[..], "/dev/x", &progress).unwrap_err().to_string();
        assert_eq!(message, format!("/dev/x has not kept what was written: byte {} differs", PIECE + 3));
        disk[PIECE + 3] ^= 1;
        disk.truncate(PIECE * 2);
        let error = compare(&mut &image[..], &mut &disk[..], "/dev/x", &progress).unwrap_err();
        assert_eq!(error.to_string(), "cannot read /dev/x back");
        let mut full: &mut [u8] = &mut [0; 9];
        let error = write(&mut &image[..], &mut full, "/dev/x", &progress).unwrap_err();
        assert_eq!(error.to_string(), "cannot write to /dev/x");
    }

    /// A file as a block device, where the user may make one.
    struct Loop(PathBuf);

    impl Loop {
        fn new(file: &Path) -> Option<Self> {
            let output = Command::new("losetup").args(["--find", "--show"]).arg(file).output().ok()?;
            let path = String::from_utf8(output.stdout).ok()?.trim().to_owned();
            (output.status.success() && !path.is_empty()).then(|| Self(path.into()))
        }
    }

    impl Drop for Loop {
        fn drop(&mut self) {
            let _ = Command::new("losetup").arg("--detach").arg(&self.0).status();
        }
    }

    #[test]
    fn a_real_disk_is_written() {
        let directory = tempfile::tempdir().unwrap();
        let (image, backing) = (directory.path().join("image"), directory.path().join("backing"));
        let contents: Vec<u8> = (0..PIECE + 512).map(|place| (place / 3) as u8).collect();
        fs::write(&image, &contents).unwrap();
        fs::write(&backing, vec![0xFF; 2 * PIECE]).unwrap();
        let Some(disk) = Loop::new(&backing) else {
            eprintln!("skipped: block devices of files take root and losetup");
            return;
        };
        let device = System::new().device(&disk.0).unwrap();
        assert!(device.to_string().contains("backing, 2.1 MB"), "{device}");
        assert!(device.check_room(2 * PIECE as u64).is_ok());
        let message = device.check_room(2 * PIECE as u64 + 1).unwrap_err().to_string();
        assert!(message.contains("is too small: it has 2.1 MB"), "{message}");
        // It is reserved as long as it is shown.
        let message = format!("{:#}", System::new().device(&disk.0).unwrap_err());
        assert!(message.contains("is in use: ") && !message.contains('\n'), "{message}");
        device.write(&System::new(), &image).unwrap();
        drop((device, disk));
        let found = fs::read(&backing).unwrap();
        assert!(found[..contents.len()] == contents && found[contents.len()..].iter().all(|byte| *byte == 0xFF));
    }
}
