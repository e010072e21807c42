//! One-sided communication: windows, the packets that they are compared with, and cores that copy for others.

pub mod copy_engine;
pub mod message;
pub mod window;
