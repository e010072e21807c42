/* Functions of windows, as `atoll/mpi_core.h` has the others. The same list as `families/mpi/windows/calls.rs`. */
CALL(Win_shared_query, (MPI_Win win, int rank, MPI_Aint *size, int *disp_unit, void *baseptr), win, rank, size,
     disp_unit, baseptr)
CALL(Win_shared_query_c, (MPI_Win win, int rank, MPI_Aint *size, MPI_Aint *disp_unit, void *baseptr), win, rank, size,
     disp_unit, baseptr)
CALL(Put, (const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint
     target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win), origin_addr, origin_count,
     origin_datatype, target_rank, target_disp, target_count, target_datatype, win)
CALL(Put_c, (const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint
     target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win), origin_addr, origin_count,
     origin_datatype, target_rank, target_disp, target_count, target_datatype, win)
CALL(Get, (void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
     int target_count, MPI_Datatype target_datatype, MPI_Win win), origin_addr, origin_count, origin_datatype,
     target_rank, target_disp, target_count, target_datatype, win)
CALL(Get_c, (void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint
     target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win), origin_addr, origin_count,
     origin_datatype, target_rank, target_disp, target_count, target_datatype, win)
CALL(Accumulate, (const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint
     target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win), origin_addr, origin_count,
     origin_datatype, target_rank, target_disp, target_count, target_datatype, op, win)
CALL(Accumulate_c, (const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
     MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win), origin_addr,
     origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, op, win)
CALL(Get_accumulate, (const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, void *result_addr, int
     result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype
     target_datatype, MPI_Op op, MPI_Win win), origin_addr, origin_count, origin_datatype, result_addr, result_count,
     result_datatype, target_rank, target_disp, target_count, target_datatype, op, win)
CALL(Get_accumulate_c, (const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, void
     *result_addr, MPI_Count result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
     MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win), origin_addr, origin_count,
     origin_datatype, result_addr, result_count, result_datatype, target_rank, target_disp, target_count,
     target_datatype, op, win)
CALL(Fetch_and_op, (const void *origin_addr, void *result_addr, MPI_Datatype datatype, int target_rank, MPI_Aint
     target_disp, MPI_Op op, MPI_Win win), origin_addr, result_addr, datatype, target_rank, target_disp, op, win)
CALL(Compare_and_swap, (const void *origin_addr, const void *compare_addr, void *result_addr, MPI_Datatype datatype,
     int target_rank, MPI_Aint target_disp, MPI_Win win), origin_addr, compare_addr, result_addr, datatype,
     target_rank, target_disp, win)
CALL(Rput, (const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint
     target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request), origin_addr,
     origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win, request)
CALL(Rput_c, (const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint
     target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request),
     origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win,
     request)
CALL(Rget, (void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
     int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request), origin_addr, origin_count,
     origin_datatype, target_rank, target_disp, target_count, target_datatype, win, request)
CALL(Rget_c, (void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint
     target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request),
     origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win,
     request)
CALL(Raccumulate, (const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint
     target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request),
     origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, op, win,
     request)
CALL(Raccumulate_c, (const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
     MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request
     *request), origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype,
     op, win, request)
CALL(Rget_accumulate, (const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, void *result_addr, int
     result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype
     target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request), origin_addr, origin_count, origin_datatype,
     result_addr, result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, op, win,
     request)
CALL(Rget_accumulate_c, (const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, void
     *result_addr, MPI_Count result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
     MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request), origin_addr,
     origin_count, origin_datatype, result_addr, result_count, result_datatype, target_rank, target_disp,
     target_count, target_datatype, op, win, request)
CALL(Win_create, (void *base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win), base, size,
     disp_unit, info, comm, win)
CALL(Win_create_c, (void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win), base,
     size, disp_unit, info, comm, win)
CALL(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *win), info, comm, win)
CALL(Win_attach, (MPI_Win win, void *base, MPI_Aint size), win, base, size)
CALL(Win_detach, (MPI_Win win, const void *base), win, base)
CALL(Win_fence, (int assert, MPI_Win win), assert, win)
CALL(Win_start, (MPI_Group group, int assert, MPI_Win win), group, assert, win)
CALL(Win_complete, (MPI_Win win), win)
CALL(Win_post, (MPI_Group group, int assert, MPI_Win win), group, assert, win)
CALL(Win_wait, (MPI_Win win), win)
CALL(Win_test, (MPI_Win win, int *flag), win, flag)
CALL(Win_lock, (int lock_type, int rank, int assert, MPI_Win win), lock_type, rank, assert, win)
CALL(Win_unlock, (int rank, MPI_Win win), rank, win)
CALL(Win_lock_all, (int assert, MPI_Win win), assert, win)
CALL(Win_unlock_all, (MPI_Win win), win)
CALL(Win_flush, (int rank, MPI_Win win), rank, win)
CALL(Win_flush_all, (MPI_Win win), win)
CALL(Win_flush_local, (int rank, MPI_Win win), rank, win)
CALL(Win_flush_local_all, (MPI_Win win), win)
CALL(Win_sync, (MPI_Win win), win)
CALL(Win_get_group, (MPI_Win win, MPI_Group *group), win, group)
CALL(Win_set_info, (MPI_Win win, MPI_Info info), win, info)
CALL(Win_get_info, (MPI_Win win, MPI_Info *info_used), win, info_used)
CALL(Win_set_name, (MPI_Win win, const char *win_name), win, win_name)
CALL(Win_get_name, (MPI_Win win, char *win_name, int *resultlen), win, win_name, resultlen)
CALL(Win_set_attr, (MPI_Win win, int win_keyval, void *attribute_val), win, win_keyval, attribute_val)
CALL(Win_get_attr, (MPI_Win win, int win_keyval, void *attribute_val, int *flag), win, win_keyval, attribute_val,
     flag)
CALL(Win_delete_attr, (MPI_Win win, int win_keyval), win, win_keyval)
CALL(Win_set_errhandler, (MPI_Win win, MPI_Errhandler errhandler), win, errhandler)
CALL(Win_get_errhandler, (MPI_Win win, MPI_Errhandler *errhandler), win, errhandler)
CALL(Win_create_errhandler, (MPI_Win_errhandler_function *win_errhandler_fn, MPI_Errhandler *errhandler),
     win_errhandler_fn, errhandler)
CALL(Win_call_errhandler, (MPI_Win win, int errorcode), win, errorcode)
SERVICE(win_allocate_there,
        (void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win), base, size,
        disp_unit, info, comm, win)
SERVICE(win_share, (MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win, size_t *bytes), size,
        disp_unit, info, comm, win, bytes)
SERVICE(win_map, (MPI_Win win, void *memory, void **base), win, memory, base)
SERVICE(win_give_up, (MPI_Win *win, void **memory), win, memory)
