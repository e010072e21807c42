//! All functions but those of datatypes and windows, as `atoll/mpi_core.h` has them.

use core::ffi::{c_char, c_void};

use super::{
    attributes, buffered,
    collective::{self, plan::described::CCollective},
    communicators::{making, queries},
    environment, errors, groups,
    handles::Handle,
    infos, intercommunicators,
    listing::table,
    matched_probes,
    messages::{self, CMessage},
    partitioned,
    place::Place,
    requests::calls::{
        self as requests,
        Ending::{Looks, Tests, Waits},
    },
    sessions,
    status::{self, Status},
    topologies::{self, graphs, grids},
};

table! {
    init = environment::init[count: *mut i32, arguments: *mut c_void];
    init_thread = environment::init_thread[count: *mut i32, arguments: *mut c_void, wanted: i32, provided: Place<i32>]
        with (count, arguments, wanted, Some(provided));
    finalize = environment::finalize[];
    initialized = environment::initialized[flag: Place<i32>];
    finalized = environment::finalized[flag: Place<i32>];
    query_thread = environment::query_thread[provided: Place<i32>];
    is_thread_main = environment::is_thread_main[flag: Place<i32>];
    abort = environment::abort[comm: Handle, code: i32];
    get_version = environment::get_version[version: Place<i32>, subversion: Place<i32>];
    get_library_version = environment::get_library_version[text: Place<c_char>, len: Place<i32>];
    get_processor_name = environment::get_processor_name[text: Place<c_char>, len: Place<i32>];

    error_string = errors::calls::error_string[code: i32, text: Place<c_char>, len: Place<i32>];
    error_class = errors::calls::error_class[code: i32, class: Place<i32>];
    add_error_class = errors::calls::add_error_class[class: Place<i32>];
    add_error_code = errors::calls::add_error_code[class: i32, code: Place<i32>];
    add_error_string = errors::calls::add_error_string[code: i32, text: *const c_char];
    remove_error_class = errors::calls::remove_error_class[class: i32];
    remove_error_code = errors::calls::remove_error_code[code: i32];
    remove_error_string = errors::calls::remove_error_string[code: i32];
    comm_create_errhandler = errors::calls::comm_create_errhandler[function: usize, handler: Place<Handle>];
    comm_set_errhandler = errors::calls::comm_set_errhandler[comm: Handle, handler: Handle];
    comm_get_errhandler = errors::calls::comm_get_errhandler[comm: Handle, handler: Place<Handle>];
    comm_call_errhandler = errors::calls::comm_call_errhandler[comm: Handle, code: i32];
    refuse = errors::calls::refuse[name: *const c_char, class: i32, comm: Handle];
    no_place = errors::calls::no_place[name: *const c_char, comm: Handle];
    file_create_errhandler = errors::calls::file_create_errhandler[function: usize, handler: Place<Handle>];
    file_set_errhandler = errors::calls::file_set_errhandler[file: Handle, handler: Handle];
    file_get_errhandler = errors::calls::file_get_errhandler[file: Handle, handler: Place<Handle>];
    file_call_errhandler = errors::calls::file_call_errhandler[file: Handle, code: i32];
    file_refuse = errors::calls::file_refuse[name: *const c_char];
    errhandler_free = errors::calls::errhandler_free[handler: Place<Handle>];

    comm_size = queries::comm_size[comm: Handle, size: Place<i32>];
    comm_rank = queries::comm_rank[comm: Handle, rank: Place<i32>];
    comm_remote_size = queries::comm_remote_size[comm: Handle, size: Place<i32>];
    comm_test_inter = queries::comm_test_inter[comm: Handle, flag: Place<i32>];
    comm_group = queries::comm_group[comm: Handle, group: Place<Handle>];
    comm_remote_group = queries::comm_remote_group[comm: Handle, group: Place<Handle>];
    comm_compare = queries::comm_compare[one: Handle, other: Handle, result: Place<i32>];
    comm_dup = making::comm_dup[comm: Handle, made: Place<Handle>];
    comm_dup_with_info = making::comm_dup_with_info[comm: Handle, info: Handle, made: Place<Handle>];
    comm_idup = making::comm_idup[comm: Handle, made: Place<Handle>, request: Place<Handle>];
    comm_split = making::comm_split[comm: Handle, color: i32, key: i32, made: Place<Handle>];
    comm_split_type =
        making::comm_split_type[comm: Handle, kind: i32, key: i32, info: Handle, made: Place<Handle>];
    comm_create = making::comm_create[comm: Handle, group: Handle, made: Place<Handle>];
    comm_create_group = making::comm_create_group[comm: Handle, group: Handle, tag: i32, made: Place<Handle>];
    comm_free = making::comm_free[comm: Place<Handle>];
    comm_disconnect = making::comm_disconnect[comm: Place<Handle>];
    comm_get_name = queries::comm_get_name[comm: Handle, name: Place<c_char>, len: Place<i32>];
    comm_set_name = queries::comm_set_name[comm: Handle, name: *const c_char];
    intercomm_create = intercommunicators::intercomm_create[
        local: Handle, local_leader: i32, peer: Handle, remote_leader: i32, tag: i32, made: Place<Handle>,
    ];
    intercomm_merge = intercommunicators::intercomm_merge[comm: Handle, is_high: i32, made: Place<Handle>];

    comm_create_keyval =
        attributes::calls::comm_create_keyval[copy: usize, delete: usize, key: Place<i32>, extra: *mut c_void];
    comm_free_keyval = attributes::calls::comm_free_keyval[key: Place<i32>];
    comm_set_attr = attributes::calls::comm_set_attr[comm: Handle, key: i32, value: usize];
    comm_get_attr = attributes::calls::comm_get_attr[comm: Handle, key: i32, value: Place<usize>, flag: Place<i32>];
    comm_delete_attr = attributes::calls::comm_delete_attr[comm: Handle, key: i32];
    type_create_keyval =
        attributes::calls::type_create_keyval[copy: usize, delete: usize, key: Place<i32>, extra: *mut c_void];
    type_free_keyval = attributes::calls::type_free_keyval[key: Place<i32>];
    win_create_keyval = attributes::calls::win_create_keyval[copy: usize, delete: usize, key: Place<i32>, extra: *mut c_void];
    win_free_keyval = attributes::calls::win_free_keyval[key: Place<i32>];

    group_size = groups::calls::group_size[group: Handle, size: Place<i32>];
    group_rank = groups::calls::group_rank[group: Handle, rank: Place<i32>];
    group_translate_ranks = groups::calls::group_translate_ranks[
        group: Handle, count: i32, ranks: *const i32, other: Handle, translated: *mut i32,
    ];
    group_compare = groups::calls::group_compare[group: Handle, other: Handle, result: Place<i32>];
    group_union = groups::calls::group_union[group: Handle, other: Handle, made: Place<Handle>];
    group_intersection = groups::calls::group_intersection[group: Handle, other: Handle, made: Place<Handle>];
    group_difference = groups::calls::group_difference[group: Handle, other: Handle, made: Place<Handle>];
    group_incl = groups::calls::group_incl[group: Handle, count: i32, ranks: *const i32, made: Place<Handle>];
    group_excl = groups::calls::group_excl[group: Handle, count: i32, ranks: *const i32, made: Place<Handle>];
    group_range_incl = groups::calls::group_range_incl[group: Handle, count: i32, ranges: *const [i32; 3], made: Place<Handle>];
    group_range_excl = groups::calls::group_range_excl[group: Handle, count: i32, ranges: *const [i32; 3], made: Place<Handle>];
    group_free = groups::calls::group_free[group: Place<Handle>];

    info_create = infos::calls::info_create[info: Place<Handle>];
    info_dup = infos::calls::info_dup[info: Handle, made: Place<Handle>];
    info_free = infos::calls::info_free[info: Place<Handle>];
    info_set = infos::calls::info_set[info: Handle, key: *const c_char, value: *const c_char];
    info_delete = infos::calls::info_delete[info: Handle, key: *const c_char];
    info_get_string = infos::calls::info_get_string[
        info: Handle, key: *const c_char, room: Place<i32>, value: *mut c_char, flag: Place<i32>,
    ];
    info_get =
        infos::calls::info_get[info: Handle, key: *const c_char, len: i32, value: Place<c_char>, flag: Place<i32>];
    info_get_valuelen = infos::calls::info_get_valuelen[info: Handle, key: *const c_char, len: Place<i32>, flag: Place<i32>];
    info_get_nkeys = infos::calls::info_get_nkeys[info: Handle, count: Place<i32>];
    info_get_nthkey = infos::calls::info_get_nthkey[info: Handle, at: i32, key: Place<c_char>];

    message = messages::calls::message[
        name: *const c_char, mode: i32, form: i32, message: *const CMessage, comm: Handle, request: *mut Handle,
        status: *mut Status,
    ] with (name, [mode, form], message, comm, request, status);
    exchange = messages::calls::exchange[
        name: *const c_char, form: i32, send: *const CMessage, receive: *const CMessage, comm: Handle,
        request: *mut Handle, status: *mut Status,
    ];
    probe_for = matched_probes::calls::probe_for[
        name: *const c_char, rank: i32, tag: i32, comm: Handle, flag: *mut i32, message: *mut Handle,
        status: *mut Status,
    ] with (name, [rank, tag], comm, flag, message, status);
    receive_found = matched_probes::calls::receive_found[
        name: *const c_char, form: i32, address: *mut u8, count: i64, datatype: Handle, message: Place<Handle>,
        request: *mut Handle, status: *mut Status,
    ] with (name, form, (address, count, datatype), message, request, status);
    buffer_attach_c = buffered::calls::attach[buffer: usize, bytes: i64] with (None, buffer, bytes);
    buffer_detach_c = buffered::calls::detach[buffer: Place<usize>, bytes: Place<i64>] with (None, buffer, bytes);
    buffer_flush = buffered::calls::flush[] with (None);
    buffer_iflush = buffered::calls::iflush[request: Place<Handle>] with (None, request);
    comm_attach_buffer_c = buffered::calls::attach[comm: Handle, buffer: usize, bytes: i64] with (Some(comm), buffer, bytes);
    comm_detach_buffer_c =
        buffered::calls::detach[comm: Handle, buffer: Place<usize>, bytes: Place<i64>] with (Some(comm), buffer, bytes);
    comm_flush_buffer = buffered::calls::flush[comm: Handle] with (Some(comm));
    comm_iflush_buffer = buffered::calls::iflush[comm: Handle, request: Place<Handle>] with (Some(comm), request);

    wait = requests::end_one[request: Place<Handle>, status: *mut Status]
        with (request.read(), Some(request), Waits, None, status);
    test = requests::end_one[request: Place<Handle>, flag: Place<i32>, status: *mut Status]
        with (request.read(), Some(request), Tests, Some(flag), status);
    request_get_status = requests::end_one[request: Handle, flag: Place<i32>, status: *mut Status]
        with (request, None, Looks, Some(flag), status);
    waitall = requests::end_all[count: i32, requests: *mut Handle, statuses: *mut Status]
        with ((count, requests), Waits, None, statuses);
    testall = requests::end_all[count: i32, requests: *mut Handle, flag: Place<i32>, statuses: *mut Status]
        with ((count, requests), Tests, Some(flag), statuses);
    request_get_status_all = requests::end_all[count: i32, requests: *mut Handle, flag: Place<i32>, statuses: *mut Status]
        with ((count, requests), Looks, Some(flag), statuses);
    waitany = requests::end_any[count: i32, requests: *mut Handle, index: Place<i32>, status: *mut Status]
        with ((count, requests), index, Waits, None, status);
    testany = requests::end_any[
        count: i32, requests: *mut Handle, index: Place<i32>, flag: Place<i32>, status: *mut Status,
    ] with ((count, requests), index, Tests, Some(flag), status);
    request_get_status_any = requests::end_any[
        count: i32, requests: *mut Handle, index: Place<i32>, flag: Place<i32>, status: *mut Status,
    ] with ((count, requests), index, Looks, Some(flag), status);
    waitsome = requests::end_some[
        count: i32, requests: *mut Handle, found: Place<i32>, indices: *mut i32, statuses: *mut Status,
    ] with ((count, requests), (found, indices), Waits, statuses);
    testsome = requests::end_some[
        count: i32, requests: *mut Handle, found: Place<i32>, indices: *mut i32, statuses: *mut Status,
    ] with ((count, requests), (found, indices), Tests, statuses);
    request_get_status_some = requests::end_some[
        count: i32, requests: *mut Handle, found: Place<i32>, indices: *mut i32, statuses: *mut Status,
    ] with ((count, requests), (found, indices), Looks, statuses);
    request_free = requests::request_free[request: Place<Handle>];
    cancel = requests::cancel[request: Place<Handle>];
    start = requests::start[request: Place<Handle>] with (request.read());
    startall = requests::startall[count: i32, requests: *mut Handle];
    grequest_start = requests::grequest_start[
        query: usize, free: usize, cancel: usize, extra: *mut c_void, request: Place<Handle>,
    ] with ([query, free, cancel], extra, request);
    grequest_complete = requests::grequest_complete[request: Handle];
    partitioned_init = partitioned::calls::make[
        name: *const c_char, receives: i32, parts: i32, message: *const CMessage, comm: Handle, request: Place<Handle>,
    ] with ((name, receives), parts, message, comm, request);
    pready = partitioned::calls::pready[part: i32, request: Handle];
    pready_range = partitioned::calls::pready_range[low: i32, high: i32, request: Handle];
    pready_list = partitioned::calls::pready_list[count: i32, parts: *const i32, request: Handle];
    parrived = partitioned::calls::parrived[request: Handle, part: i32, flag: Place<i32>];
    session_open = sessions::session_open[];
    session_init = sessions::session_init[info: Handle, handler: Handle, session: Place<Handle>];
    session_finalize = sessions::session_finalize[session: Place<Handle>];
    session_create_errhandler = errors::calls::session_create_errhandler[function: usize, handler: Place<Handle>];
    session_set_errhandler = sessions::session_set_errhandler[session: Handle, handler: Handle];
    session_get_errhandler = sessions::session_get_errhandler[session: Handle, handler: Place<Handle>];
    session_call_errhandler = sessions::session_call_errhandler[session: Handle, code: i32];
    session_get_num_psets = sessions::session_get_num_psets[session: Handle, info: Handle, count: Place<i32>];
    session_get_nth_pset = sessions::session_get_nth_pset[
        session: Handle, info: Handle, number: i32, room: Place<i32>, name: *mut c_char,
    ];
    group_from_session_pset =
        sessions::group_from_session_pset[session: Handle, name: *const c_char, group: Place<Handle>];
    comm_create_from_group = sessions::comm_create_from_group[
        group: Handle, text: *const c_char, info: Handle, handler: Handle, made: Place<Handle>,
    ];
    intercomm_create_from_groups = sessions::intercomm_create_from_groups[
        local: Handle, local_leader: i32, remote: Handle, remote_leader: i32, text: *const c_char, info: Handle,
        handler: Handle, made: Place<Handle>,
    ] with ([local, remote], [local_leader, remote_leader], text, handler, made);
    get_count = status::calls::get_count[status: Place<Status>, datatype: Handle, count: Place<i32>];
    get_count_c = status::calls::get_count_c[status: Place<Status>, datatype: Handle, count: Place<i64>];
    status_set_elements_c =
        status::calls::status_set_elements_c[status: Place<Status>, datatype: Handle, count: i64];
    test_cancelled = status::calls::test_cancelled[status: Place<Status>, flag: Place<i32>];
    status_set_cancelled = status::calls::status_set_cancelled[status: Place<Status>, flag: i32];

    collective = collective::calls::collective[call: *const CCollective, request: *mut Handle];

    cart_create = grids::calls::cart_create[
        comm: Handle, dimensions: i32, lengths: *const i32, rings: *const i32, reorder: i32, made: Place<Handle>,
    ];
    cartdim_get = grids::calls::cartdim_get[comm: Handle, dimensions: Place<i32>];
    cart_get = grids::calls::cart_get[comm: Handle, most: i32, lengths: *mut i32, rings: *mut i32, places: *mut i32];
    cart_rank = grids::calls::cart_rank[comm: Handle, places: *const i32, rank: Place<i32>];
    cart_coords = grids::calls::cart_coords[comm: Handle, rank: i32, most: i32, places: *mut i32];
    cart_shift = grids::calls::cart_shift[
        comm: Handle, dimension: i32, steps: i32, source: Place<i32>, destination: Place<i32>,
    ];
    cart_sub = grids::calls::cart_sub[comm: Handle, keeps: *const i32, made: Place<Handle>];
    cart_map =
        grids::calls::cart_map[comm: Handle, dimensions: i32, lengths: *const i32, rings: *const i32, rank: Place<i32>];
    dims_create = grids::calls::dims_create[nodes: i32, dimensions: i32, lengths: *mut i32];
    topo_test = topologies::making::topo_test[comm: Handle, kind: Place<i32>];
    graph_create = graphs::calls::graph_create[
        comm: Handle, nodes: i32, ends: *const i32, edges: *const i32, reorder: i32, made: Place<Handle>,
    ];
    graphdims_get = graphs::calls::graphdims_get[comm: Handle, nodes: Place<i32>, edges: Place<i32>];
    graph_get =
        graphs::calls::graph_get[comm: Handle, most_ends: i32, most_edges: i32, ends: *mut i32, edges: *mut i32];
    graph_map =
        graphs::calls::graph_map[comm: Handle, nodes: i32, ends: *const i32, edges: *const i32, rank: Place<i32>];
    graph_neighbors_count = graphs::calls::graph_neighbors_count[comm: Handle, rank: i32, count: Place<i32>];
    graph_neighbors = graphs::calls::graph_neighbors[comm: Handle, rank: i32, most: i32, neighbours: *mut i32];
    dist_graph_create_adjacent = graphs::calls::dist_graph_create_adjacent[
        comm: Handle, in_degree: i32, sources: *const i32, in_weights: *const i32, out_degree: i32,
        destinations: *const i32, out_weights: *const i32, info: Handle, reorder: i32, made: Place<Handle>,
    ] with (comm, [in_degree, out_degree], [sources, in_weights, destinations, out_weights], made);
    dist_graph_create = graphs::calls::dist_graph_create[
        comm: Handle, count: i32, from: *const i32, degrees: *const i32, to: *const i32, weights: *const i32, info: Handle,
        reorder: i32, made: Place<Handle>,
    ] with (comm, count, [from, degrees, to, weights], made);
    dist_graph_neighbors_count = graphs::calls::dist_graph_neighbors_count[
        comm: Handle, sources: Place<i32>, destinations: Place<i32>, is_weighted: Place<i32>,
    ];
    dist_graph_neighbors = graphs::calls::dist_graph_neighbors[
        comm: Handle, most_sources: i32, sources: *mut i32, in_weights: *mut i32, most_destinations: i32,
        destinations: *mut i32, out_weights: *mut i32,
    ] with (comm, [most_sources, most_destinations], [sources, destinations], [in_weights, out_weights]);
}
