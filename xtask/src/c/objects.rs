//! Objects of both sides in one file, as `cargo xtask cc` leaves them: what it makes for the P54C, with a section that holds what it
//! makes for the simulator. Makefiles archive and link such files like any others.

use super::compiler::Side;
use crate::workspace;
use anyhow::{Context, Result};
use object::{Object, ObjectSection};
use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
};

/// The section with what is for the simulator.
const SECTION: &str = ".atoll.simulator";

/// What an archive begins with.
const ARCHIVE: &[u8] = b"!<arch>\n";

/// Whether a file is an object or an archive.
pub(super) fn is_object(file: &Path) -> bool {
    let mut start = [0; 8];
    let is_read = fs::File::open(file).and_then(|mut file| file.read_exact(&mut start)).is_ok();
    is_read && (start.starts_with(b"\x7FELF") || start == ARCHIVE)
}

fn is_archive(file: &Path) -> bool {
    fs::read(file).is_ok_and(|bytes| bytes.starts_with(ARCHIVE))
}

/// Makes one file of the objects for both sides.
///
/// # Errors
///
/// When that is not possible.
pub(super) fn join(p54c: &Path, simulator: &Path, out: &Path) -> Result<()> {
    let mut command = super::tool("objcopy");
    command.arg(format!("--remove-section={SECTION}"));
    command.arg(format!("--add-section={SECTION}={}", simulator.display()));
    super::step(command.arg(p54c).arg(out), "put the objects of both sides together")
}

/// What of a file is for a side: the file itself, or a file that is made in `directory`.
///
/// # Errors
///
/// When nothing is.
pub(super) fn of_side(file: &Path, side: Side, directory: &Path) -> Result<PathBuf> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    if !is_archive(file) {
        let bytes = read(file)?;
        let content = simulated(&bytes, file)?;
        if side == Side::P54c {
            return Ok(file.into());
        }
        let made = directory.join(format!("{:08x}-{name}.o", crc32fast::hash(&bytes)));
        fs::write(&made, content)?;
        return Ok(made);
    }
    if side == Side::P54c {
        return Ok(file.into());
    }
    let members = directory.join(format!("members-of-{name}"));
    fs::create_dir_all(&members)?;
    let file = file.canonicalize()?;
    super::step(super::tool("ar").arg("x").arg(&file).current_dir(&members), "take the archive apart")?;
    let mut objects: Vec<_> = fs::read_dir(&members)?.flatten().map(|entry| entry.path()).collect();
    objects.sort();
    for object in &objects {
        let bytes = read(object)?;
        fs::write(object, simulated(&bytes, &file)?)?;
    }
    let made = directory.join(&*name);
    super::step(super::tool("ar").arg("rcsD").arg(&made).args(&objects), "make an archive")?;
    Ok(made)
}

/// The part for the simulator of an object.
fn simulated<'b>(bytes: &'b [u8], file: &Path) -> Result<&'b [u8]> {
    let shown = workspace::display(file);
    let object = object::File::parse(bytes).with_context(|| format!("{shown} is no object"))?;
    let section = object.section_by_name(SECTION);
    let section = section.with_context(|| format!("{shown} was not compiled by `cargo xtask cc`"))?;
    section.data().with_context(|| format!("{shown} is damaged"))
}

fn read(file: &Path) -> Result<Vec<u8>> {
    fs::read(file).with_context(|| format!("cannot read {}", workspace::display(file)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_object_of_ours_is_refused_in_one_line() {
        let own = std::env::current_exe().unwrap();
        let message = of_side(&own, Side::P54c, Path::new("/nowhere")).unwrap_err().to_string();
        assert!(message.ends_with("was not compiled by `cargo xtask cc`") && !message.contains('\n'), "{message}");
        assert!(is_object(&own) && !is_object(Path::new("/dev/null")) && !is_object(Path::new("/nonexistent")));
    }
}
