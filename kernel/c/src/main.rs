//! The simulator of programs in C: it loads the one that the command line names, once for each rank.

kernel::image!(c_programs::CProgram);
