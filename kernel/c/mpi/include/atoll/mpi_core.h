/*
 * Functions of MPI, but for those of datatypes and windows: CALL(name, (parameters), names of parameters). The same list as
 * `families/mpi/calls.rs`, entry by entry. A SERVICE is what several functions have in common.
 */
CALL(Init, (int *argc, char ***argv), argc, argv)
CALL(Init_thread, (int *argc, char ***argv, int required, int *provided), argc, argv, required, provided)
CALL0(Finalize)
CALL(Initialized, (int *flag), flag)
CALL(Finalized, (int *flag), flag)
CALL(Query_thread, (int *provided), provided)
CALL(Is_thread_main, (int *flag), flag)
CALL(Abort, (MPI_Comm comm, int errorcode), comm, errorcode)
CALL(Get_version, (int *version, int *subversion), version, subversion)
CALL(Get_library_version, (char *version, int *resultlen), version, resultlen)
CALL(Get_processor_name, (char *name, int *resultlen), name, resultlen)
CALL(Error_string, (int errorcode, char *string, int *resultlen), errorcode, string, resultlen)
CALL(Error_class, (int errorcode, int *errorclass), errorcode, errorclass)
CALL(Add_error_class, (int *errorclass), errorclass)
CALL(Add_error_code, (int errorclass, int *errorcode), errorclass, errorcode)
CALL(Add_error_string, (int errorcode, const char *string), errorcode, string)
CALL(Remove_error_class, (int errorclass), errorclass)
CALL(Remove_error_code, (int errorcode), errorcode)
CALL(Remove_error_string, (int errorcode), errorcode)
CALL(Comm_create_errhandler, (MPI_Comm_errhandler_function *comm_errhandler_fn, MPI_Errhandler *errhandler),
     comm_errhandler_fn, errhandler)
CALL(Comm_set_errhandler, (MPI_Comm comm, MPI_Errhandler errhandler), comm, errhandler)
CALL(Comm_get_errhandler, (MPI_Comm comm, MPI_Errhandler *errhandler), comm, errhandler)
CALL(Comm_call_errhandler, (MPI_Comm comm, int errorcode), comm, errorcode)
SERVICE(refuse, (const char *name, int errorclass, MPI_Comm comm), name, errorclass, comm)
SERVICE(no_place, (const char *name, MPI_Comm comm), name, comm)
CALL(File_create_errhandler, (MPI_File_errhandler_function *file_errhandler_fn, MPI_Errhandler *errhandler),
     file_errhandler_fn, errhandler)
CALL(File_set_errhandler, (MPI_File file, MPI_Errhandler errhandler), file, errhandler)
CALL(File_get_errhandler, (MPI_File file, MPI_Errhandler *errhandler), file, errhandler)
CALL(File_call_errhandler, (MPI_File fh, int errorcode), fh, errorcode)
SERVICE(file_refuse, (const char *name), name)
CALL(Errhandler_free, (MPI_Errhandler *errhandler), errhandler)
CALL(Comm_size, (MPI_Comm comm, int *size), comm, size)
CALL(Comm_rank, (MPI_Comm comm, int *rank), comm, rank)
CALL(Comm_remote_size, (MPI_Comm comm, int *size), comm, size)
CALL(Comm_test_inter, (MPI_Comm comm, int *flag), comm, flag)
CALL(Comm_group, (MPI_Comm comm, MPI_Group *group), comm, group)
CALL(Comm_remote_group, (MPI_Comm comm, MPI_Group *group), comm, group)
CALL(Comm_compare, (MPI_Comm comm1, MPI_Comm comm2, int *result), comm1, comm2, result)
CALL(Comm_dup, (MPI_Comm comm, MPI_Comm *newcomm), comm, newcomm)
CALL(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm), comm, info, newcomm)
CALL(Comm_idup, (MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request), comm, newcomm, request)
CALL(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *newcomm), comm, color, key, newcomm)
CALL(Comm_split_type, (MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm), comm, split_type,
     key, info, newcomm)
CALL(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm), comm, group, newcomm)
CALL(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm), comm, group, tag, newcomm)
CALL(Comm_free, (MPI_Comm *comm), comm)
CALL(Comm_disconnect, (MPI_Comm *comm), comm)
CALL(Comm_get_name, (MPI_Comm comm, char *comm_name, int *resultlen), comm, comm_name, resultlen)
CALL(Comm_set_name, (MPI_Comm comm, const char *comm_name), comm, comm_name)
CALL(Intercomm_create, (MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag,
     MPI_Comm *newintercomm), local_comm, local_leader, peer_comm, remote_leader, tag, newintercomm)
CALL(Intercomm_merge, (MPI_Comm intercomm, int high, MPI_Comm *newintracomm), intercomm, high, newintracomm)
CALL(Comm_create_keyval, (MPI_Comm_copy_attr_function *comm_copy_attr_fn, MPI_Comm_delete_attr_function
     *comm_delete_attr_fn, int *comm_keyval, void *extra_state), comm_copy_attr_fn, comm_delete_attr_fn, comm_keyval,
     extra_state)
CALL(Comm_free_keyval, (int *comm_keyval), comm_keyval)
CALL(Comm_set_attr, (MPI_Comm comm, int comm_keyval, void *attribute_val), comm, comm_keyval, attribute_val)
CALL(Comm_get_attr, (MPI_Comm comm, int comm_keyval, void *attribute_val, int *flag), comm, comm_keyval,
     attribute_val, flag)
CALL(Comm_delete_attr, (MPI_Comm comm, int comm_keyval), comm, comm_keyval)
CALL(Type_create_keyval, (MPI_Type_copy_attr_function *type_copy_attr_fn, MPI_Type_delete_attr_function
     *type_delete_attr_fn, int *type_keyval, void *extra_state), type_copy_attr_fn, type_delete_attr_fn, type_keyval,
     extra_state)
CALL(Type_free_keyval, (int *type_keyval), type_keyval)
CALL(Win_create_keyval, (MPI_Win_copy_attr_function *win_copy_attr_fn, MPI_Win_delete_attr_function
     *win_delete_attr_fn, int *win_keyval, void *extra_state), win_copy_attr_fn, win_delete_attr_fn, win_keyval,
     extra_state)
CALL(Win_free_keyval, (int *win_keyval), win_keyval)
CALL(Group_size, (MPI_Group group, int *size), group, size)
CALL(Group_rank, (MPI_Group group, int *rank), group, rank)
CALL(Group_translate_ranks, (MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int ranks2[]), group1, n,
     ranks1, group2, ranks2)
CALL(Group_compare, (MPI_Group group1, MPI_Group group2, int *result), group1, group2, result)
CALL(Group_union, (MPI_Group group1, MPI_Group group2, MPI_Group *newgroup), group1, group2, newgroup)
CALL(Group_intersection, (MPI_Group group1, MPI_Group group2, MPI_Group *newgroup), group1, group2, newgroup)
CALL(Group_difference, (MPI_Group group1, MPI_Group group2, MPI_Group *newgroup), group1, group2, newgroup)
CALL(Group_incl, (MPI_Group group, int n, const int ranks[], MPI_Group *newgroup), group, n, ranks, newgroup)
CALL(Group_excl, (MPI_Group group, int n, const int ranks[], MPI_Group *newgroup), group, n, ranks, newgroup)
CALL(Group_range_incl, (MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup), group, n, ranges, newgroup)
CALL(Group_range_excl, (MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup), group, n, ranges, newgroup)
CALL(Group_free, (MPI_Group *group), group)
CALL(Info_create, (MPI_Info *info), info)
CALL(Info_dup, (MPI_Info info, MPI_Info *newinfo), info, newinfo)
CALL(Info_free, (MPI_Info *info), info)
CALL(Info_set, (MPI_Info info, const char *key, const char *value), info, key, value)
CALL(Info_delete, (MPI_Info info, const char *key), info, key)
CALL(Info_get_string, (MPI_Info info, const char *key, int *buflen, char *value, int *flag), info, key, buflen, value,
     flag)
CALL(Info_get, (MPI_Info info, const char *key, int valuelen, char *value, int *flag), info, key, valuelen, value,
     flag)
CALL(Info_get_valuelen, (MPI_Info info, const char *key, int *valuelen, int *flag), info, key, valuelen, flag)
CALL(Info_get_nkeys, (MPI_Info info, int *nkeys), info, nkeys)
CALL(Info_get_nthkey, (MPI_Info info, int n, char *key), info, n, key)
SERVICE(message, (const char *name, int mode, int form, const struct atoll_mpi_message *message, MPI_Comm comm,
     MPI_Request *request, MPI_Status *status), name, mode, form, message, comm, request, status)
SERVICE(exchange, (const char *name, int form, const struct atoll_mpi_message *send, const struct atoll_mpi_message
     *receive, MPI_Comm comm, MPI_Request *request, MPI_Status *status), name, form, send, receive, comm, request,
     status)
SERVICE(probe_for, (const char *name, int rank, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status
     *status), name, rank, tag, comm, flag, message, status)
SERVICE(receive_found, (const char *name, int form, void *address, MPI_Count count, MPI_Datatype type, MPI_Message
     *message, MPI_Request *request, MPI_Status *status), name, form, address, count, type, message, request, status)
CALL(Buffer_attach_c, (void *buffer, MPI_Count size), buffer, size)
CALL(Buffer_detach_c, (void *buffer_addr, MPI_Count *size), buffer_addr, size)
CALL0(Buffer_flush)
CALL(Buffer_iflush, (MPI_Request *request), request)
CALL(Comm_attach_buffer_c, (MPI_Comm comm, void *buffer, MPI_Count size), comm, buffer, size)
CALL(Comm_detach_buffer_c, (MPI_Comm comm, void *buffer_addr, MPI_Count *size), comm, buffer_addr, size)
CALL(Comm_flush_buffer, (MPI_Comm comm), comm)
CALL(Comm_iflush_buffer, (MPI_Comm comm, MPI_Request *request), comm, request)
CALL(Wait, (MPI_Request *request, MPI_Status *status), request, status)
CALL(Test, (MPI_Request *request, int *flag, MPI_Status *status), request, flag, status)
CALL(Request_get_status, (MPI_Request request, int *flag, MPI_Status *status), request, flag, status)
CALL(Waitall, (int count, MPI_Request array_of_requests[], MPI_Status *array_of_statuses), count, array_of_requests,
     array_of_statuses)
CALL(Testall, (int count, MPI_Request array_of_requests[], int *flag, MPI_Status *array_of_statuses), count,
     array_of_requests, flag, array_of_statuses)
CALL(Request_get_status_all, (int count, const MPI_Request array_of_requests[], int *flag, MPI_Status
     *array_of_statuses), count, array_of_requests, flag, array_of_statuses)
CALL(Waitany, (int count, MPI_Request array_of_requests[], int *indx, MPI_Status *status), count, array_of_requests,
     indx, status)
CALL(Testany, (int count, MPI_Request array_of_requests[], int *indx, int *flag, MPI_Status *status), count,
     array_of_requests, indx, flag, status)
CALL(Request_get_status_any, (int count, const MPI_Request array_of_requests[], int *indx, int *flag, MPI_Status
     *status), count, array_of_requests, indx, flag, status)
CALL(Waitsome, (int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[], MPI_Status
     *array_of_statuses), incount, array_of_requests, outcount, array_of_indices, array_of_statuses)
CALL(Testsome, (int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[], MPI_Status
     *array_of_statuses), incount, array_of_requests, outcount, array_of_indices, array_of_statuses)
CALL(Request_get_status_some, (int incount, const MPI_Request array_of_requests[], int *outcount, int
     array_of_indices[], MPI_Status *array_of_statuses), incount, array_of_requests, outcount, array_of_indices,
     array_of_statuses)
CALL(Request_free, (MPI_Request *request), request)
CALL(Cancel, (MPI_Request *request), request)
CALL(Start, (MPI_Request *request), request)
CALL(Startall, (int count, MPI_Request array_of_requests[]), count, array_of_requests)
CALL(Grequest_start, (MPI_Grequest_query_function *query_fn, MPI_Grequest_free_function *free_fn,
     MPI_Grequest_cancel_function *cancel_fn, void *extra_state, MPI_Request *request), query_fn, free_fn, cancel_fn,
     extra_state, request)
CALL(Grequest_complete, (MPI_Request request), request)
SERVICE(partitioned_init, (const char *name, int receives, int partitions, const struct atoll_mpi_message *message,
     MPI_Comm comm, MPI_Request *request), name, receives, partitions, message, comm, request)
CALL(Pready, (int partition, MPI_Request request), partition, request)
CALL(Pready_range, (int partition_low, int partition_high, MPI_Request request), partition_low, partition_high, request)
CALL(Pready_list, (int length, const int array_of_partitions[], MPI_Request request), length, array_of_partitions, request)
CALL(Parrived, (MPI_Request request, int partition, int *flag), request, partition, flag)
SERVICE0(session_open)
SERVICE(session_init, (MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session), info, errhandler, session)
CALL(Session_finalize, (MPI_Session *session), session)
CALL(Session_create_errhandler, (MPI_Session_errhandler_function *session_errhandler_fn, MPI_Errhandler *errhandler),
     session_errhandler_fn, errhandler)
CALL(Session_set_errhandler, (MPI_Session session, MPI_Errhandler errhandler), session, errhandler)
CALL(Session_get_errhandler, (MPI_Session session, MPI_Errhandler *errhandler), session, errhandler)
CALL(Session_call_errhandler, (MPI_Session session, int errorcode), session, errorcode)
CALL(Session_get_num_psets, (MPI_Session session, MPI_Info info, int *npset_names), session, info, npset_names)
CALL(Session_get_nth_pset, (MPI_Session session, MPI_Info info, int n, int *pset_len, char *pset_name), session, info,
     n, pset_len, pset_name)
CALL(Group_from_session_pset, (MPI_Session session, const char *pset_name, MPI_Group *newgroup), session, pset_name,
     newgroup)
CALL(Comm_create_from_group, (MPI_Group group, const char *stringtag, MPI_Info info, MPI_Errhandler errhandler,
     MPI_Comm *newcomm), group, stringtag, info, errhandler, newcomm)
CALL(Intercomm_create_from_groups, (MPI_Group local_group, int local_leader, MPI_Group remote_group, int
     remote_leader, const char *stringtag, MPI_Info info, MPI_Errhandler errhandler, MPI_Comm *newintercomm),
     local_group, local_leader, remote_group, remote_leader, stringtag, info, errhandler, newintercomm)
CALL(Get_count, (const MPI_Status *status, MPI_Datatype datatype, int *count), status, datatype, count)
CALL(Get_count_c, (const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count), status, datatype, count)
CALL(Status_set_elements_c, (MPI_Status *status, MPI_Datatype datatype, MPI_Count count), status, datatype, count)
CALL(Test_cancelled, (const MPI_Status *status, int *flag), status, flag)
CALL(Status_set_cancelled, (MPI_Status *status, int flag), status, flag)
SERVICE(collective, (const struct atoll_mpi_collective *call, MPI_Request *request), call, request)
CALL(Cart_create, (MPI_Comm comm_old, int ndims, const int dims[], const int periods[], int reorder, MPI_Comm
     *comm_cart), comm_old, ndims, dims, periods, reorder, comm_cart)
CALL(Cartdim_get, (MPI_Comm comm, int *ndims), comm, ndims)
CALL(Cart_get, (MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[]), comm, maxdims, dims, periods,
     coords)
CALL(Cart_rank, (MPI_Comm comm, const int coords[], int *rank), comm, coords, rank)
CALL(Cart_coords, (MPI_Comm comm, int rank, int maxdims, int coords[]), comm, rank, maxdims, coords)
CALL(Cart_shift, (MPI_Comm comm, int direction, int disp, int *rank_source, int *rank_dest), comm, direction, disp,
     rank_source, rank_dest)
CALL(Cart_sub, (MPI_Comm comm, const int remain_dims[], MPI_Comm *newcomm), comm, remain_dims, newcomm)
CALL(Cart_map, (MPI_Comm comm, int ndims, const int dims[], const int periods[], int *newrank), comm, ndims, dims,
     periods, newrank)
CALL(Dims_create, (int nnodes, int ndims, int dims[]), nnodes, ndims, dims)
CALL(Topo_test, (MPI_Comm comm, int *status), comm, status)
CALL(Graph_create, (MPI_Comm comm_old, int nnodes, const int indx[], const int edges[], int reorder, MPI_Comm
     *comm_graph), comm_old, nnodes, indx, edges, reorder, comm_graph)
CALL(Graphdims_get, (MPI_Comm comm, int *nnodes, int *nedges), comm, nnodes, nedges)
CALL(Graph_get, (MPI_Comm comm, int maxindex, int maxedges, int indx[], int edges[]), comm, maxindex, maxedges, indx,
     edges)
CALL(Graph_map, (MPI_Comm comm, int nnodes, const int indx[], const int edges[], int *newrank), comm, nnodes, indx,
     edges, newrank)
CALL(Graph_neighbors_count, (MPI_Comm comm, int rank, int *nneighbors), comm, rank, nneighbors)
CALL(Graph_neighbors, (MPI_Comm comm, int rank, int maxneighbors, int neighbors[]), comm, rank, maxneighbors,
     neighbors)
CALL(Dist_graph_create_adjacent, (MPI_Comm comm_old, int indegree, const int sources[], const int sourceweights[], int
     outdegree, const int destinations[], const int destweights[], MPI_Info info, int reorder, MPI_Comm
     *comm_dist_graph), comm_old, indegree, sources, sourceweights, outdegree, destinations, destweights, info,
     reorder, comm_dist_graph)
CALL(Dist_graph_create, (MPI_Comm comm_old, int n, const int sources[], const int degrees[], const int destinations[],
     const int weights[], MPI_Info info, int reorder, MPI_Comm *comm_dist_graph), comm_old, n, sources, degrees,
     destinations, weights, info, reorder, comm_dist_graph)
CALL(Dist_graph_neighbors_count, (MPI_Comm comm, int *indegree, int *outdegree, int *weighted), comm, indegree,
     outdegree, weighted)
CALL(Dist_graph_neighbors, (MPI_Comm comm, int maxindegree, int sources[], int sourceweights[], int maxoutdegree, int
     destinations[], int destweights[]), comm, maxindegree, sources, sourceweights, maxoutdegree, destinations,
     destweights)
