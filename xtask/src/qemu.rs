//! A machine in QEMU: its files, its command line.

use crate::{
    inquiry::{self, Inquiry},
    memory::Plan,
    words::Words,
    workspace,
};
use anyhow::{Context, Result};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The image's name beside its modules.
const IMAGE: &str = "atoll.elf";

/// What a machine is made of.
pub(crate) struct Machine<'a> {
    pub(crate) qemu: &'a Path,
    pub(crate) image: &'a Path,
    pub(crate) inputs: &'a [PathBuf],
    pub(crate) cores: u16,
    pub(crate) plan: &'a Plan,
    pub(crate) words: Words,
    /// One host thread per core: real interleavings, but slow beyond a few cores and never the same twice.
    pub(crate) thread_multi: bool,
}

/// A machine ready to start; its files are removed when dropped.
pub(crate) struct Staged {
    pub(crate) command: Command,
    /// How to ask it where it is.
    pub(crate) inquiry: Inquiry,
    _directory: tempfile::TempDir,
}

impl Machine<'_> {
    /// Puts image and input files into one directory, under names that QEMU does not take apart at spaces and commas.
    ///
    /// # Errors
    ///
    /// When a file cannot be copied.
    pub(crate) fn stage(self) -> Result<Staged> {
        let directory = workspace::scratch()?;
        copy(self.image, &directory.path().join(IMAGE))?;
        let mut modules = Vec::new();
        for (place, input) in self.inputs.iter().enumerate() {
            let name = module_name(input, place, &modules);
            copy(input, &directory.path().join(&name))?;
            modules.push(name);
        }
        let mut command = workspace::command(self.qemu);
        command.args(self.arguments(&modules)).current_dir(directory.path());
        let inquiry = Inquiry { directory: directory.path().into(), image: self.image.into() };
        Ok(Staged { command, inquiry, _directory: directory })
    }

    fn arguments(&self, modules: &[String]) -> Vec<String> {
        let words = self
            .words
            .clone()
            .value("heap_kib", Some(self.plan.heap_kib))
            .value("heap0_kib", Some(self.plan.heap0_kib));
        let mut arguments: Vec<String> = Vec::new();
        let mut add = |words: &[&str]| arguments.extend(words.iter().map(ToString::to_string));
        add(&["-cpu", "pentium,-mmx", "-smp", &self.cores.to_string(), "-m", &self.plan.memory_mib.to_string()]);
        if self.thread_multi {
            // Counting instructions needs one thread.
            add(&["-accel", "tcg,thread=multi"]);
        } else {
            add(&["-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off"]);
        }
        add(&["-display", "none", "-serial", "stdio", "-monitor", "none", "-nic", "none", "-no-reboot"]);
        add(&["-qmp", &format!("unix:{},server=on,wait=off", inquiry::SOCKET)]);
        add(&["-device", "isa-debug-exit,iobase=0xf4,iosize=0x04"]);
        // QEMU puts this path before the words, and the kernel knows a path by its slash.
        add(&["-kernel", &format!("./{IMAGE}"), "-append", &words.to_string()]);
        if !modules.is_empty() {
            add(&["-initrd", &modules.join(",")]);
        }
        arguments
    }
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to)
        .map(drop)
        .with_context(|| format!("cannot copy {} to {}", workspace::display(from), workspace::display(to)))
}

/// A name for an input file that QEMU and the kernel take as one word, not used before.
fn module_name(input: &Path, place: usize, used: &[String]) -> String {
    let original = input.file_name().unwrap_or_default().to_string_lossy();
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || "._-".contains(letter) { letter } else { '_' };
    let name: String = original.chars().map(plain).collect();
    if name.is_empty() || name == IMAGE || used.contains(&name) { format!("{place}-{name}") } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(thread_multi: bool, modules: &[String]) -> String {
        let plan = Plan::new(48, 0, None, None).unwrap();
        let words = Words::default().value("program", Some("terrain")).value("seed", Some(7));
        let machine = Machine {
            qemu: Path::new("q"),
            image: Path::new("i"),
            inputs: &[],
            cores: 48,
            plan: &plan,
            words,
            thread_multi,
        };
        machine.arguments(modules).join("|")
    }

    #[test]
    fn command_line() {
        assert_eq!(
            arguments(false, &["a.pgm".into(), "b.txt".into()]),
            "-cpu|pentium,-mmx|-smp|48|-m|336|-accel|tcg,thread=single|-icount|shift=0,sleep=off|-display|none|-serial|stdio|\
             -monitor|none|-nic|none|-no-reboot|-qmp|unix:qmp.sock,server=on,wait=off|-device|isa-debug-exit,iobase=0xf4,iosize=0x04|-kernel|./atoll.elf|-append|\
             program=terrain seed=7 heap_kib=4096 heap0_kib=4096|-initrd|a.pgm,b.txt"
        );
    }

    #[test]
    fn threads_exclude_counting_instructions() {
        let line = arguments(true, &[]);
        assert!(line.contains("thread=multi") && !line.contains("icount") && !line.contains("initrd"), "{line}");
    }

    #[test]
    fn module_names_are_plain_and_differ() {
        let mut used = Vec::new();
        for (input, expected) in [
            ("/x/map.pgm", "map.pgm"),
            ("/y/map.pgm", "1-map.pgm"),
            ("/x/my map, new.pgm", "my_map__new.pgm"),
            ("atoll.elf", "3-atoll.elf"),
            ("Höhe.pgm", "H_he.pgm"),
        ] {
            let name = module_name(Path::new(input), used.len(), &used);
            assert_eq!(name, expected);
            used.push(name);
        }
    }

    #[test]
    fn staged_files_exist_until_dropped() {
        let source = tempfile::tempdir().unwrap();
        let input = source.path().join("a b.pgm");
        fs::write(&input, "x").unwrap();
        let plan = Plan::new(1, 1, None, None).unwrap();
        let machine = Machine {
            qemu: Path::new("q"),
            image: &input,
            inputs: std::slice::from_ref(&input),
            cores: 1,
            plan: &plan,
            words: Words::default(),
            thread_multi: false,
        };
        let staged = machine.stage().unwrap();
        let directory = staged.command.get_current_dir().unwrap().to_path_buf();
        assert!(directory.join("atoll.elf").exists() && directory.join("a_b.pgm").exists());
        drop(staged);
        assert!(!directory.exists());
    }
}
