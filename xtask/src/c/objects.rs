//! Objects of both sides in one file, as `cargo xtask cc` leaves them: what it makes for the P54C, with a section that holds what it
//! makes for the simulator. Makefiles archive and link such files like any others.

use super::compiler::Side;
use crate::workspace;
use anyhow::{Context, Result};
use object::{Object, ObjectSection, read::archive::ArchiveFile};
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

/// Makes one file of the objects for both sides.
pub(super) fn join(p54c: &Path, simulator: &Path, out: &Path) -> Result<()> {
    let mut command = super::tool("objcopy");
    command.arg(format!("--remove-section={SECTION}"));
    command.arg(format!("--add-section={SECTION}={}", simulator.display()));
    super::step(command.arg(p54c).arg(out), "put the objects of both sides together")
}

/// What of a program's file with this number is for a side: the file itself, or a file that is made in `directory`.
pub(super) fn of_side((number, file): (usize, &Path), side: Side, directory: &Path) -> Result<PathBuf> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let bytes = read(file)?;
    let shown = workspace::display(file).to_string();
    // Files of several directories may have the same name.
    let made = directory.join(format!("{number}-{name}"));
    if !bytes.starts_with(ARCHIVE) {
        let content = simulated(&bytes, &shown)?;
        if side == Side::P54c {
            return Ok(file.into());
        }
        fs::write(&made, content)?;
        return Ok(made);
    }
    if side == Side::P54c {
        return Ok(file.into());
    }
    let members = directory.join(format!("members-of-{number}"));
    fs::create_dir_all(&members)?;
    let objects = members_of(&bytes, &shown)?;
    let objects = objects.iter().enumerate().map(|(index, (name, content))| {
        // So may members of one archive.
        let object = members.join(format!("{index}-{}", name.rsplit('/').next().unwrap_or_default()));
        fs::write(&object, simulated(content, &format!("{shown}({name})"))?)?;
        anyhow::Ok(object)
    });
    let objects = objects.collect::<Result<Vec<_>>>()?;
    super::step(super::tool("ar").arg("rcsD").arg(&made).args(&objects), "make an archive")?;
    Ok(made)
}

/// Names and contents of what is in an archive, in order.
fn members_of<'b>(archive: &'b [u8], shown: &str) -> Result<Vec<(String, &'b [u8])>> {
    let damaged = || format!("{shown} is damaged");
    let members = ArchiveFile::parse(archive).with_context(damaged)?.members().map(|member| {
        let member = member.with_context(damaged)?;
        Ok((String::from_utf8_lossy(member.name()).into_owned(), member.data(archive).with_context(damaged)?))
    });
    members.collect()
}

/// The part for the simulator of an object.
fn simulated<'b>(bytes: &'b [u8], shown: &str) -> Result<&'b [u8]> {
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
    use object::{
        Architecture, BinaryFormat, Endianness, ObjectSymbol, SectionKind, SymbolFlags, SymbolKind, SymbolScope,
        write::{self, Symbol, SymbolSection},
    };

    /// An object that defines a function, and one of it for the simulator inside if that is wanted.
    fn object(defines: &str, is_joined: bool) -> Vec<u8> {
        let mut object = write::Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
        let text = object.add_section(Vec::new(), b".text".to_vec(), SectionKind::Text);
        object.append_section_data(text, &[0xC3], 1);
        let name = defines.as_bytes().to_vec();
        let section = SymbolSection::Section(text);
        object.add_symbol(Symbol {
            name,
            value: 0,
            size: 1,
            kind: SymbolKind::Text,
            scope: SymbolScope::Linkage,
            weak: false,
            section,
            flags: SymbolFlags::None,
        });
        if is_joined {
            let inside = object.add_section(Vec::new(), SECTION.as_bytes().to_vec(), SectionKind::Other);
            object.append_section_data(inside, &self::object(defines, false), 1);
        }
        object.write().unwrap()
    }

    #[test]
    fn names_that_meet_lose_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let archive = |name: &str, functions: &[&str]| {
            let made = directory.path().join(name).join("libutil.a");
            let object = |function: &&str| {
                let object = directory.path().join(name).join(function).join("x.o");
                fs::create_dir_all(object.parent().unwrap()).unwrap();
                fs::write(&object, self::object(function, true)).unwrap();
                object
            };
            let objects = functions.iter().map(object);
            super::super::step(super::super::tool("ar").arg("rcsD").arg(&made).args(objects), "archive").unwrap();
            made
        };
        let archives = [archive("a", &["one", "two"]), archive("b", &["three"])];
        let objects = ["c", "d"].map(|name| directory.path().join(name).join("y.o"));
        for object in &objects {
            fs::create_dir_all(object.parent().unwrap()).unwrap();
            fs::write(object, self::object("same", true)).unwrap();
        }
        let made = directory.path().join("made");
        fs::create_dir(&made).unwrap();
        let files = archives.iter().chain(&objects).enumerate();
        let made: Vec<_> =
            files.map(|(number, file)| of_side((number, file), Side::Simulator, &made).unwrap()).collect();
        let functions = |file: &Path| {
            let bytes = read(file).unwrap();
            let members = members_of(&bytes, "").unwrap();
            let defined = |bytes: &[u8]| {
                let object = object::File::parse(bytes).unwrap();
                assert!(object.section_by_name(SECTION).is_none());
                object
                    .symbols()
                    .find_map(|symbol| symbol.name().ok().filter(|name| !name.is_empty()).map(str::to_owned))
            };
            members.into_iter().filter_map(|(_, bytes)| defined(bytes)).collect::<Vec<_>>()
        };
        assert_eq!(functions(&made[0]), ["one", "two"]);
        assert_eq!(functions(&made[1]), ["three"]);
        assert_ne!(made[2], made[3]);
    }

    #[test]
    fn what_is_no_object_of_ours_is_refused_in_one_line() {
        let own = std::env::current_exe().unwrap();
        let message = of_side((0, &own), Side::P54c, Path::new("/nowhere")).unwrap_err().to_string();
        assert!(message.ends_with("was not compiled by `cargo xtask cc`") && !message.contains('\n'), "{message}");
        assert!(is_object(&own) && !is_object(Path::new("/dev/null")) && !is_object(Path::new("/nonexistent")));
    }
}
