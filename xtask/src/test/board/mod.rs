//! Boards.
#![allow(dead_code)]
mod corrupt;
