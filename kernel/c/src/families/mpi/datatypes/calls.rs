//! Functions of datatypes and operators, as `atoll/mpi_types.h` has them.

use super::super::table::table;

table! {}
