//! A machine in QEMU: its files, its command line.

use crate::{
    kernel_line::KernelLine,
    memory::Plan,
    monitor::{self, Monitor},
    workspace,
};
use anyhow::{Context, Result};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

mod from_disk;

pub(crate) use from_disk::FromDisk;

/// The processor that is nearest to a P54C.
const PROCESSOR: &str = "pentium,-mmx";

/// Counted instructions instead of a clock, so that runs repeat exactly.
const REPEATABLE: [&str; 4] = ["-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off"];

/// The device by which a kernel ends QEMU.
const EXIT_DEVICE: [&str; 2] = ["-device", "isa-debug-exit,iobase=0xf4,iosize=0x04"];

/// No screen to look at, the serial line on standard output, a socket to ask by.
fn surroundings() -> [String; 11] {
    let socket = format!("unix:{},server=on,wait=off", monitor::SOCKET);
    ["-display", "none", "-serial", "stdio", "-monitor", "none", "-nic", "none", "-no-reboot", "-qmp", &socket]
        .map(str::to_owned)
}

/// The image's name beside its modules.
const IMAGE: &str = "atoll.elf";

/// What a machine is made of.
pub(crate) struct Machine<'a> {
    pub(crate) qemu: &'a Path,
    pub(crate) image: &'a Path,
    pub(crate) inputs: &'a [PathBuf],
    pub(crate) cores: u16,
    pub(crate) plan: &'a Plan,
    pub(crate) words: KernelLine,
    /// One host thread per core: real interleavings, but slow beyond a few cores and never the same twice.
    pub(crate) thread_multi: bool,
}

/// What a machine that is a node of a cluster has besides.
pub(crate) struct Node<'a> {
    pub(crate) node: u16,
    pub(crate) nodes: u16,
    /// The file that is the memory of all nodes.
    pub(crate) region: &'a Path,
    /// Bytes of the input files, which the loader puts below the shared memory.
    pub(crate) input_bytes: u64,
    /// Seconds without a sign of life after which nodes take another one for lost.
    pub(crate) deadline_s: u64,
}

impl Node<'_> {
    /// Memory that nodes share, as the kernel lays it out: 64 MiB of shared DRAM, all MPBs, what nodes tell each other.
    pub(crate) const SHARED_MIB: u64 = 64 + 4;

    /// Memory below that, for the image. What else firmware and loader use is at the upper end of all memory.
    const IMAGE_MIB: u64 = 64;

    /// Where the shared memory begins.
    fn low_mib(&self) -> u64 {
        Self::IMAGE_MIB + self.input_bytes.div_ceil(1 << 20)
    }

    /// Three pieces, the shared one in the middle.
    fn memory(&self, plan: &Plan) -> Vec<(String, String)> {
        let (low, shared) = (self.low_mib(), Self::SHARED_MIB);
        let high = plan.private_mib();
        let word = |key: &str, value: String| (key.to_owned(), value);
        let mut words = vec![
            word("-m", (low + shared + high).to_string()),
            word("-object", format!("memory-backend-ram,id=low,size={low}M")),
            word(
                "-object",
                format!("memory-backend-file,id=shared,size={shared}M,share=on,mem-path={}", self.region.display()),
            ),
            word("-object", format!("memory-backend-ram,id=high,size={high}M")),
        ];
        words.extend(["low", "shared", "high"].map(|part| word("-numa", format!("node,memdev={part}"))));
        words
    }

    fn add_to(&self, words: KernelLine) -> KernelLine {
        words
            .value("node", Some(self.node))
            .value("nodes", Some(self.nodes))
            .value("shared_mib", Some(self.low_mib()))
            .value("deadline", Some(self.deadline_s))
    }
}

/// A machine ready to start; its files are removed when dropped.
pub(crate) struct Staged {
    pub(crate) command: Command,
    /// How to ask it where it is.
    pub(crate) monitor: Monitor,
    _directory: tempfile::TempDir,
}

impl Machine<'_> {
    /// Puts image and input files into one directory, under names that QEMU does not take apart at spaces and commas.
    pub(crate) fn stage(self) -> Result<Staged> {
        self.stage_as(None)
    }

    /// Like [`stage`](Self::stage), for a machine that is a node of a cluster.
    pub(crate) fn stage_node(self, node: &Node<'_>) -> Result<Staged> {
        self.stage_as(Some(node))
    }

    fn stage_as(self, node: Option<&Node<'_>>) -> Result<Staged> {
        let directory = workspace::scratch()?;
        copy(self.image, &directory.path().join(IMAGE))?;
        let mut modules = Vec::new();
        for (place, input) in self.inputs.iter().enumerate() {
            let name = module_name(input, place, &modules);
            copy(input, &directory.path().join(&name))?;
            modules.push(name);
        }
        let mut command = workspace::command(self.qemu);
        command.args(self.arguments(&modules, node)).current_dir(directory.path());
        let monitor = Monitor { directory: directory.path().into(), image: self.image.into() };
        Ok(Staged { command, monitor, _directory: directory })
    }

    fn arguments(&self, modules: &[String], node: Option<&Node<'_>>) -> Vec<String> {
        let words = self
            .words
            .clone()
            .value("heap_kib", Some(self.plan.heap_kib))
            .value("heap0_kib", Some(self.plan.heap0_kib));
        let words = node.map_or(words.clone(), |node| node.add_to(words));
        let mut arguments: Vec<String> = Vec::new();
        let mut add = |words: &[&str]| arguments.extend(words.iter().map(ToString::to_string));
        add(&["-cpu", PROCESSOR, "-smp", &self.cores.to_string()]);
        match node {
            Some(node) => node.memory(self.plan).iter().for_each(|words| add(&[&words.0, &words.1])),
            None => add(&["-m", &self.plan.memory_mib.to_string()]),
        }
        if node.is_some() {
            // Nodes run at the pace of the host's clock: counted instructions would not agree.
            add(&["-accel", "tcg,thread=single"]);
        } else if self.thread_multi {
            // Counting instructions needs one thread.
            add(&["-accel", "tcg,thread=multi"]);
        } else {
            add(&REPEATABLE);
        }
        add(&surroundings().each_ref().map(String::as_str));
        add(&EXIT_DEVICE);
        // QEMU puts this path before the words, and the kernel knows a path by its slash.
        add(&["-kernel", &format!("./{IMAGE}"), "-append", &words.to_string()]);
        if !modules.is_empty() {
            add(&["-initrd", &modules.join(",")]);
        }
        arguments
    }
}

pub(crate) fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to)
        .map(drop)
        .with_context(|| format!("cannot copy {} to {}", workspace::display(from), workspace::display(to)))
}

/// A name for an input file that QEMU and the kernel take as one word, not used before.
pub(crate) fn module_name(input: &Path, place: usize, used: &[String]) -> String {
    let original = input.file_name().unwrap_or_default().to_string_lossy();
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || "._-".contains(letter) { letter } else { '_' };
    let name: String = original.chars().map(plain).collect();
    if name.is_empty() || name == IMAGE || used.contains(&name) { format!("{place}-{name}") } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(thread_multi: bool, modules: &[String], node: Option<&Node<'_>>) -> String {
        let plan = Plan::new(48, 0, None, None).unwrap();
        let words = KernelLine::default().value("program", Some("terrain")).value("seed", Some(7));
        let machine = Machine {
            qemu: Path::new("q"),
            image: Path::new("i"),
            inputs: &[],
            cores: 48,
            plan: &plan,
            words,
            thread_multi,
        };
        machine.arguments(modules, node).join("|")
    }

    #[test]
    fn command_line() {
        assert_eq!(
            arguments(false, &["a.pgm".into(), "b.txt".into()], None),
            "-cpu|pentium,-mmx|-smp|48|-m|342|-accel|tcg,thread=single|-icount|shift=0,sleep=off|-display|none|-serial|stdio|\
             -monitor|none|-nic|none|-no-reboot|-qmp|unix:qmp.sock,server=on,wait=off|-device|isa-debug-exit,iobase=0xf4,iosize=0x04|-kernel|./atoll.elf|-append|\
             program=terrain seed=7 heap_kib=4096 heap0_kib=4096|-initrd|a.pgm,b.txt"
        );
    }

    #[test]
    fn threads_exclude_counting_instructions() {
        let line = arguments(true, &[], None);
        assert!(line.contains("thread=multi") && !line.contains("icount") && !line.contains("initrd"), "{line}");
    }

    #[test]
    fn nodes_share_the_middle_of_their_memory() {
        let region = Path::new("/proc/1/fd/7");
        let line = arguments(false, &[], Some(&Node { node: 1, nodes: 2, region, input_bytes: 0, deadline_s: 10 }));
        assert!(
            line.starts_with(
                "-cpu|pentium,-mmx|-smp|48|-m|410|-object|memory-backend-ram,id=low,size=64M|\
                 -object|memory-backend-file,id=shared,size=68M,share=on,mem-path=/proc/1/fd/7|\
                 -object|memory-backend-ram,id=high,size=278M|-numa|node,memdev=low|-numa|node,memdev=shared|\
                 -numa|node,memdev=high|-accel|tcg,thread=single|-display|"
            ),
            "{line}"
        );
        assert!(line.ends_with(" node=1 nodes=2 shared_mib=64 deadline=10") && !line.contains("icount"), "{line}");
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
            words: KernelLine::default(),
            thread_multi: false,
        };
        let staged = machine.stage().unwrap();
        let directory = staged.command.get_current_dir().unwrap().to_path_buf();
        assert!(directory.join("atoll.elf").exists() && directory.join("a_b.pgm").exists());
        drop(staged);
        assert!(!directory.exists());
    }
}
