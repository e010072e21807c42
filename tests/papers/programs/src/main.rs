//! The image `measurements`: the programs that measure, but for the one that counts instructions.

#![no_std]
#![cfg_attr(target_os = "none", no_main)]

use measurements::*;

programs!(kernel::image);
