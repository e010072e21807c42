//! Bounds of the image's parts, from the linker script.

crate::bare::bounds! {
    start = linker_image_start, end = linker_image_end,
    text_start = linker_text_start, text_end = linker_text_end,
    rodata_start = linker_rodata_start, rodata_end = linker_rodata_end,
    emulator_start = linker_emulator_start, emulator_end = linker_emulator_end,
    private_start = linker_private_start, data_end = linker_data_end, private_end = linker_private_end,
}
