//! Images of disks that boot a PC.

pub(crate) mod disk;

use super::{Arguments, Job};
use crate::{
    image, run,
    setup::{self, DiskTools, Tools},
    workspace,
};
use anyhow::{Context, Result, ensure};
use disk::Disk;
use std::{
    fs::{self, File},
    io,
    os::unix::fs::PermissionsExt,
    path::Path,
};
use tempfile::NamedTempFile;

/// Cores for which memory is divided if nobody says how many the PC has; that is how many the command for QEMU asks for.
const CORES: u16 = 4;

/// MiB that the firmware and GRUB take, and that the command for QEMU gives at least.
const FIRMWARE_MIB: u64 = 64;
const LEAST_MIB: u64 = 1024;

/// Writes the image of a disk.
pub(super) fn main(arguments: &Arguments, job: &Job) -> Result<()> {
    let cores = arguments.choices.cores.unwrap_or(CORES);
    let plan = run::plan(&job.program, cores, &job.inputs, &arguments.given.words)?;
    let words = job.words.clone().value("cores", arguments.choices.cores);
    let words = words.value("heap_kib", Some(plan.heap_kib)).value("heap0_kib", Some(plan.heap0_kib));
    disk::check(&job.inputs, &words)?;
    // What stands in the way is said before anything is installed or built.
    let path = &arguments.out;
    let unfinished = unfinished(path)?;
    let (tools, disk_tools): (Tools, DiskTools) = setup::for_program(&job.program, arguments.wanted.yes)?;
    let built = image::bare_metal(&job.program, &tools)?;
    let directory = workspace::scratch()?;
    let image = directory.path().join("disk.img");
    let disk = Disk { image: &built.executable, inputs: &job.inputs, words: &words };
    disk.make(&disk_tools, &tools.linker, &image)?;
    finish(&image, unfinished, path, &format!("-smp {cores} -m {}", (plan.memory_mib + FIRMWARE_MIB).max(LEAST_MIB)))
}

/// The image in the making, at first under another name in the same directory.
fn unfinished(path: &Path) -> Result<NamedTempFile> {
    let shown = workspace::display(path);
    if let Ok(data) = path.metadata() {
        ensure!(!data.is_dir(), "{shown} is a directory; the image of a disk is a file");
        ensure!(data.is_file(), "{shown} is not a file; the image can be copied to a disk afterwards");
    }
    let parent = path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
    ensure!(parent.is_dir(), "cannot write {shown}: there is no directory {}", workspace::display(parent));
    NamedTempFile::new_in(parent).with_context(|| format!("cannot write {shown}"))
}

/// Puts the image where the user wants it, as a whole or not at all.
fn finish(image: &Path, mut unfinished: NamedTempFile, path: &Path, machine: &str) -> Result<()> {
    let shown = workspace::display(path);
    let mut source = File::open(image).context("cannot read the image of the disk")?;
    let mut write = |unfinished: &mut NamedTempFile| {
        let bytes = io::copy(&mut source, unfinished)?;
        unfinished.as_file().sync_all()?;
        // Readable like other files: a temporary one is not.
        fs::set_permissions(unfinished.path(), fs::Permissions::from_mode(0o644))?;
        io::Result::Ok(bytes)
    };
    let bytes = write(&mut unfinished).with_context(|| format!("cannot write {shown}"))?;
    unfinished.persist(path).map_err(|failed| failed.error).with_context(|| format!("cannot write {shown}"))?;
    println!("{shown}: the image of a disk that boots a PC by its BIOS, {:.1} MB", bytes as f64 / 1e6);
    println!("In QEMU: qemu-system-i386 {machine} -serial stdio -drive file={shown},format=raw");
    println!("On a disk or USB stick, all of which it overwrites: sudo dd if={shown} of=/dev/sdX bs=1M conv=fsync");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn an_image_is_there_as_a_whole() {
        let directory = tempfile::tempdir().unwrap();
        let (image, out) = (directory.path().join("made"), directory.path().join("out.img"));
        fs::write(&image, "new").unwrap();
        fs::write(&out, "old").unwrap();
        let unfinished = unfinished(&out).unwrap();
        assert_eq!(fs::read_to_string(&out).unwrap(), "old");
        finish(&image, unfinished, &out, "-smp 4").unwrap();
        assert_eq!(fs::read_to_string(&out).unwrap(), "new");
        assert_eq!(fs::metadata(&out).unwrap().permissions().mode() & 0o777, 0o644);
        // Nothing is left behind where nothing is finished.
        drop(super::unfinished(&out).unwrap());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2);
    }

    #[test]
    fn places_that_cannot_be_written_take_one_line() {
        let directory = tempfile::tempdir().unwrap();
        for (path, expected) in [
            (directory.path().to_path_buf(), "is a directory"),
            (directory.path().join("no/such.img"), "/no/such.img: there is no directory "),
            (PathBuf::from("/dev/null"), "/dev/null is not a file"),
        ] {
            let message = format!("{:#}", unfinished(&path).unwrap_err());
            assert!(message.contains(expected) && !message.contains('\n'), "{message}");
        }
    }
}
