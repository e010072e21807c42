//! Communicators of some ranks.

mod limits;
mod lines;
mod orders;
mod price;
mod tested;
mod trees;

use tested::{Tested, run};
