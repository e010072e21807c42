//! Has the CPU library ask us how many instructions it translates at once: see `cpu::translation`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var_os("CARGO_FEATURE_CPU").is_some() {
        println!("cargo::rustc-link-arg=-Wl,--wrap=gen_intermediate_code_x86_64");
    }
}
