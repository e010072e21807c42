//! The image of a disk from which a BIOS boots a program: GRUB, the kernel, its input files, its command line.
//!
//! `grub-mkrescue` makes it hybrid: a BIOS boots it from a disk, a USB stick or a CD.

use crate::{kernel_line::KernelLine, process, progress::Progress, qemu, setup::DiskTools, workspace};
use anyhow::{Context, Result, bail, ensure};
use std::{
    fmt::Write,
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

/// Input files that the kernel accepts.
const MOST_INPUTS: usize = 32;

/// Where on the disk the kernel and the input files are.
const KERNEL: &str = "boot/atoll.elf";
const INPUTS: &str = "inputs";

/// The word that has a kernel do in QEMU what it does on a PC: find cores by tables, show its result on the screen, halt.
const AS_ON_A_PC: &str = "no_fw_cfg";

/// The longest command line that the kernel accepts beside this word, in bytes.
const COMMAND_LINE_BYTES: usize = 2048 - AS_ON_A_PC.len() - 1;

/// What a BIOS finds at the end of the first sector of a disk that it can boot.
const BOOT_SIGNATURE: [u8; 2] = [0x55, 0xAA];

/// What is on the disk.
pub(crate) struct Disk<'a> {
    pub(crate) image: &'a Path,
    pub(crate) inputs: &'a [PathBuf],
    pub(crate) words: &'a KernelLine,
}

/// Refuses what the loader or the kernel would not take.
///
/// # Errors
/// When there is too much, or a word would arrive as another one.
pub(crate) fn check(inputs: &[PathBuf], words: &KernelLine) -> Result<()> {
    let line = words.to_string();
    ensure!(
        line.len() <= COMMAND_LINE_BYTES,
        "the options of the program take {} bytes, and there is room for {COMMAND_LINE_BYTES}",
        line.len()
    );
    ensure!(inputs.len() <= MOST_INPUTS, "{} input files are too many: there can be {MOST_INPUTS}", inputs.len());
    // GRUB puts a backslash before each of them.
    if let Some(word) = line.split(' ').find(|word| word.contains(['\'', '\\'])) {
        bail!("`{word}` does not pass the boot loader unchanged: it has a quote or a backslash");
    }
    Ok(())
}

impl Disk<'_> {
    /// Makes the image, which [`check`] has let pass.
    pub(crate) fn make(&self, tools: &DiskTools, linker: &Path, out: &Path) -> Result<()> {
        let directory = workspace::scratch()?;
        let tree = directory.path().join("tree");
        let inputs = tree.join(INPUTS);
        let create =
            |path: &Path| fs::create_dir_all(path).with_context(|| format!("cannot create {}", path.display()));
        create(&tree.join("boot/grub"))?;
        create(&inputs)?;
        strip(linker, self.image, &tree.join(KERNEL))?;
        let mut names = Vec::new();
        for (place, input) in self.inputs.iter().enumerate() {
            let name = qemu::module_name(input, place, &names);
            qemu::copy(input, &inputs.join(&name))?;
            names.push(name);
        }
        let menu = tree.join("boot/grub/grub.cfg");
        let words = self.words.clone().switch(AS_ON_A_PC, true);
        fs::write(&menu, menu_of(&words, &names)).with_context(|| format!("cannot write {}", menu.display()))?;
        let mut command = workspace::command(&tools.mkrescue);
        command.arg("--directory").arg(&tools.platform).arg("--output").arg(out).arg(&tree);
        let progress = Progress::new("making the image of a disk");
        let finished = process::finish(&mut command, |_| {})?;
        drop(progress);
        if !finished.status.success() {
            let said = finished.messages.lines().chain(finished.output.lines());
            let reason = said.clone().find(|line| line.contains("error")).or(said.last());
            bail!("grub-mkrescue failed: {}", reason.unwrap_or("no reason given"));
        }
        let mut sector = [0; 512];
        File::open(out)
            .and_then(|mut file| file.read_exact(&mut sector))
            .context("cannot read the image of the disk")?;
        ensure!(sector.ends_with(&BOOT_SIGNATURE), "grub-mkrescue has made an image that no BIOS boots");
        Ok(())
    }
}

/// Copies a kernel without what only debuggers read, which is most of it. Where no tool takes that out, it stays.
fn strip(linker: &Path, from: &Path, to: &Path) -> Result<()> {
    let tool = linker.with_file_name("strip");
    let is_stripped = workspace::command(tool).arg("-o").arg(to).arg(from).output();
    if is_stripped.is_ok_and(|output| output.status.success()) {
        return Ok(());
    }
    qemu::copy(from, to)
}

/// What GRUB does: nothing but to start the kernel, with messages on the serial line as well, where there is one.
fn menu_of(words: &KernelLine, inputs: &[String]) -> String {
    // Between single quotes GRUB takes every letter for itself.
    let words: String =
        words.to_string().split(' ').filter(|word| !word.is_empty()).fold(String::new(), |mut all, word| {
            // Writing to a string does not fail.
            let _ = write!(all, " '{word}'");
            all
        });
    let modules: String = inputs.iter().map(|name| format!("  module /{INPUTS}/{name} {name}\n")).collect();
    format!(
        "set timeout=0\n\
         if serial --unit=0 --speed=115200; then\n\
         \x20 terminal_input serial console\n\
         \x20 terminal_output serial console\n\
         fi\n\
         menuentry 'Atoll' {{\n\
         \x20 multiboot /{KERNEL}{words}\n\
         {modules}}}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::script;

    fn words(free: &[&str]) -> KernelLine {
        let free: Vec<String> = free.iter().map(ToString::to_string).collect();
        KernelLine::default().value("program", Some("terrain")).free(&free).unwrap()
    }

    #[test]
    fn the_menu_starts_the_kernel() {
        let menu = menu_of(&words(&["steps=3", "odd=$a;{b}"]), &["a.pgm".into(), "1-a.pgm".into()]);
        assert!(menu.starts_with("set timeout=0\n"), "{menu}");
        let entry = menu.split_once("menuentry").unwrap().1;
        assert_eq!(
            entry,
            " 'Atoll' {\n  multiboot /boot/atoll.elf 'program=terrain' 'steps=3' 'odd=$a;{b}'\n  module /inputs/a.pgm \
             a.pgm\n  module /inputs/1-a.pgm 1-a.pgm\n}\n"
        );
        assert!(menu_of(&KernelLine::default(), &[]).ends_with("  multiboot /boot/atoll.elf\n}\n"));
    }

    #[test]
    fn what_would_not_arrive_is_refused() {
        assert!(check(&[], &words(&["odd=$a;{b}"])).is_ok());
        for word in ["it's", "a\\b"] {
            assert!(check(&[], &words(&[word])).unwrap_err().to_string().contains(word));
        }
        let long = format!("x={}", "y".repeat(2048));
        assert!(check(&[], &words(&[&long])).unwrap_err().to_string().contains("and there is room for 2038"));
        let many = vec![PathBuf::from("x"); 33];
        assert!(check(&many, &words(&[])).unwrap_err().to_string().contains("33 input files"));
    }

    #[test]
    fn a_tool_that_fails_is_quoted() {
        let directory = tempfile::tempdir().unwrap();
        let image = directory.path().join("image");
        fs::write(&image, "x").unwrap();
        let tool =
            |text: &str| DiskTools { mkrescue: script(directory.path(), "mkrescue", text), platform: "/p".into() };
        let out = directory.path().join("out");
        let make = |tools: &DiskTools| {
            let disk = Disk { image: &image, inputs: &[], words: &KernelLine::default() };
            disk.make(tools, Path::new("/nonexistent/ld"), &out).map_err(|error| format!("{error:#}"))
        };
        let failed = make(&tool("echo note; echo 'grub-mkrescue: error: no xorriso' >&2; exit 1"));
        assert_eq!(failed.unwrap_err(), "grub-mkrescue failed: grub-mkrescue: error: no xorriso");
        // The fourth word is where the image goes.
        assert!(make(&tool("head -c 512 /dev/zero > \"$4\"")).unwrap_err().contains("no BIOS boots"));
        assert_eq!(make(&tool("head -c 510 /dev/zero > \"$4\"; printf '\\125\\252' >> \"$4\"")), Ok(()));
    }
}
