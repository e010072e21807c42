//! Finds instructions in an image that a Pentium P54C does not have.
//!
//! QEMU's `-cpu pentium,-mmx` executes some of them all the same (long nops, `fcomi`), so an image that works there may
//! die on the board. The check disassembles the image and compares every mnemonic with the list of what the processor's
//! manual has, in `p54c.txt`: whatever is not on the list fails, also what nobody has thought of.
//!
//! `tzcnt` is allowed because it is `rep bsf`: a P54C ignores the prefix and executes `bsf`, and for a processor without
//! BMI the compiler uses it only where both give the same. `lzcnt` is not: as `bsr` it gives another number.
//! `pause` is `rep nop`. `ud2` raises the same fault on every processor, which is what it is for. A `nop` with an operand
//! is a long nop, which came with the Pentium Pro.

use crate::{process, progress::Progress, workspace};
use anyhow::{Result, bail, ensure};
use std::{collections::HashSet, path::Path};

/// Mnemonics of a P54C, in the disassembler's Intel spelling.
const INSTRUCTIONS: &str = include_str!("p54c.txt");

/// Prefixes of a P54C.
const PREFIXES: [&str; 14] =
    ["lock", "rep", "repz", "repe", "repnz", "repne", "cs", "ds", "es", "ss", "fs", "gs", "data16", "addr16"];

/// How the multiboot header begins, which stands among the code without being any.
const MULTIBOOT_MAGIC: &str = "02 b0 ad 1b";

/// Length of the multiboot header.
const MULTIBOOT_BYTES: u64 = 12;

/// Instructions, as bytes, that the SCC's cores have beyond a P54C: `CL1INVMB`, which the disassembler does not know.
pub(crate) const SCC_INSTRUCTIONS: [&str; 1] = ["0f 0a"];

/// How many violations are shown.
const SHOWN: usize = 10;

/// An instruction that a P54C lacks.
#[derive(Debug, PartialEq, Eq)]
struct Violation {
    address: String,
    function: String,
    instruction: String,
}

/// Disassembles an image and fails on anything that a P54C lacks, but for instructions of the `further` bytes. Returns the
/// number of instructions that were checked.
///
/// # Errors
///
/// When there is a violation, or the file is no image.
pub(crate) fn check_image(objdump: &Path, image: &Path, further: &[&str]) -> Result<usize> {
    let shown = workspace::display(image);
    let mut command = workspace::command(objdump);
    command.args(["--disassemble", "--wide", "--demangle", "-M", "intel"]).arg(image);
    let progress = Progress::new("checking the instructions of the image");
    let finished = process::finish(command.env("LC_ALL", "C"), |_| {})?;
    drop(progress);
    if !finished.status.success() {
        bail!("objdump cannot read {shown}: {}", finished.messages.lines().last().unwrap_or("no reason given"));
    }
    ensure!(finished.output.contains("file format elf32-i386"), "{shown} is no image for a 32-bit PC");
    let (checked, violations) = check(&finished.output, further);
    ensure!(checked > 0, "{shown} has no instructions");
    let Some(first) = violations.first() else {
        return Ok(checked);
    };
    for violation in violations.iter().take(SHOWN) {
        eprintln!("{}: {} in {}", violation.address, violation.instruction, violation.function);
    }
    bail!(
        "{shown} has {} instructions that a P54C lacks, the first `{}` at {} in {}",
        violations.len(),
        first.instruction,
        first.address,
        first.function
    );
}

/// Counts the instructions in a disassembly and finds those that a P54C lacks and are none of the `further` ones.
fn check(disassembly: &str, further: &[&str]) -> (usize, Vec<Violation>) {
    let known: HashSet<&str> =
        INSTRUCTIONS.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace).collect();
    let mut function = "";
    let mut checked = 0;
    let mut header_end = 0;
    let mut violations = Vec::new();
    for line in disassembly.lines() {
        if let Some((_, name)) = line.strip_suffix(">:").and_then(|line| line.split_once(" <")) {
            function = name;
            continue;
        }
        // Address, bytes, instruction; data has only the first two.
        let Some((address, (bytes, instruction))) =
            line.split_once(":\t").and_then(|(address, rest)| Some((address.trim(), rest.split_once('\t')?)))
        else {
            continue;
        };
        let place = u64::from_str_radix(address, 16).unwrap_or(0);
        if bytes.starts_with(MULTIBOOT_MAGIC) {
            header_end = place + MULTIBOOT_BYTES;
        }
        if place < header_end {
            continue;
        }
        checked += 1;
        if !is_known(instruction, &known) && !further.contains(&bytes.trim()) {
            violations.push(Violation {
                address: format!("0x{address}"),
                function: function.into(),
                instruction: instruction.split_whitespace().collect::<Vec<_>>().join(" "),
            });
        }
    }
    (checked, violations)
}

fn is_known(instruction: &str, known: &HashSet<&str>) -> bool {
    // What follows `#` or `<` names an address.
    let code = instruction.split(['#', '<']).next().unwrap_or_default();
    let mut words = code.split_whitespace().skip_while(|word| PREFIXES.contains(word));
    match words.next() {
        // Only prefixes: the disassembler prints the instruction they belong to as the next one.
        None => true,
        Some("nop") => words.next().is_none(),
        Some(mnemonic) => known.contains(mnemonic),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn violations(code: &str) -> Vec<String> {
        let lines: Vec<_> = code.lines().map(|line| format!("  100000:\t90 90   \t{line}")).collect();
        check(&lines.join("\n"), &[]).1.into_iter().map(|violation| violation.instruction).collect()
    }

    #[test]
    fn what_a_p54c_has() {
        let code = "bsf    ecx,eax\ntzcnt  ecx,eax\nnop\nxchg   ax,ax\npause\nlock cmpxchg8b QWORD PTR [eax]\nrep stos DWORD PTR es:[edi],eax\n\
            repz cmps BYTE PTR ds:[esi],BYTE PTR es:[edi]\nlock or DWORD PTR [esp],0x0\nud2\ncall   FWORD PTR [eax]\njmp    0x8:0x1000\niret\n\
            fnstsw ax\nretf\nxlat   BYTE PTR ds:[ebx]\nrdtsc\nrepz ret\nfwait\nloop   0 <f>\nin     al,0x80\nlock xadd DWORD PTR [ecx],eax\n\
            bswap  eax\ncwde\nsete   al\njne    100 <g+0x10>\nint3\ninvlpg BYTE PTR [eax]\nmov    eax,cr4\nwbinvd\nrdmsr\nfucompp\nlidtd  ds:0x10\ncs";
        assert_eq!(violations(code), Vec::<String>::new());
    }

    #[test]
    fn what_a_p54c_lacks() {
        let code = "cmove  ecx,eax\nnop    WORD PTR [eax+eax*1]\ncs nop WORD PTR [eax+eax*1+0x0]\nfcmove st,st(1)\nfucomi st,st(1)\nfcomip st,st(1)\nendbr32\n\
            prefetcht0 BYTE PTR [eax]\nfisttp DWORD PTR [eax]\nsysenter\nmovd   mm0,eax\nmovaps xmm0,xmm1\nclflush BYTE PTR [eax]\n\
            popcnt eax,eax\nlzcnt  eax,eax\nsfence\nlfence\nmfence\nmovnti DWORD PTR [eax],ecx\nrdpmc\nrdtscp\nfxsave [eax]\nemms\n\
            ffreep st(0)\nnotrack jmp eax\n(bad)\nmovbe  eax,DWORD PTR [ecx]\ncmovne eax,ecx";
        assert_eq!(violations(code).len(), code.lines().count(), "{:?}", violations(code));
    }

    #[test]
    fn a_violation_says_where() {
        let text = "\na.elf:     file format elf32-i386\n\nDisassembly of section .text:\n\n00100000 <kernel::main>:\n  100000:\tc3  \tret\n\n\
            00100004 <boot_entry>:\n  100004:\t0f 44 c8  \tcmove  ecx,eax\n  100007:\teb f7  \tjmp    100000 <cmov>\n";
        let (checked, violations) = check(text, &[]);
        assert_eq!(checked, 3);
        let violation = Violation {
            address: "0x100004".into(),
            function: "boot_entry".into(),
            instruction: "cmove ecx,eax".into(),
        };
        assert_eq!(violations, [violation]);
    }

    #[test]
    fn data_among_code_is_no_code() {
        let object = "  100000:\t0f 44 c8 00                 .D..\n  100004:\tc3  \tret";
        assert_eq!(check(object, &[]), (1, Vec::new()));
        let header = "  100000:\t02 b0 ad 1b 03 00  \tadd dh,[eax+0x31bad]\n  100006:\t00 00  \tadd [eax],al\n  100008:\tfb  \tsti\n  \
            100009:\t4f  \tdec edi\n  10000a:\te4  \t.byte 0xe4\n  10000c:\t0f 44 c8  \tcmove ecx,eax";
        let (checked, violations) = check(header, &[]);
        assert_eq!((checked, violations.len()), (1, 1));
    }

    #[test]
    fn a_board_has_one_more() {
        let text =
            "  100000:\t0f 0a                \t(bad)\n  100002:\t0f 0b                \t(bad)\n  100004:\tc3 \tret";
        let (checked, violations) = check(text, &SCC_INSTRUCTIONS);
        assert_eq!((checked, violations.len()), (3, 1));
        assert_eq!(violations[0].address, "0x100002");
        assert_eq!(check(text, &[]).1.len(), 2);
    }

    #[test]
    fn a_file_that_is_no_image_is_refused() {
        let Some(objdump) = crate::setup::objdump() else { return };
        let text = tempfile::NamedTempFile::new().unwrap();
        assert!(check_image(&objdump, text.path(), &[]).is_err());
        let host = std::env::current_exe().unwrap();
        assert!(check_image(&objdump, &host, &[]).unwrap_err().to_string().contains("32-bit"));
    }
}
