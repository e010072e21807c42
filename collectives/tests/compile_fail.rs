//! What the types of epochs refuse, with what the compiler says.

#[test]
fn epochs_are_typed() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
