/* Functions of datatypes and operators, as `atoll/mpi_core.h` has the others. The same list as `families/mpi/datatypes/calls.rs`. */
