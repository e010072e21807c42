/* test: cores=1,2,5,16,48 */
/* test: cores=2,5,16 faithful */
/* Operations of all UEs, and of communicators. */
#include "../check.h"
#include <RCCE.h>

static int color(int ue, void *aux)
{
    return ue % *(int *)aux;
}

static double value(int ue, int i)
{
    return (ue * 5 + i) % 7 + 1;
}

static double expected(const RCCE_COMM *comm, int i, int op)
{
    double all = value(comm->member[0], i);
    for (int place = 1; place < comm->size; place++) {
        double next = value(comm->member[place], i);
        all = op == RCCE_SUM ? all + next : op == RCCE_MIN ? (next < all ? next : all) : (next > all ? next : all);
    }
    return all;
}

#define REDUCE(type, number)                                                                                          \
    for (int op = RCCE_SUM; op <= RCCE_MAX; op++)                                                                      \
        for (int root = -1; root < size; root += size > 5 ? 5 : 1) {                                                   \
            type in[40], out[40] = {0};                                                                                \
            for (int i = 0; i < 40; i++)                                                                               \
                in[i] = value(ue, i);                                                                                  \
            EQUAL(root < 0 ? RCCE_allreduce((char *)in, (char *)out, 40, number, op, *comm)                            \
                           : RCCE_reduce((char *)in, (char *)out, 40, number, op, root, *comm), RCCE_SUCCESS);         \
            for (int i = 0; i < 40; i++)                                                                               \
                CHECK(out[i] == (root < 0 || root == me ? (type)expected(comm, i, op) : 0));                           \
        }

static void check(RCCE_COMM *comm)
{
    static char bytes[10000];
    int ue = RCCE_ue(), me, size;
    EQUAL(RCCE_comm_rank(*comm, &me), RCCE_SUCCESS);
    EQUAL(RCCE_comm_size(*comm, &size), RCCE_SUCCESS);
    EQUAL(comm->member[me], ue);
    for (int root = 0; root < size; root += size > 5 ? 5 : 1)
        for (int length = 0; length <= 10000; length = 9 * length + 1) {
            for (int i = 0; i < length; i++)
                bytes[i] = me == root ? root + i + length : 0;
            EQUAL(RCCE_bcast(bytes, length, root, *comm), RCCE_SUCCESS);
            for (int i = 0; i < length; i++)
                EQUAL(bytes[i], (char)(root + i + length));
        }
    REDUCE(int, RCCE_INT)
    REDUCE(long, RCCE_LONG)
    REDUCE(float, RCCE_FLOAT)
    REDUCE(double, RCCE_DOUBLE)
    int two = me % 2 + 1, product;
    EQUAL(RCCE_allreduce((char *)&two, (char *)&product, 1, RCCE_INT, RCCE_PROD, *comm), RCCE_SUCCESS);
    EQUAL(product, 1 << size / 2);
    /* In place, and where nothing is aligned. */
    char buffer[9];
    *(int *)__builtin_memcpy(buffer + 1, &ue, sizeof ue);
    EQUAL(RCCE_allreduce(buffer + 1, buffer + 1, 1, RCCE_INT, RCCE_MAX, *comm), RCCE_SUCCESS);
    __builtin_memcpy(&product, buffer + 1, sizeof product);
    EQUAL(product, comm->member[size - 1]);
    for (int round = 0; round < 300 / size; round++)
        EQUAL(RCCE_barrier(comm), RCCE_SUCCESS);
    EQUAL(RCCE_bcast(bytes, 4, size, *comm), RCCE_ERROR_ID);
    EQUAL(RCCE_reduce(bytes, bytes, 1, RCCE_INT, RCCE_SUM, -1, *comm), RCCE_ERROR_ID);
    EQUAL(RCCE_reduce(bytes, bytes, 1, RCCE_INT, RCCE_PROD + 1, 0, *comm), RCCE_ERROR_ILLEGAL_OP);
    EQUAL(RCCE_allreduce(bytes, bytes, 1, RCCE_DOUBLE + 1, RCCE_SUM, *comm), RCCE_ERROR_ILLEGAL_TYPE);
    EQUAL(RCCE_allreduce(bytes, bytes, -1, RCCE_INT, RCCE_SUM, *comm), RCCE_ERROR_MESSAGE_LENGTH);
    EQUAL(RCCE_allreduce(NULL, bytes, 1, RCCE_INT, RCCE_SUM, *comm), RCCE_ERROR_SOURCE);
}

/* A UE that is late is waited for by those of its own colour alone. */
static void check_barrier(RCCE_COMM *comm)
{
    double begin = RCCE_wtime();
    if (comm->my_rank == 0)
        while (RCCE_wtime() < begin + 1e-3)
            ;
    RCCE_barrier(comm);
    CHECK(RCCE_wtime() >= begin + 0.9e-3);
}

int RCCE_APP(int argc, char **argv)
{
    RCCE_COMM comm, again, none = {0};
    int value;
    RCCE_init(&argc, &argv);
    check(&RCCE_COMM_WORLD);
    for (int colors = 1; colors <= 3; colors++) {
        EQUAL(RCCE_comm_split(color, &colors, &comm), RCCE_SUCCESS);
        EQUAL(RCCE_comm_split(color, &colors, &again), RCCE_SUCCESS);
        EQUAL(comm.size, (RCCE_num_ues() - RCCE_ue() % colors + colors - 1) / colors);
        check(&comm);
        check_barrier(&again);
        RCCE_barrier(&RCCE_COMM_WORLD);
        EQUAL(RCCE_comm_free(&comm), RCCE_SUCCESS);
        EQUAL(RCCE_comm_free(&comm), RCCE_ERROR_COMM_UNDEFINED);
        EQUAL(RCCE_barrier(&comm), RCCE_ERROR_COMM_UNDEFINED);
        check(&again);
        EQUAL(RCCE_comm_free(&again), RCCE_SUCCESS);
    }
    EQUAL(RCCE_comm_free(&RCCE_COMM_WORLD), RCCE_ERROR_COMM_UNDEFINED);
    EQUAL(RCCE_comm_size(none, &value), RCCE_ERROR_COMM_UNDEFINED);
    EQUAL(RCCE_comm_rank(RCCE_COMM_WORLD, NULL), RCCE_ERROR_VAL_UNDEFINED);
    EQUAL(RCCE_comm_split(color, NULL, NULL), RCCE_ERROR_COMM_UNDEFINED);
    EQUAL(RCCE_barrier(NULL), RCCE_ERROR_COMM_UNDEFINED);
    RCCE_fence();
    RCCE_finalize();
    return 0;
}
