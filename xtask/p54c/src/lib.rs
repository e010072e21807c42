//! Which instructions a Pentium P54C has, and what they take: what images are checked for, what the emulated cores execute, and
//! what computation in C is priced by.

pub mod timing;

use iced_x86::{Code, CpuidFeature, Instruction, Mnemonic};

/// Bytes of `CL1INVMB`, which the SCC's cores have beyond a P54C: it forgets all MPBT lines of L1.
pub const CL1INVMB: [u8; 2] = [0x0F, 0x0A];

/// Says why a P54C does not execute an instruction, if it does not.
///
/// `tzcnt` passes because it is `rep bsf`: a P54C ignores the prefix and executes `bsf`, and for a processor without BMI
/// the compiler uses it only where both give the same. `lzcnt` does not: as `bsr` it gives another number. `pause` is
/// `rep nop`, and `ud2` raises the same fault on every processor, which is what it is for.
pub fn refusal(instruction: &Instruction) -> Option<&'static str> {
    if instruction.code() == Code::INVALID {
        return Some("there is no instruction");
    }
    let is_later = match instruction.mnemonic() {
        Mnemonic::Tzcnt => false,
        // Of later processors, or in no manual of this one.
        Mnemonic::Ud0 | Mnemonic::Ud1 | Mnemonic::Rdpmc | Mnemonic::Ffreep | Mnemonic::Salc | Mnemonic::Int1 => true,
        _ => !instruction.cpuid_features().iter().all(is_there),
    };
    is_later.then_some("a P54C does not have it")
}

/// Whether it is the `nop` with a prefix that a wait of our images executes between two polls by which it decides alone, in place of `pause`.
pub fn is_between_polls(instruction: &Instruction) -> bool {
    instruction.mnemonic() == Mnemonic::Nop && instruction.has_repne_prefix()
}

fn is_there(feature: &CpuidFeature) -> bool {
    matches!(
        feature,
        CpuidFeature::INTEL8086
            | CpuidFeature::INTEL186
            | CpuidFeature::INTEL286
            | CpuidFeature::INTEL386
            | CpuidFeature::INTEL486
            | CpuidFeature::FPU
            | CpuidFeature::FPU287
            | CpuidFeature::FPU387
            | CpuidFeature::CPUID
            | CpuidFeature::TSC
            | CpuidFeature::MSR
            | CpuidFeature::SMM
            | CpuidFeature::CX8
            | CpuidFeature::PAUSE
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use iced_x86::{Decoder, DecoderOptions};

    fn is_refused(bytes: &[u8]) -> bool {
        let instruction = Decoder::new(32, bytes, DecoderOptions::NONE).decode();
        assert!(instruction.len() == bytes.len() || instruction.is_invalid(), "{bytes:02x?} is {instruction:?}");
        refusal(&instruction).is_some()
    }

    #[test]
    fn what_a_p54c_lacks_is_refused() {
        for bytes in [
            &[0x0F, 0x44, 0xC1][..],            // cmove eax, ecx
            &[0x0F, 0x1F, 0x00],                // nop dword [eax]
            &[0x0F, 0x1F, 0x44, 0x00, 0],       // nop dword [eax + eax]
            &[0x2E, 0x0F, 0x1F, 0x44, 0x00, 0], // the same with a prefix
            &[0xDB, 0xF1],                      // fcomi
            &[0xDF, 0xF1],                      // fcomip
            &[0xDB, 0xE9],                      // fucomi
            &[0xDF, 0xE9],                      // fucomip
            &[0xDA, 0xC1],                      // fcmovb
            &[0xDF, 0xC0],                      // ffreep
            &[0xDB, 0x48, 0x10],                // fisttp
            &[0x0F, 0xFF, 0xC0],                // ud0
            &[0x0F, 0xB9, 0xC0],                // ud1
            &[0xF3, 0x0F, 0x1E, 0xFB],          // endbr32
            &[0x0F, 0x18, 0x08],                // prefetcht0
            &[0x0F, 0x0D, 0x08],                // prefetchw
            &[0x0F, 0xAE, 0x38],                // clflush
            &[0x0F, 0xAE, 0x00],                // fxsave
            &[0x0F, 0xAE, 0xF8],                // sfence
            &[0x0F, 0xAE, 0xE8],                // lfence
            &[0x0F, 0xAE, 0xF0],                // mfence
            &[0x0F, 0xC3, 0x08],                // movnti
            &[0x0F, 0x38, 0xF0, 0x01],          // movbe
            &[0xF3, 0x0F, 0xB8, 0xC0],          // popcnt
            &[0xF3, 0x0F, 0xBD, 0xC6],          // lzcnt
            &[0x0F, 0x6E, 0xC0],                // movd mm0, eax
            &[0x0F, 0x6F, 0xC1],                // movq mm0, mm1
            &[0x0F, 0x77],                      // emms
            &[0x0F, 0x28, 0xC1],                // movaps
            &[0x0F, 0x58, 0xC1],                // addps
            &[0x0F, 0x33],                      // rdpmc
            &[0x0F, 0x01, 0xF9],                // rdtscp
            &[0x0F, 0x34],                      // sysenter
            &[0x0F, 0x0B, 0x04][1..],           // or al, … cut short
            &[0x0F, 0x04],                      // nothing
            &CL1INVMB,
        ] {
            assert!(is_refused(bytes), "{bytes:02x?}");
        }
    }

    #[test]
    fn what_a_p54c_has_passes() {
        for bytes in [
            &[0x0F, 0xC7, 0x08][..],          // cmpxchg8b
            &[0xF0, 0x0F, 0xC7, 0x08],        // the same with lock
            &[0x0F, 0xC8],                    // bswap
            &[0x0F, 0xB1, 0x08],              // cmpxchg
            &[0xF0, 0x0F, 0xC1, 0x01],        // lock xadd
            &[0x0F, 0xBC, 0xC8],              // bsf
            &[0xF3, 0x0F, 0xBC, 0xC8],        // tzcnt
            &[0x90],                          // nop
            &[0x66, 0x90],                    // xchg ax, ax
            &[0xF3, 0x90],                    // pause
            &[0xF2, 0x90],                    // repne nop
            &[0xF3, 0xAB],                    // rep stosd
            &[0xF3, 0xA6],                    // repe cmpsb
            &[0xFF, 0x18],                    // call far
            &[0xEA, 0, 0x10, 0, 0, 8, 0],     // jmp far
            &[0xCF],                          // iret
            &[0xCB],                          // retf
            &[0xF3, 0xC3],                    // rep ret
            &[0xD7],                          // xlat
            &[0xE2, 0xFE],                    // loop
            &[0x0F, 0x94, 0xC0],              // sete
            &[0xCC],                          // int3
            &[0xE4, 0x80],                    // in al, 0x80
            &[0xF4],                          // hlt
            &[0x0F, 0x0B],                    // ud2
            &[0x0F, 0x01, 0x38],              // invlpg
            &[0x0F, 0x01, 0x1D, 16, 0, 0, 0], // lidt
            &[0x0F, 0x06],                    // clts
            &[0x0F, 0x09],                    // wbinvd
            &[0x0F, 0x31],                    // rdtsc
            &[0x0F, 0x32],                    // rdmsr
            &[0x0F, 0x30],                    // wrmsr
            &[0x0F, 0xAA],                    // rsm
            &[0x0F, 0xA2],                    // cpuid
            &[0x0F, 0x20, 0xE0],              // mov eax, cr4
            &[0x0F, 0x22, 0xD8],              // mov cr3, eax
            &[0xD9, 0xFE],                    // fsin
            &[0xDD, 0xE1],                    // fucom
            &[0xDA, 0xE9],                    // fucompp
            &[0xDF, 0xE0],                    // fnstsw ax
            &[0x9B],                          // fwait
        ] {
            assert!(!is_refused(bytes), "{bytes:02x?}");
        }
    }
}
