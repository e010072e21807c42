//! Disks that boot a PC: an image of one as a file, or the disk itself.

mod device;
pub(crate) mod disk;
mod system;

use super::{Arguments, Job};
use crate::{
    image, question, run,
    setup::{self, DiskTools, Tools},
    words::Words,
    workspace,
};
use anyhow::{Context, Result, bail, ensure};
use device::Device;
use disk::Disk;
use std::{
    fs::{self, File},
    io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};
use system::System;

/// Where the image of the disk goes.
enum Target {
    /// A file, at first under another name in the same directory.
    File {
        path: PathBuf,
        unfinished: tempfile::NamedTempFile,
    },
    Device(Device),
}

/// Writes an image of a disk, or a disk.
///
/// # Errors
///
/// When it cannot be written, or must not be.
pub(super) fn main(arguments: &Arguments, job: &Job) -> Result<()> {
    let words = words(arguments, job)?;
    disk::check(&job.inputs, &words)?;
    // What stands in the way is said before anything is installed or built.
    let target = match (&arguments.out, &arguments.device) {
        (Some(path), _) => file(path)?,
        (None, Some(path)) => Target::Device(device(path, arguments.yes)?),
        (None, None) => bail!("where to? --out FILE or --device DEV"),
    };
    let (tools, disk_tools): (Tools, DiskTools) = setup::ensure(arguments.yes)?;
    let built = image::bare_metal(&job.program, &tools)?;
    let directory = workspace::scratch()?;
    let image = directory.path().join("disk.img");
    let disk = Disk { image: &built.executable, inputs: &job.inputs, words: &words };
    disk.make(&disk_tools, &tools.objdump, &image)?;
    match target {
        Target::File { path, unfinished } => finish(&image, unfinished, &path),
        Target::Device(device) => overwrite(&image, &device, arguments.yes),
    }
}

/// The kernel's command line, with heaps as large as the input wants them.
fn words(arguments: &Arguments, job: &Job) -> Result<Words> {
    let plan = run::plan(arguments.choices.cores.unwrap_or(1), &job.inputs, &arguments.words)?;
    let words = job.words.clone().value("cores", arguments.choices.cores);
    Ok(words.value("heap_kib", Some(plan.heap_kib)).value("heap0_kib", Some(plan.heap0_kib)))
}

fn device(path: &Path, yes: bool) -> Result<Device> {
    let device = System::new().device(path)?;
    ensure!(yes || question::can_be_asked(), "nobody is there to be asked; pass --yes to overwrite {}", device.shown);
    Ok(device)
}

fn file(path: &Path) -> Result<Target> {
    let shown = workspace::display(path);
    if let Ok(data) = path.metadata() {
        ensure!(!data.is_dir(), "{shown} is a directory; the image of a disk is a file");
        ensure!(data.is_file(), "{shown} is not a file; --device writes to a disk");
    }
    let parent = path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
    ensure!(parent.is_dir(), "cannot write {shown}: there is no directory {}", workspace::display(parent));
    let unfinished = tempfile::NamedTempFile::new_in(parent).with_context(|| format!("cannot write {shown}"))?;
    Ok(Target::File { path: path.into(), unfinished })
}

/// Puts the image where the user wants it, as a whole or not at all.
fn finish(image: &Path, mut unfinished: tempfile::NamedTempFile, path: &Path) -> Result<()> {
    let shown = workspace::display(path);
    let mut source = File::open(image).context("cannot read the image of the disk")?;
    let mut write = |unfinished: &mut tempfile::NamedTempFile| {
        let bytes = io::copy(&mut source, unfinished)?;
        unfinished.as_file().sync_all()?;
        // Readable like other files: a temporary one is not.
        fs::set_permissions(unfinished.path(), fs::Permissions::from_mode(0o644))?;
        io::Result::Ok(bytes)
    };
    let bytes = write(&mut unfinished).with_context(|| format!("cannot write {shown}"))?;
    unfinished.persist(path).map_err(|failed| failed.error).with_context(|| format!("cannot write {shown}"))?;
    println!("{shown}: the image of a disk that boots a PC by its BIOS, {}", system::size(bytes));
    println!("In QEMU: qemu-system-i386 -smp 4 -m 1024 -serial stdio -drive file={shown},format=raw");
    Ok(())
}

/// Overwrites a disk, after the user has seen which one.
fn overwrite(image: &Path, device: &Device, yes: bool) -> Result<()> {
    let shown = &device.shown;
    device.check_room(image.metadata().context("cannot read the image of the disk")?.len())?;
    println!("{device}");
    if !yes {
        ensure!(question::ask(&format!("overwrite {shown}, and lose all that is on it"))?, "{shown} was not written");
    }
    device.write(&System::new(), image)?;
    println!("{shown}: written, read back and compared; a PC boots it by its BIOS");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_there_as_a_whole() {
        let directory = tempfile::tempdir().unwrap();
        let (image, out) = (directory.path().join("made"), directory.path().join("out.img"));
        fs::write(&image, "new").unwrap();
        fs::write(&out, "old").unwrap();
        let Target::File { path, unfinished } = file(&out).unwrap() else { panic!() };
        assert_eq!(fs::read_to_string(&out).unwrap(), "old");
        finish(&image, unfinished, &path).unwrap();
        assert_eq!(fs::read_to_string(&out).unwrap(), "new");
        assert_eq!(fs::metadata(&out).unwrap().permissions().mode() & 0o777, 0o644);
        // Nothing is left behind where nothing is finished.
        drop(file(&out).unwrap());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2);
    }

    #[test]
    fn places_that_cannot_be_written_take_one_line() {
        let directory = tempfile::tempdir().unwrap();
        for (path, expected) in [
            (directory.path().to_path_buf(), "is a directory"),
            (directory.path().join("no/such.img"), "/no/such.img: there is no directory "),
            (PathBuf::from("/dev/null"), "--device writes to a disk"),
        ] {
            let message = format!("{:#}", file(&path).err().expect("refused"));
            assert!(message.contains(expected) && !message.contains('\n'), "{message}");
        }
    }
}
