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
MISSING(Abi_set_fortran_info) MISSING(Close_port) MISSING(Comm_accept) MISSING(Comm_connect)
MISSING(Comm_create_from_group) MISSING(Comm_join) MISSING(Comm_spawn) MISSING(Comm_spawn_multiple)
MISSING(File_call_errhandler) MISSING(File_close) MISSING(File_create_errhandler) MISSING(File_delete)
MISSING(File_get_amode) MISSING(File_get_atomicity) MISSING(File_get_byte_offset) MISSING(File_get_errhandler)
MISSING(File_get_group) MISSING(File_get_info) MISSING(File_get_position) MISSING(File_get_position_shared)
MISSING(File_get_size) MISSING(File_get_type_extent) MISSING(File_get_type_extent_c) MISSING(File_get_view)
MISSING(File_iread) MISSING(File_iread_c) MISSING(File_iread_all) MISSING(File_iread_all_c) MISSING(File_iread_at)
MISSING(File_iread_at_c) MISSING(File_iread_at_all) MISSING(File_iread_at_all_c) MISSING(File_iread_shared)
MISSING(File_iread_shared_c) MISSING(File_iwrite) MISSING(File_iwrite_c) MISSING(File_iwrite_all)
MISSING(File_iwrite_all_c) MISSING(File_iwrite_at) MISSING(File_iwrite_at_c) MISSING(File_iwrite_at_all)
MISSING(File_iwrite_at_all_c) MISSING(File_iwrite_shared) MISSING(File_iwrite_shared_c) MISSING(File_open)
MISSING(File_preallocate) MISSING(File_read) MISSING(File_read_c) MISSING(File_read_all) MISSING(File_read_all_c)
MISSING(File_read_all_begin) MISSING(File_read_all_begin_c) MISSING(File_read_all_end) MISSING(File_read_at)
MISSING(File_read_at_c) MISSING(File_read_at_all) MISSING(File_read_at_all_c) MISSING(File_read_at_all_begin)
MISSING(File_read_at_all_begin_c) MISSING(File_read_at_all_end) MISSING(File_read_ordered)
MISSING(File_read_ordered_c) MISSING(File_read_ordered_begin) MISSING(File_read_ordered_begin_c)
MISSING(File_read_ordered_end) MISSING(File_read_shared) MISSING(File_read_shared_c) MISSING(File_seek)
MISSING(File_seek_shared) MISSING(File_set_atomicity) MISSING(File_set_errhandler) MISSING(File_set_info)
MISSING(File_set_size) MISSING(File_set_view) MISSING(File_sync) MISSING(File_write) MISSING(File_write_c)
MISSING(File_write_all) MISSING(File_write_all_c) MISSING(File_write_all_begin) MISSING(File_write_all_begin_c)
MISSING(File_write_all_end) MISSING(File_write_at) MISSING(File_write_at_c) MISSING(File_write_at_all)
MISSING(File_write_at_all_c) MISSING(File_write_at_all_begin) MISSING(File_write_at_all_begin_c)
MISSING(File_write_at_all_end) MISSING(File_write_ordered) MISSING(File_write_ordered_c)
MISSING(File_write_ordered_begin) MISSING(File_write_ordered_begin_c) MISSING(File_write_ordered_end)
MISSING(File_write_shared) MISSING(File_write_shared_c) MISSING(Group_from_session_pset)
MISSING(Intercomm_create_from_groups) MISSING(Lookup_name) MISSING(Open_port) MISSING(Parrived) MISSING(Pready)
MISSING(Pready_list) MISSING(Pready_range) MISSING(Precv_init) MISSING(Precv_init_c) MISSING(Psend_init)
MISSING(Psend_init_c) MISSING(Publish_name) MISSING(Register_datarep) MISSING(Register_datarep_c)
MISSING(Session_attach_buffer) MISSING(Session_attach_buffer_c) MISSING(Session_call_errhandler)
MISSING(Session_create_errhandler) MISSING(Session_detach_buffer) MISSING(Session_detach_buffer_c)
MISSING(Session_finalize) MISSING(Session_flush_buffer) MISSING(Session_get_errhandler) MISSING(Session_get_info)
MISSING(Session_get_nth_pset) MISSING(Session_get_num_psets) MISSING(Session_get_pset_info)
MISSING(Session_iflush_buffer) MISSING(Session_init) MISSING(Session_set_errhandler) MISSING(Type_create_f90_complex)
MISSING(Type_create_f90_integer) MISSING(Type_create_f90_real) MISSING(Unpublish_name) MISSING(T_category_changed)
MISSING(T_category_get_categories) MISSING(T_category_get_cvars) MISSING(T_category_get_events)
MISSING(T_category_get_index) MISSING(T_category_get_info) MISSING(T_category_get_num)
MISSING(T_category_get_num_events) MISSING(T_category_get_pvars) MISSING(T_cvar_get_index) MISSING(T_cvar_get_info)
MISSING(T_cvar_get_num) MISSING(T_cvar_handle_alloc) MISSING(T_cvar_handle_free) MISSING(T_cvar_read)
MISSING(T_cvar_write) MISSING(T_enum_get_info) MISSING(T_enum_get_item) MISSING(T_event_callback_get_info)
MISSING(T_event_callback_set_info) MISSING(T_event_copy) MISSING(T_event_get_index) MISSING(T_event_get_info)
MISSING(T_event_get_num) MISSING(T_event_get_source) MISSING(T_event_get_timestamp) MISSING(T_event_handle_alloc)
MISSING(T_event_handle_free) MISSING(T_event_handle_get_info) MISSING(T_event_handle_set_info) MISSING(T_event_read)
MISSING(T_event_register_callback) MISSING(T_event_set_dropped_handler) MISSING(T_finalize) MISSING(T_init_thread)
MISSING(T_pvar_get_index) MISSING(T_pvar_get_info) MISSING(T_pvar_get_num) MISSING(T_pvar_handle_alloc)
MISSING(T_pvar_handle_free) MISSING(T_pvar_read) MISSING(T_pvar_readreset) MISSING(T_pvar_reset)
MISSING(T_pvar_session_create) MISSING(T_pvar_session_free) MISSING(T_pvar_start) MISSING(T_pvar_stop)
MISSING(T_pvar_write) MISSING(T_source_get_info) MISSING(T_source_get_num) MISSING(T_source_get_timestamp)
