//! The image `atoll`: all programs of the tree. The first one is what runs if none is named.

#![no_std]
#![cfg_attr(target_os = "none", no_main)]

use kernel::programs::{Fft, Hello, Quadrature, Terrain, Wave};

kernel::image!(Terrain, Wave, Fft, Quadrature, Hello);
