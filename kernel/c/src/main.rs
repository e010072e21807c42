//! Programs in C on the host, in the simulator or on threads: it loads the one that the command line names, once for each rank.

kernel::image!(c_programs::CProgram);
