//! The image `measurements`: all programs that measure.

#![no_std]
#![cfg_attr(target_os = "none", no_main)]

use measurements::*;

programs!(kernel::image);
