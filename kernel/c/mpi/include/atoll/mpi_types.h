/* Functions of datatypes and operators, as `atoll/mpi_core.h` has the others. The same list as `families/mpi/datatypes/calls.rs`. */
CALL(Type_contiguous, (int count, MPI_Datatype oldtype, MPI_Datatype *newtype), count, oldtype, newtype)
CALL(Type_contiguous_c, (MPI_Count count, MPI_Datatype oldtype, MPI_Datatype *newtype), count, oldtype, newtype)
CALL(Type_vector, (int count, int blocklength, int stride, MPI_Datatype oldtype, MPI_Datatype *newtype), count,
     blocklength, stride, oldtype, newtype)
CALL(Type_vector_c, (MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype, MPI_Datatype
     *newtype), count, blocklength, stride, oldtype, newtype)
CALL(Type_create_hvector, (int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype),
     count, blocklength, stride, oldtype, newtype)
CALL(Type_create_hvector_c, (MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype,
     MPI_Datatype *newtype), count, blocklength, stride, oldtype, newtype)
CALL(Type_indexed, (int count, const int blocklengths[], const int displacements[], MPI_Datatype oldtype, MPI_Datatype
     *newtype), count, blocklengths, displacements, oldtype, newtype)
CALL(Type_indexed_c, (MPI_Count count, const MPI_Count blocklengths[], const MPI_Count displacements[], MPI_Datatype
     oldtype, MPI_Datatype *newtype), count, blocklengths, displacements, oldtype, newtype)
CALL(Type_create_hindexed, (int count, const int blocklengths[], const MPI_Aint displacements[], MPI_Datatype oldtype,
     MPI_Datatype *newtype), count, blocklengths, displacements, oldtype, newtype)
CALL(Type_create_hindexed_c, (MPI_Count count, const MPI_Count blocklengths[], const MPI_Count displacements[],
     MPI_Datatype oldtype, MPI_Datatype *newtype), count, blocklengths, displacements, oldtype, newtype)
CALL(Type_create_indexed_block, (int count, int blocklength, const int displacements[], MPI_Datatype oldtype,
     MPI_Datatype *newtype), count, blocklength, displacements, oldtype, newtype)
CALL(Type_create_indexed_block_c, (MPI_Count count, MPI_Count blocklength, const MPI_Count displacements[],
     MPI_Datatype oldtype, MPI_Datatype *newtype), count, blocklength, displacements, oldtype, newtype)
CALL(Type_create_hindexed_block, (int count, int blocklength, const MPI_Aint displacements[], MPI_Datatype oldtype,
     MPI_Datatype *newtype), count, blocklength, displacements, oldtype, newtype)
CALL(Type_create_hindexed_block_c, (MPI_Count count, MPI_Count blocklength, const MPI_Count displacements[],
     MPI_Datatype oldtype, MPI_Datatype *newtype), count, blocklength, displacements, oldtype, newtype)
CALL(Type_create_struct, (int count, const int blocklengths[], const MPI_Aint displacements[], const MPI_Datatype
     types[], MPI_Datatype *newtype), count, blocklengths, displacements, types, newtype)
CALL(Type_create_struct_c, (MPI_Count count, const MPI_Count blocklengths[], const MPI_Count displacements[], const
     MPI_Datatype types[], MPI_Datatype *newtype), count, blocklengths, displacements, types, newtype)
CALL(Type_create_subarray, (int ndims, const int sizes[], const int subsizes[], const int starts[], int order,
     MPI_Datatype oldtype, MPI_Datatype *newtype), ndims, sizes, subsizes, starts, order, oldtype, newtype)
CALL(Type_create_subarray_c, (int ndims, const MPI_Count sizes[], const MPI_Count subsizes[], const MPI_Count
     starts[], int order, MPI_Datatype oldtype, MPI_Datatype *newtype), ndims, sizes, subsizes, starts, order,
     oldtype, newtype)
CALL(Type_create_darray, (int size, int rank, int ndims, const int gsizes[], const int distribs[], const int dargs[],
     const int psizes[], int order, MPI_Datatype oldtype, MPI_Datatype *newtype), size, rank, ndims, gsizes, distribs,
     dargs, psizes, order, oldtype, newtype)
CALL(Type_create_darray_c, (int size, int rank, int ndims, const MPI_Count gsizes[], const int distribs[], const int
     dargs[], const int psizes[], int order, MPI_Datatype oldtype, MPI_Datatype *newtype), size, rank, ndims, gsizes,
     distribs, dargs, psizes, order, oldtype, newtype)
CALL(Type_create_resized, (MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent, MPI_Datatype *newtype), oldtype, lb,
     extent, newtype)
CALL(Type_create_resized_c, (MPI_Datatype oldtype, MPI_Count lb, MPI_Count extent, MPI_Datatype *newtype), oldtype,
     lb, extent, newtype)
CALL(Type_dup, (MPI_Datatype oldtype, MPI_Datatype *newtype), oldtype, newtype)
CALL(Type_commit, (MPI_Datatype *datatype), datatype)
CALL(Type_free, (MPI_Datatype *datatype), datatype)
CALL(Type_size, (MPI_Datatype datatype, int *size), datatype, size)
CALL(Type_size_c, (MPI_Datatype datatype, MPI_Count *size), datatype, size)
CALL(Type_size_x, (MPI_Datatype datatype, MPI_Count *size), datatype, size)
CALL(Type_get_extent, (MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent), datatype, lb, extent)
CALL(Type_get_extent_c, (MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent), datatype, lb, extent)
CALL(Type_get_extent_x, (MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent), datatype, lb, extent)
CALL(Type_get_true_extent, (MPI_Datatype datatype, MPI_Aint *true_lb, MPI_Aint *true_extent), datatype, true_lb,
     true_extent)
CALL(Type_get_true_extent_c, (MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent), datatype, true_lb,
     true_extent)
CALL(Type_get_true_extent_x, (MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent), datatype, true_lb,
     true_extent)
CALL(Type_get_envelope, (MPI_Datatype datatype, int *num_integers, int *num_addresses, int *num_datatypes, int
     *combiner), datatype, num_integers, num_addresses, num_datatypes, combiner)
CALL(Type_get_envelope_c, (MPI_Datatype datatype, MPI_Count *num_integers, MPI_Count *num_addresses, MPI_Count
     *num_large_counts, MPI_Count *num_datatypes, int *combiner), datatype, num_integers, num_addresses,
     num_large_counts, num_datatypes, combiner)
CALL(Type_get_contents, (MPI_Datatype datatype, int max_integers, int max_addresses, int max_datatypes, int
     integers[], MPI_Aint addresses[], MPI_Datatype datatypes[]), datatype, max_integers, max_addresses,
     max_datatypes, integers, addresses, datatypes)
CALL(Type_get_contents_c, (MPI_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses, MPI_Count
     max_large_counts, MPI_Count max_datatypes, int integers[], MPI_Aint addresses[], MPI_Count large_counts[],
     MPI_Datatype datatypes[]), datatype, max_integers, max_addresses, max_large_counts, max_datatypes, integers,
     addresses, large_counts, datatypes)
CALL(Type_get_name, (MPI_Datatype datatype, char *type_name, int *resultlen), datatype, type_name, resultlen)
CALL(Type_set_name, (MPI_Datatype datatype, const char *type_name), datatype, type_name)
CALL(Type_match_size, (int typeclass, int size, MPI_Datatype *datatype), typeclass, size, datatype)
CALL(Type_get_value_index, (MPI_Datatype value_type, MPI_Datatype index_type, MPI_Datatype *pair_type), value_type,
     index_type, pair_type)
CALL(Get_elements, (const MPI_Status *status, MPI_Datatype datatype, int *count), status, datatype, count)
CALL(Get_elements_c, (const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count), status, datatype, count)
CALL(Get_elements_x, (const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count), status, datatype, count)
CALL(Type_set_attr, (MPI_Datatype datatype, int type_keyval, void *attribute_val), datatype, type_keyval,
     attribute_val)
CALL(Type_get_attr, (MPI_Datatype datatype, int type_keyval, void *attribute_val, int *flag), datatype, type_keyval,
     attribute_val, flag)
CALL(Type_delete_attr, (MPI_Datatype datatype, int type_keyval), datatype, type_keyval)
CALL(Pack, (const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf, int outsize, int *position, MPI_Comm
     comm), inbuf, incount, datatype, outbuf, outsize, position, comm)
CALL(Pack_c, (const void *inbuf, MPI_Count incount, MPI_Datatype datatype, void *outbuf, MPI_Count outsize, MPI_Count
     *position, MPI_Comm comm), inbuf, incount, datatype, outbuf, outsize, position, comm)
CALL(Unpack, (const void *inbuf, int insize, int *position, void *outbuf, int outcount, MPI_Datatype datatype,
     MPI_Comm comm), inbuf, insize, position, outbuf, outcount, datatype, comm)
CALL(Unpack_c, (const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf, MPI_Count outcount,
     MPI_Datatype datatype, MPI_Comm comm), inbuf, insize, position, outbuf, outcount, datatype, comm)
CALL(Pack_size, (int incount, MPI_Datatype datatype, MPI_Comm comm, int *size), incount, datatype, comm, size)
CALL(Pack_size_c, (MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm, MPI_Count *size), incount, datatype, comm,
     size)
CALL(Pack_external, (const char *datarep, const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf,
     MPI_Aint outsize, MPI_Aint *position), datarep, inbuf, incount, datatype, outbuf, outsize, position)
CALL(Pack_external_c, (const char *datarep, const void *inbuf, MPI_Count incount, MPI_Datatype datatype, void *outbuf,
     MPI_Count outsize, MPI_Count *position), datarep, inbuf, incount, datatype, outbuf, outsize, position)
CALL(Unpack_external, (const char datarep[], const void *inbuf, MPI_Aint insize, MPI_Aint *position, void *outbuf, int
     outcount, MPI_Datatype datatype), datarep, inbuf, insize, position, outbuf, outcount, datatype)
CALL(Unpack_external_c, (const char datarep[], const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf,
     MPI_Count outcount, MPI_Datatype datatype), datarep, inbuf, insize, position, outbuf, outcount, datatype)
CALL(Pack_external_size, (const char *datarep, int incount, MPI_Datatype datatype, MPI_Aint *size), datarep, incount,
     datatype, size)
CALL(Pack_external_size_c, (const char *datarep, MPI_Count incount, MPI_Datatype datatype, MPI_Count *size), datarep,
     incount, datatype, size)
CALL(Op_create, (MPI_User_function *user_fn, int commute, MPI_Op *op), user_fn, commute, op)
CALL(Op_create_c, (MPI_User_function_c *user_fn, int commute, MPI_Op *op), user_fn, commute, op)
CALL(Op_free, (MPI_Op *op), op)
CALL(Op_commutative, (MPI_Op op, int *commute), op, commute)
CALL(Reduce_local, (const void *inbuf, void *inoutbuf, int count, MPI_Datatype datatype, MPI_Op op), inbuf, inoutbuf,
     count, datatype, op)
CALL(Reduce_local_c, (const void *inbuf, void *inoutbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op), inbuf,
     inoutbuf, count, datatype, op)
