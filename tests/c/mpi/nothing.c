/* test: cores=3 */
/* Ranks that receive nothing, or have no neighbours, may give null pointers. */
#include "../check.h"
#include <mpi.h>

static int me, ranks;

/* As many values as the rank says: none at rank 0, in each form. */
static void reduce_scatter(void)
{
    enum { VALUES = 3 };
    int counts[VALUES], sends[VALUES], *parts = me ? calloc(me, sizeof *parts) : NULL, first = me * (me - 1) / 2;
    for (int rank = 0; rank < ranks; rank++)
        counts[rank] = rank;
    for (int at = 0; at < VALUES; at++)
        sends[at] = 10 * me + at;
    for (int begins = 0; begins < 2; begins++) {
        MPI_Request request;
        if (begins) {
            MPI_Ireduce_scatter(sends, parts, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            MPI_Reduce_scatter(sends, parts, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        }
        for (int at = 0; at < me; at++) {
            EQUAL(parts[at], 10 * ranks * (ranks - 1) / 2 + ranks * (first + at));
            parts[at] = 0;
        }
    }
    /* Who receives something says where. */
    int code = MPI_SUCCESS;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    counts[0] = 1;
    if (me == 1)
        code = MPI_Reduce_scatter(sends, NULL, counts, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    EQUAL(code, me == 1 ? MPI_ERR_BUFFER : MPI_SUCCESS);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    /* In place, who receives nothing still has operands: none are where nothing is. */
    counts[0] = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int begins = 0; begins < 2 && !me; begins++) {
        MPI_Request request;
        code = begins ? MPI_Ireduce_scatter(MPI_IN_PLACE, NULL, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request)
                      : MPI_Reduce_scatter(MPI_IN_PLACE, NULL, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        EQUAL(code, MPI_ERR_BUFFER);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    free(parts);
}

/* Rank 1 sends to rank 2, and rank 0 has no neighbours. */
static void neighbours(void)
{
    int sends = me == 1, receives = me == 2, source = 1, destination = 2, one = 1, place = 0, sent = 77, received = 0;
    MPI_Aint offset = 0;
    MPI_Datatype type = MPI_INT;
    MPI_Comm graph;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, receives, &source, MPI_UNWEIGHTED, sends, &destination,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    MPI_Neighbor_alltoallv(&sent, sends ? &one : NULL, sends ? &place : NULL, MPI_INT, &received,
                           receives ? &one : NULL, receives ? &place : NULL, MPI_INT, graph);
    EQUAL(received, receives ? 77 : 0);
    received = 0;
    MPI_Neighbor_alltoallw(&sent, sends ? &one : NULL, sends ? &offset : NULL, sends ? &type : NULL, &received,
                           receives ? &one : NULL, receives ? &offset : NULL, receives ? &type : NULL, graph);
    EQUAL(received, receives ? 77 : 0);
    MPI_Comm_free(&graph);
}

int main(void)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &me), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    reduce_scatter();
    neighbours();
    MPI_Finalize();
    return 0;
}
