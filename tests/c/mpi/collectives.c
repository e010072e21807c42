/* test: cores=1,2,5,16 */
/* Operations of all against what each rank can compute by itself: every root, blocking, begun, and persistent, whole and in
 * parts, in place, and by an operator that does not commute. */
#include "../check.h"
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 700
static int me, size;
static MPI_Comm comm;

/* What element `i` of rank `rank` is. */
static int value(int rank, int i)
{
    return 1000 * (rank + 1) + 7 * i % 101;
}

static void fill(int *numbers, int rank, int count)
{
    for (int i = 0; i < count; i++)
        numbers[i] = value(rank, i);
}

/* a op b = a * 31 + b on pairs of a value and its factor: it does not commute, and is associative. */
static void compose(void *in, void *inout, int *count, MPI_Datatype *datatype)
{
    (void)datatype;
    unsigned(*a)[2] = in, (*b)[2] = inout;
    for (int i = 0; i < *count; i++) {
        b[i][1] = a[i][1] * b[i][0] + b[i][1];
        b[i][0] *= a[i][0];
    }
}

static void rooted(int root)
{
    int own[COUNT], *all = malloc(sizeof(int) * COUNT * size), expected;
    MPI_Request request;
    for (int form = 0; form < 2; form++) {
        fill(own, me == root ? root : 50, COUNT);
        if (form)
            MPI_Ibcast(own, COUNT, MPI_INT, root, comm, &request), MPI_Wait(&request, MPI_STATUS_IGNORE);
        else
            MPI_Bcast(own, COUNT, MPI_INT, root, comm);
        for (int i = 0; i < COUNT; i++)
            EQUAL(own[i], value(root, i));
        fill(own, me, COUNT);
        if (form)
            MPI_Igather(own, COUNT, MPI_INT, all, COUNT, MPI_INT, root, comm, &request), MPI_Wait(&request, MPI_STATUS_IGNORE);
        else
            MPI_Gather(own, COUNT, MPI_INT, all, COUNT, MPI_INT, root, comm);
        for (int i = 0; me == root && i < COUNT * size; i++)
            EQUAL(all[i], value(i / COUNT, i % COUNT));
        memset(own, 0, sizeof own);
        if (form)
            MPI_Iscatter(all, COUNT, MPI_INT, own, COUNT, MPI_INT, root, comm, &request), MPI_Wait(&request, MPI_STATUS_IGNORE);
        else
            MPI_Scatter(all, COUNT, MPI_INT, own, COUNT, MPI_INT, root, comm);
        for (int i = 0; i < COUNT; i++)
            EQUAL(own[i], value(me, i));
        if (form)
            MPI_Ireduce(own, all, COUNT, MPI_INT, MPI_SUM, root, comm, &request), MPI_Wait(&request, MPI_STATUS_IGNORE);
        else
            MPI_Reduce(own, all, COUNT, MPI_INT, MPI_SUM, root, comm);
        for (int i = 0; me == root && i < COUNT; i++) {
            expected = 0;
            for (int rank = 0; rank < size; rank++)
                expected += value(rank, i);
            EQUAL(all[i], expected);
        }
    }
    /* In place, and blocks of different lengths at places of their own. */
    int counts[size], places[size], total = 0;
    for (int rank = 0; rank < size; rank++)
        counts[rank] = rank % 3 * 5, places[rank] = total + rank, total += counts[rank];
    int spread[total + size], part[10];
    memset(spread, 0xFF, sizeof spread);
    fill(part, me, counts[me]);
    if (me == root)
        fill(spread + places[me], me, counts[me]);
    MPI_Gatherv(me == root ? MPI_IN_PLACE : part, counts[me], MPI_INT, spread, counts, places, MPI_INT, root, comm);
    for (int rank = 0; me == root && rank < size; rank++) {
        for (int i = 0; i < counts[rank]; i++)
            EQUAL(spread[places[rank] + i], value(rank, i));
        if (rank + 1 < size)
            EQUAL(spread[places[rank] + counts[rank]], -1);
    }
    memset(part, 0, sizeof part);
    MPI_Scatterv(spread, counts, places, MPI_INT, part, counts[me], MPI_INT, root, comm);
    for (int i = 0; i < counts[me]; i++)
        EQUAL(part[i], value(me, i));
    free(all);
}

static void of_all(void)
{
    int own[3 * size], all[3 * size], sums[2], parts[size];
    for (int i = 0; i < size; i++)
        parts[i] = 1 + i % 2;
    fill(own, me, 3);
    MPI_Allgather(own, 3, MPI_INT, all, 3, MPI_INT, comm);
    for (int i = 0; i < 3 * size; i++)
        EQUAL(all[i], value(i / 3, i % 3));
    memset(all, 0, sizeof all);
    fill(all + 3 * me, me, 3);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 3, MPI_INT, comm);
    for (int i = 0; i < 3 * size; i++)
        EQUAL(all[i], value(i / 3, i % 3));
    fill(own, me, 3 * size);
    MPI_Alltoall(own, 3, MPI_INT, all, 3, MPI_INT, comm);
    for (int i = 0; i < 3 * size; i++)
        EQUAL(all[i], value(i / 3, 3 * me + i % 3));
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 3, MPI_INT, comm);
    for (int i = 0; i < 3 * size; i++)
        EQUAL(all[i], value(me, i));
    /* Each rank gets its part of the sums. */
    int counted = 0, first = 0;
    for (int i = 0; i < size; i++)
        first += i < me ? parts[i] : 0, counted += parts[i];
    fill(own, me, counted);
    MPI_Reduce_scatter(own, sums, parts, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < parts[me]; i++) {
        int expected = 0;
        for (int rank = 0; rank < size; rank++)
            expected += value(rank, first + i);
        EQUAL(sums[i], expected);
    }
    /* Prefixes, and an operator for which the order counts. */
    int prefix = -1, before = -1;
    MPI_Scan(&me, &prefix, 1, MPI_INT, MPI_SUM, comm);
    MPI_Exscan(&me, &before, 1, MPI_INT, MPI_SUM, comm);
    EQUAL(prefix, me * (me + 1) / 2);
    EQUAL(before, me ? me * (me - 1) / 2 : -1);
    MPI_Op op;
    MPI_Datatype pair;
    MPI_Op_create(compose, 0, &op);
    MPI_Type_contiguous(2, MPI_UNSIGNED, &pair);
    MPI_Type_commit(&pair);
    unsigned mine[2] = {31, me + 1}, result[2], scanned[2], expected = 0;
    MPI_Allreduce(mine, result, 1, pair, op, comm);
    MPI_Scan(mine, scanned, 1, pair, op, comm);
    for (int rank = 0; rank < size; rank++) {
        expected = 31 * expected + rank + 1;
        if (rank == me)
            EQUAL(scanned[1], expected);
    }
    EQUAL(result[1], expected);
    for (int root = 0; root < size; root++) {
        MPI_Reduce(mine, result, 1, pair, op, root, comm);
        if (me == root)
            EQUAL(result[1], expected);
    }
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
    struct {
        double value;
        int rank;
    } place = {(me * 3) % size, me}, least;
    MPI_Allreduce(&place, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, comm);
    EQUAL(least.rank, 0);
}

/* Several at the same time, ended in another order; persistent ones. */
static void begun(void)
{
    enum { MANY = 6 };
    MPI_Request requests[MANY];
    int sums[MANY], own[MANY];
    for (int i = 0; i < MANY; i++) {
        own[i] = me + i;
        MPI_Iallreduce(&own[i], &sums[i], 1, MPI_INT, i % 2 ? MPI_MAX : MPI_SUM, comm, &requests[i]);
    }
    for (int i = MANY - 1; i >= 0; i--) {
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        EQUAL(sums[i], i % 2 ? size - 1 + i : size * (size - 1) / 2 + size * i);
    }
    MPI_Request barrier;
    int flag = 0, round_sum, round;
    MPI_Ibarrier(comm, &barrier);
    while (!flag)
        MPI_Test(&barrier, &flag, MPI_STATUS_IGNORE);
    MPI_Allreduce_init(&round, &round_sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[0]);
    for (round = 0; round < 4; round++) {
        MPI_Start(&requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        EQUAL(round_sum, round * size);
    }
    MPI_Request_free(&requests[0]);
}

/* What was begun goes on while a rank waits for something else, in which no messages are sent. */
static void meanwhile(void)
{
    static int numbers[10000];
    MPI_Comm other;
    MPI_Request request;
    int rank, ranks;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Comm_rank(other, &rank);
    MPI_Comm_size(other, &ranks);
    fill(numbers, rank ? 50 : 0, 10000);
    MPI_Ibcast(numbers, 10000, MPI_INT, 0, other, &request);
    if (rank == ranks - 1)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 10000; i++)
        EQUAL(numbers[i], value(0, i));
    MPI_Comm_free(&other);
}

int main(int argc, char **argv)
{
    MPI_Comm parts[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_dup(MPI_COMM_WORLD, &parts[0]);
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &parts[1]);
    meanwhile();
    for (int i = 0; i < 2; i++) {
        comm = parts[i];
        MPI_Comm_rank(comm, &me);
        MPI_Comm_size(comm, &size);
        for (int root = 0; root < size; root += i ? 1 : size > 8 ? 5 : 1)
            rooted(root);
        of_all();
        begun();
        MPI_Barrier(comm);
        MPI_Comm_free(&parts[i]);
        CHECK(parts[i] == MPI_COMM_NULL);
    }
    MPI_Finalize();
    return 0;
}
