//! Bounds of the image's parts, from the linker script.

crate::bare::bounds! {
    text_start = linker_text_start, text_end = linker_text_end,
    rodata_start = linker_rodata_start, rodata_end = linker_rodata_end,
    private_start = linker_private_start, private_end = linker_private_end,
    pristine_start = linker_pristine_start,
    stack_guard = linker_stack_guard, stack_start = linker_stack_start, stack_top = linker_stack_top,
}
