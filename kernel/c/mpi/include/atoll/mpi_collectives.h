/*
 * Operations of all: FORMS(Name, name, kind, (parameters before the communicator), what is said of them), with COUNT and PLACE for
 * the types of counts and displacements. Included once for each size of these.
 */
FORMS(Bcast, bcast, ATOLL_BROADCAST, (void *buffer, COUNT count, MPI_Datatype datatype, int root),
      .receive = {buffer, count, datatype, NULL, NULL, NULL}, .root = root)
FORMS(Gather, gather, ATOLL_GATHER, (PAIR, int root), ALIKE, .root = root)
FORMS(Gatherv, gatherv, ATOLL_GATHER, (FROM_EACH, int root), ONE_TO_MANY, .root = root)
FORMS(Scatter, scatter, ATOLL_SCATTER, (PAIR, int root), ALIKE, .root = root)
FORMS(Scatterv, scatterv, ATOLL_SCATTER,
      (const void *sendbuf, const COUNT sendcounts[], const PLACE displs[], MPI_Datatype sendtype, void *recvbuf,
       COUNT recvcount, MPI_Datatype recvtype, int root),
      .send = {sendbuf, BY_RANK, sendtype, sendcounts, displs, NULL},
      .receive = {recvbuf, recvcount, recvtype, NULL, NULL, NULL},
      .root = root)
FORMS(Allgather, allgather, ATOLL_ALLGATHER, (PAIR), ALIKE)
FORMS(Allgatherv, allgatherv, ATOLL_ALLGATHER, (FROM_EACH), ONE_TO_MANY)
FORMS(Alltoall, alltoall, ATOLL_ALLTOALL, (PAIR), ALIKE)
FORMS(Alltoallv, alltoallv, ATOLL_ALLTOALL, (TO_EACH), MANY_TO_MANY)
FORMS(Alltoallw, alltoallw, ATOLL_ALLTOALL, (TYPES(PLACE)), BY_BYTES)
FORMS(Reduce, reduce, ATOLL_REDUCE, (OPERANDS, int root), REDUCED, .root = root)
FORMS(Allreduce, allreduce, ATOLL_ALLREDUCE, (OPERANDS), REDUCED)
FORMS(Scan, scan, ATOLL_SCAN, (OPERANDS), REDUCED)
FORMS(Exscan, exscan, ATOLL_EXSCAN, (OPERANDS), REDUCED)
FORMS(Reduce_scatter_block, reduce_scatter_block, ATOLL_REDUCE_SCATTER,
      (const void *sendbuf, void *recvbuf, COUNT recvcount, MPI_Datatype datatype, MPI_Op op),
      .send = {sendbuf, 0, datatype, NULL, NULL, NULL}, .receive = {recvbuf, recvcount, datatype, NULL, NULL, NULL}, .op = op)
FORMS(Reduce_scatter, reduce_scatter, ATOLL_REDUCE_SCATTER,
      (const void *sendbuf, void *recvbuf, const COUNT recvcounts[], MPI_Datatype datatype, MPI_Op op),
      .send = {sendbuf, 0, datatype, NULL, NULL, NULL},
      .receive = {recvbuf, BY_RANK, datatype, recvcounts, NULL, NULL}, .op = op)
FORMS(Neighbor_allgather, neighbor_allgather, ATOLL_NEIGHBOUR_ALLGATHER, (PAIR), ALIKE)
FORMS(Neighbor_allgatherv, neighbor_allgatherv, ATOLL_NEIGHBOUR_ALLGATHER, (FROM_EACH), ONE_TO_MANY)
FORMS(Neighbor_alltoall, neighbor_alltoall, ATOLL_NEIGHBOUR_ALLTOALL, (PAIR), ALIKE)
FORMS(Neighbor_alltoallv, neighbor_alltoallv, ATOLL_NEIGHBOUR_ALLTOALL, (TO_EACH), MANY_TO_MANY)
FORMS(Neighbor_alltoallw, neighbor_alltoallw, ATOLL_NEIGHBOUR_ALLTOALL, (TYPES(MPI_Aint)), BY_BYTES, .wide_places = sizeof(MPI_Aint) > 4)
