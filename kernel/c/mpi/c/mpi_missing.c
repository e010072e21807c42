/* Functions of MPI that are not provided: they link, and end a program that calls them. */

#include <atoll/services.h>
#include <stdio.h>
#include <stdlib.h>

static _Noreturn void missing(const char *name)
{
    printf("%s is not provided by Atoll\n", name);
    abort();
}

#define MISSING(name)                                                                                                   \
    _Noreturn void PMPI_##name(void)                                                                                    \
    {                                                                                                                   \
        missing("MPI_" #name);                                                                                          \
    }                                                                                                                   \
    extern __typeof__(PMPI_##name) MPI_##name __attribute__((weak, alias("PMPI_" #name)));

MISSING(Abi_get_fortran_booleans) MISSING(Abi_get_fortran_info) MISSING(Abi_set_fortran_booleans)
MISSING(Abi_set_fortran_info) MISSING(File_close) MISSING(File_get_amode) MISSING(File_get_atomicity)
MISSING(File_get_byte_offset) MISSING(File_get_group) MISSING(File_get_info) MISSING(File_get_position)
MISSING(File_get_position_shared) MISSING(File_get_size) MISSING(File_get_type_extent) MISSING(File_get_type_extent_c)
MISSING(File_get_view) MISSING(File_iread) MISSING(File_iread_c) MISSING(File_iread_all) MISSING(File_iread_all_c)
MISSING(File_iread_at) MISSING(File_iread_at_c) MISSING(File_iread_at_all) MISSING(File_iread_at_all_c)
MISSING(File_iread_shared) MISSING(File_iread_shared_c) MISSING(File_iwrite) MISSING(File_iwrite_c)
MISSING(File_iwrite_all) MISSING(File_iwrite_all_c) MISSING(File_iwrite_at) MISSING(File_iwrite_at_c)
MISSING(File_iwrite_at_all) MISSING(File_iwrite_at_all_c) MISSING(File_iwrite_shared) MISSING(File_iwrite_shared_c)
MISSING(File_preallocate) MISSING(File_read) MISSING(File_read_c) MISSING(File_read_all) MISSING(File_read_all_c)
MISSING(File_read_all_begin) MISSING(File_read_all_begin_c) MISSING(File_read_all_end) MISSING(File_read_at)
MISSING(File_read_at_c) MISSING(File_read_at_all) MISSING(File_read_at_all_c) MISSING(File_read_at_all_begin)
MISSING(File_read_at_all_begin_c) MISSING(File_read_at_all_end) MISSING(File_read_ordered) MISSING(File_read_ordered_c)
MISSING(File_read_ordered_begin) MISSING(File_read_ordered_begin_c) MISSING(File_read_ordered_end)
MISSING(File_read_shared) MISSING(File_read_shared_c) MISSING(File_seek) MISSING(File_seek_shared)
MISSING(File_set_atomicity) MISSING(File_set_info) MISSING(File_set_size) MISSING(File_set_view) MISSING(File_sync)
MISSING(File_write) MISSING(File_write_c) MISSING(File_write_all) MISSING(File_write_all_c)
MISSING(File_write_all_begin) MISSING(File_write_all_begin_c) MISSING(File_write_all_end) MISSING(File_write_at)
MISSING(File_write_at_c) MISSING(File_write_at_all) MISSING(File_write_at_all_c) MISSING(File_write_at_all_begin)
MISSING(File_write_at_all_begin_c) MISSING(File_write_at_all_end) MISSING(File_write_ordered)
MISSING(File_write_ordered_c) MISSING(File_write_ordered_begin) MISSING(File_write_ordered_begin_c)
MISSING(File_write_ordered_end) MISSING(File_write_shared) MISSING(File_write_shared_c) MISSING(Register_datarep)
MISSING(Register_datarep_c) MISSING(Session_attach_buffer) MISSING(Session_attach_buffer_c)
MISSING(Session_detach_buffer) MISSING(Session_detach_buffer_c) MISSING(Session_flush_buffer)
MISSING(Session_iflush_buffer) MISSING(Type_create_f90_complex) MISSING(Type_create_f90_integer)
MISSING(Type_create_f90_real)
