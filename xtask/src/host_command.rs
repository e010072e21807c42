//! How a program's binary for the host is started.

use crate::{
    c,
    kernel_line::{self, KernelLine},
    memory::{self, bytes},
    workspace,
};
use anyhow::Result;
use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// The command line of a program's binary for the host, with heaps as large as under QEMU.
///
/// # Errors
/// When the size of a heap is no number.
pub(crate) fn of(binary: &Path, words: KernelLine, inputs: &[PathBuf]) -> Result<Command> {
    let given: Vec<_> = words.to_string().split(' ').map(str::to_owned).collect();
    let of_user = |key: &str| kernel_line::number(&given, key);
    let [heap_kib, heap0_kib] = memory::heaps(bytes(inputs), of_user("heap_kib")?, of_user("heap0_kib")?);
    let words = words.value("heap_kib", Some(heap_kib)).value("heap0_kib", Some(heap0_kib));
    let mut command = workspace::command(binary);
    command.args(["--cmdline", &words.to_string()]);
    for input in inputs {
        command.arg("--module").arg(input);
    }
    Ok(command)
}

/// The program in C that the simulator in a command loads.
pub(crate) fn loaded(command: &Command) -> Option<PathBuf> {
    let line = command.get_args().skip_while(|word| *word != "--cmdline").nth(1)?.to_str()?;
    line.split(' ').find_map(|word| word.strip_prefix(c::IMAGE)).map(|path| c::decoded(path).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loaded_program_is_found() {
        let path = PathBuf::from("/x/a b.c-1");
        let words = KernelLine::default().value("image", Some(c::encoded(&path.to_string_lossy())));
        assert_eq!(loaded(&of(Path::new("/t/c"), words, &[]).unwrap()), Some(path));
        assert_eq!(loaded(&of(Path::new("/t/c"), KernelLine::default(), &[]).unwrap()), None);
    }

    #[test]
    fn command_line() {
        let inputs = ["/x/a b.pgm".into(), "/x/c".into()];
        let words = KernelLine::default().value("program", Some("terrain")).value("cores", Some(48));
        let command = of(Path::new("/t/atoll"), words, &inputs).unwrap();
        let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
        assert_eq!(
            words,
            [
                "--cmdline",
                "program=terrain cores=48 heap_kib=4096 heap0_kib=4096",
                "--module",
                "/x/a b.pgm",
                "--module",
                "/x/c"
            ]
        );
    }
}
