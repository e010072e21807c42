//! The image `instructions`: the program that counts instructions, alone. What the compiler inlines, it decides by how often a function
//! is called in the image: beside other programs a call is not always counted as the same.

#![no_std]
#![cfg_attr(target_os = "none", no_main)]

kernel::image!(measurements::Instructions);
