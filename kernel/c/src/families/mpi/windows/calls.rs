//! Functions of windows, as `atoll/mpi_windows.h` has them.

use core::ffi::c_char;

use super::{making, operations, queries, synchronisation};
use crate::families::mpi::{errors, handles::Handle, listing::table, place::Place};

table! {
    win_shared_query = making::shared_query[
        win: Handle, rank: i32, size: Place<isize>, disp_unit: Place<i32>, baseptr: Place<*mut u8>
    ];
    win_shared_query_c = making::shared_query[
        win: Handle, rank: i32, size: Place<isize>, disp_unit: Place<isize>, baseptr: Place<*mut u8>
    ];
    put = operations::put[
        origin_addr: *const u8, origin_count: i32, origin_datatype: Handle, target_rank: i32, target_disp: isize,
        target_count: i32, target_datatype: Handle, win: Handle
    ];
    put_c = operations::put[
        origin_addr: *const u8, origin_count: i64, origin_datatype: Handle, target_rank: i32, target_disp: isize,
        target_count: i64, target_datatype: Handle, win: Handle
    ];
    get = operations::get[
        origin_addr: *mut u8, origin_count: i32, origin_datatype: Handle, target_rank: i32, target_disp: isize,
        target_count: i32, target_datatype: Handle, win: Handle
    ];
    get_c = operations::get[
        origin_addr: *mut u8, origin_count: i64, origin_datatype: Handle, target_rank: i32, target_disp: isize,
        target_count: i64, target_datatype: Handle, win: Handle
    ];
    accumulate = operations::accumulate[
        origin_addr: *const u8, origin_count: i32, origin_datatype: Handle, target_rank: i32, target_disp: isize,
        target_count: i32, target_datatype: Handle, op: Handle, win: Handle
    ];
    accumulate_c = operations::accumulate[
        origin_addr: *const u8, origin_count: i64, origin_datatype: Handle, target_rank: i32, target_disp: isize,
        target_count: i64, target_datatype: Handle, op: Handle, win: Handle
    ];
    get_accumulate = operations::get_accumulate[
        origin_addr: *const u8, origin_count: i32, origin_datatype: Handle, result_addr: *mut u8, result_count: i32,
        result_datatype: Handle, target_rank: i32, target_disp: isize, target_count: i32, target_datatype: Handle,
        op: Handle, win: Handle
    ];
    get_accumulate_c = operations::get_accumulate[
        origin_addr: *const u8, origin_count: i64, origin_datatype: Handle, result_addr: *mut u8, result_count: i64,
        result_datatype: Handle, target_rank: i32, target_disp: isize, target_count: i64, target_datatype: Handle,
        op: Handle, win: Handle
    ];
    fetch_and_op = operations::fetch_and_op[
        origin_addr: *const u8, result_addr: *mut u8, datatype: Handle, target_rank: i32, target_disp: isize,
        op: Handle, win: Handle
    ];
    compare_and_swap = operations::compare_and_swap[
        origin_addr: *const u8, compare_addr: *const u8, result_addr: *mut u8, datatype: Handle, target_rank: i32,
        target_disp: isize, win: Handle
    ];
    rput = operations::rput[
        origin_addr: *const u8, origin_count: i32, origin_datatype: Handle, target_rank: i32, target_disp: isize,
        target_count: i32, target_datatype: Handle, win: Handle, request: Place<Handle>
    ];
    rput_c = operations::rput[
        origin_addr: *const u8, origin_count: i64, origin_datatype: Handle, target_rank: i32, target_disp: isize,
        target_count: i64, target_datatype: Handle, win: Handle, request: Place<Handle>
    ];
    rget = operations::rget[
        origin_addr: *mut u8, origin_count: i32, origin_datatype: Handle, target_rank: i32, target_disp: isize,
        target_count: i32, target_datatype: Handle, win: Handle, request: Place<Handle>
    ];
    rget_c = operations::rget[
        origin_addr: *mut u8, origin_count: i64, origin_datatype: Handle, target_rank: i32, target_disp: isize,
        target_count: i64, target_datatype: Handle, win: Handle, request: Place<Handle>
    ];
    raccumulate = operations::raccumulate[
        origin_addr: *const u8, origin_count: i32, origin_datatype: Handle, target_rank: i32, target_disp: isize,
        target_count: i32, target_datatype: Handle, op: Handle, win: Handle, request: Place<Handle>
    ];
    raccumulate_c = operations::raccumulate[
        origin_addr: *const u8, origin_count: i64, origin_datatype: Handle, target_rank: i32, target_disp: isize,
        target_count: i64, target_datatype: Handle, op: Handle, win: Handle, request: Place<Handle>
    ];
    rget_accumulate = operations::rget_accumulate[
        origin_addr: *const u8, origin_count: i32, origin_datatype: Handle, result_addr: *mut u8, result_count: i32,
        result_datatype: Handle, target_rank: i32, target_disp: isize, target_count: i32, target_datatype: Handle,
        op: Handle, win: Handle, request: Place<Handle>
    ];
    rget_accumulate_c = operations::rget_accumulate[
        origin_addr: *const u8, origin_count: i64, origin_datatype: Handle, result_addr: *mut u8, result_count: i64,
        result_datatype: Handle, target_rank: i32, target_disp: isize, target_count: i64, target_datatype: Handle,
        op: Handle, win: Handle, request: Place<Handle>
    ];
    win_create = making::create[
        base: *mut u8, size: isize, disp_unit: i32, info: Handle, comm: Handle, win: Place<Handle>
    ];
    win_create_c = making::create[
        base: *mut u8, size: isize, disp_unit: isize, info: Handle, comm: Handle, win: Place<Handle>
    ];
    win_create_dynamic = making::create_dynamic[info: Handle, comm: Handle, win: Place<Handle>];
    win_attach = making::attach[win: Handle, base: *mut u8, size: isize];
    win_detach = making::detach[win: Handle, base: *const u8];
    win_fence = synchronisation::fence[assert: i32, win: Handle];
    win_start = synchronisation::start[group: Handle, assert: i32, win: Handle];
    win_complete = synchronisation::complete[win: Handle];
    win_post = synchronisation::post[group: Handle, assert: i32, win: Handle];
    win_wait = synchronisation::wait_for_origins[win: Handle];
    win_test = synchronisation::test[win: Handle, flag: Place<i32>];
    win_lock = synchronisation::lock[lock_type: i32, rank: i32, assert: i32, win: Handle];
    win_unlock = synchronisation::unlock[rank: i32, win: Handle];
    win_lock_all = synchronisation::lock_all[assert: i32, win: Handle];
    win_unlock_all = synchronisation::unlock_all[win: Handle];
    win_flush = synchronisation::flush[rank: i32, win: Handle];
    win_flush_all = synchronisation::flush_all[win: Handle];
    win_flush_local = synchronisation::flush_local[rank: i32, win: Handle];
    win_flush_local_all = synchronisation::flush_local_all[win: Handle];
    win_sync = synchronisation::sync[win: Handle];
    win_get_group = queries::get_group[win: Handle, group: Place<Handle>];
    win_set_info = queries::set_info[win: Handle, info: Handle];
    win_get_info = queries::get_info[win: Handle, info_used: Place<Handle>];
    win_set_name = queries::set_name[win: Handle, win_name: *const c_char];
    win_get_name = queries::get_name[win: Handle, win_name: Place<c_char>, resultlen: Place<i32>];
    win_set_attr = queries::set_attr[win: Handle, win_keyval: i32, attribute_val: usize];
    win_get_attr = queries::get_attr[win: Handle, win_keyval: i32, attribute_val: Place<usize>, flag: Place<i32>];
    win_delete_attr = queries::delete_attr[win: Handle, win_keyval: i32];
    win_set_errhandler = queries::set_errhandler[win: Handle, errhandler: Handle];
    win_get_errhandler = queries::get_errhandler[win: Handle, errhandler: Place<Handle>];
    win_create_errhandler = errors::calls::win_create_errhandler[win_errhandler_fn: usize, errhandler: Place<Handle>];
    win_call_errhandler = queries::call_errhandler[win: Handle, errorcode: i32];
    win_allocate_there = making::allocate[
        base: *mut u8, size: isize, disp_unit: isize, info: Handle, comm: Handle, win: Place<Handle>
    ];
    win_share = making::allocate_shared[
        size: isize, disp_unit: isize, info: Handle, comm: Handle, win: Place<Handle>, bytes: Place<usize>
    ];
    win_map = making::map_shared[win: Handle, memory: *mut u8, base: Place<*mut u8>];
    win_give_up = making::free[win: Place<Handle>, memory: Place<*mut u8>];
}
