//! Bounds of the image's parts, from the linker script, and what of texts all cores see.

crate::bare::bounds! {
    start = linker_image_start, end = linker_image_end,
    text_start = linker_text_start, text_end = linker_text_end,
    rodata_start = linker_rodata_start, rodata_end = linker_rodata_end,
    emulator_start = linker_emulator_start, emulator_end = linker_emulator_end,
    private_start = linker_private_start, data_end = linker_data_end, private_end = linker_private_end,
}

/// A text as all cores see it: constants are the same for all, but a text that a program has made lies in its core's private
/// memory, where others have something else at that address.
pub(crate) fn seen_by_all(text: &'static str) -> &'static str {
    let is_constant = (rodata_start()..rodata_end()).contains(&text.as_ptr().addr());
    if is_constant { text } else { "something whose name only its own core can read" }
}
