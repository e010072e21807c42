/* test: cores=1,3,8 */
/* Ranks that name different lengths in an operation of all: those that hear of it fail, the others have what is right, and nobody waits
 * for ever, whatever a rank in the middle has found. Nor does anybody for a rank whose arguments for a new communicator are wrong. */
#include "../check.h"
#include <mpi.h>

#define COUNT 10

static int me, size, middle;

static void fill(int *numbers, int count, int value)
{
    for (int i = 0; i < count; i++)
        numbers[i] = value;
}

/* What `count` values of all `there` are. */
static void are(const int *numbers, int there, int count, int value)
{
    for (int i = 0; i < there; i++)
        EQUAL(numbers[i], i < count ? value : -1);
}

static int broadcast(int *numbers, int count, MPI_Comm comm, int is_begun)
{
    MPI_Request request;
    if (!is_begun)
        return MPI_Bcast(numbers, count, MPI_INT, 0, comm);
    EQUAL(MPI_Ibcast(numbers, count, MPI_INT, 0, comm, &request), MPI_SUCCESS);
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void broadcasts(MPI_Comm comm, int is_begun)
{
    int numbers[COUNT], count = me && me == middle ? 1 : COUNT;
    /* A rank in the middle has no room; those behind it get all of the message. */
    fill(numbers, COUNT, me ? -1 : 7);
    EQUAL(broadcast(numbers, count, comm, is_begun), count == 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    are(numbers, COUNT, count, 7);
    /* All have more room than there is to come. */
    fill(numbers, COUNT, me ? -1 : 8);
    EQUAL(broadcast(numbers, me ? COUNT : 1, comm, is_begun), me ? MPI_ERR_NOT_SAME : MPI_SUCCESS);
    EQUAL(numbers[0], 8);
}

/* Whether a code is that of a message of another length. */
static int differs(int code)
{
    return code == MPI_ERR_TRUNCATE || code == MPI_ERR_NOT_SAME;
}

static void reductions(MPI_Comm comm, int less)
{
    int own[3 * 8], result[3 * 8], is_one = size == 1, count = me == middle && size > 1 ? less : 3, code;
    fill(own, 24, 1), fill(result, 24, -1);
    code = MPI_Allreduce(own, result, count, MPI_INT, MPI_SUM, comm);
    CHECK(is_one ? code == MPI_SUCCESS : differs(code));
    are(result, 24, is_one ? 3 : 0, 1);
    fill(result, 24, -1);
    code = MPI_Reduce(own, result, count, MPI_INT, MPI_SUM, 0, comm);
    CHECK(is_one || me ? code == MPI_SUCCESS || differs(code) : differs(code));
    are(result, 24, is_one ? 3 : 0, 1);
    fill(result, 24, -1);
    /* Ranks before it know nothing of it. */
    code = MPI_Scan(own, result, count, MPI_INT, MPI_SUM, comm);
    CHECK(is_one || me < middle ? code == MPI_SUCCESS : differs(code));
    are(result, 24, is_one || me < middle ? 3 : 0, me + 1);
    fill(result, 24, -1);
    code = MPI_Reduce_scatter_block(own, result, count, MPI_INT, MPI_SUM, comm);
    CHECK(is_one ? code == MPI_SUCCESS : differs(code));
    are(result, 24, is_one ? 3 : 0, 1);
}

static void exchanges(MPI_Comm comm)
{
    int own[5], all[3 * 8], count = me == middle ? 5 : 3, code;
    fill(own, 5, 4), fill(all, 24, -1);
    EQUAL(MPI_Allgather(own, count, MPI_INT, all, 3, MPI_INT, comm), MPI_ERR_TRUNCATE);
    for (int rank = 0; rank < size; rank++)
        are(all + 3 * rank, 3, rank == middle ? 0 : 3, 4);
    fill(all, 24, -1);
    code = MPI_Gather(own, count, MPI_INT, all, 3, MPI_INT, 0, comm);
    EQUAL(code, me ? MPI_SUCCESS : MPI_ERR_TRUNCATE);
    /* A message that is too short is none, either. */
    fill(own, 5, 4), fill(all, 24, -1);
    code = MPI_Gather(own, me == middle ? 2 : 3, MPI_INT, all, 3, MPI_INT, 0, comm);
    EQUAL(code, me ? MPI_SUCCESS : MPI_ERR_NOT_SAME);
    fill(all, 24, 6), fill(own, 5, -1);
    code = MPI_Scatter(all, 3, MPI_INT, own, me == middle ? 2 : 3, MPI_INT, 0, comm);
    EQUAL(code, me == middle ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    are(own, 5, me == middle ? 0 : 3, 6);
}

static void communicators(void)
{
    int is_wrong = me == size - 1, lengths[1] = {is_wrong ? -1 : size}, wraps[1] = {0}, ends[1] = {0};
    MPI_Comm made;
    MPI_Group group;
#define FAILS(call, class) EQUAL(call, is_wrong ? class : MPI_ERR_OTHER)
    FAILS(MPI_Comm_split(MPI_COMM_WORLD, is_wrong ? -5 : 0, 0, &made), MPI_ERR_ARG);
    FAILS(MPI_Comm_split_type(MPI_COMM_WORLD, is_wrong ? 12345 : MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made), MPI_ERR_ARG);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    FAILS(MPI_Comm_create(MPI_COMM_WORLD, is_wrong ? MPI_GROUP_NULL : group, &made), MPI_ERR_GROUP);
    MPI_Group_free(&group);
    FAILS(MPI_Cart_create(MPI_COMM_WORLD, 1, lengths, wraps, 0, &made), MPI_ERR_DIMS);
    FAILS(MPI_Graph_create(MPI_COMM_WORLD, is_wrong ? -1 : 1, ends, NULL, 0, &made), MPI_ERR_ARG);
    CHECK(made == MPI_COMM_NULL);
    FAILS(MPI_Dist_graph_create(MPI_COMM_WORLD, is_wrong ? -1 : 0, NULL, NULL, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made), MPI_ERR_ARG);
    FAILS(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, is_wrong ? -1 : 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED,
                                         MPI_INFO_NULL, 0, &made),
          MPI_ERR_ARG);
}

int main(int argc, char **argv)
{
    MPI_Comm turned;
    int one = 1, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &me), MPI_Comm_size(MPI_COMM_WORLD, &size);
    middle = size / 2;
    communicators();
    if (size > 1)
        broadcasts(MPI_COMM_WORLD, 1);
    /* The same ranks the other way round, whose operations of all are messages in all forms. */
    MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &turned);
    MPI_Comm_rank(turned, &me);
    if (size > 1) {
        broadcasts(turned, 0), broadcasts(turned, 1);
        exchanges(turned);
    }
    reductions(turned, 1), reductions(turned, 2);
    /* With three ranks all hear of it when they make different things. */
    if (size == 3) {
        int wraps[1] = {0};
        MPI_Comm made;
        CHECK(differs(me ? MPI_Cart_create(turned, 1, &size, wraps, 0, &made) : MPI_Comm_split(turned, 0, 0, &made)));
    }
    /* All goes on as if nothing had been. */
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, turned);
    EQUAL(sum, size);
    MPI_Comm_free(&turned);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
