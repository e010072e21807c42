//! Communicators of some ranks.

mod errands;
mod limits;
mod lines;
mod orders;
mod price;
mod tested;
mod trees;
mod windows;

use tested::{Joined, Tested, run};
