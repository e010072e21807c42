/* One-sided operations and requests of MPI on three ranks: each case is wrong where `WRONG` is defined, and right otherwise. What is
   to be found is said at the lines, as `KIND: LETTER`, or `LETTER` alone at the other place of it. */
#include "../check.h"
#include "wrong.h"
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int me, *part;
static MPI_Win win;
static volatile int sink;

static void begin(int unit)
{
    MPI_Win_allocate(64 * sizeof(int), unit, MPI_INFO_NULL, MPI_COMM_WORLD, &part, &win);
    memset(part, 0, 64 * sizeof(int));
    MPI_Barrier(MPI_COMM_WORLD);
}

static void end(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
}

static void two_puts_of_one_epoch(void)
{
    int values[2] = {1, 2};
    begin(sizeof(int));
    MPI_Win_fence(0, win);
    if (me == 0)
        MPI_Put(&values[0], 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* a */
    RIGHT(MPI_Win_fence(0, win));
    if (me == 0)
        MPI_Put(&values[1], 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* one-sided misuse: a */
    MPI_Win_fence(0, win);
    end();
}

static void shared_locks_order_nothing(void)
{
    int value = me, kind = MPI_LOCK_EXCLUSIVE;
    WRONG_ONLY(kind = MPI_LOCK_SHARED);
    begin(sizeof(int));
    if (me != 1) {
        MPI_Win_lock(kind, 1, 0, win);
        MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* one-sided misuse: s */ /* s */
        MPI_Win_unlock(1, win);
    }
    end();
}

static void a_local_flush_is_local(void)
{
    int value = 5;
    begin(sizeof(int));
    MPI_Win_lock_all(0, win);
    if (me == 0) {
        MPI_Put(&value, 1, MPI_INT, 1, 3, 1, MPI_INT, win); /* b */
        RIGHT(MPI_Win_flush(1, win));
        MPI_Win_flush_local(1, win);
        value = 6;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 1)
        sink = part[3]; /* one-sided misuse: b */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
    end();
}

static void requests(void)
{
    MPI_Request request;
    int value = 5, got = 0;
    begin(sizeof(int));
    MPI_Win_lock_all(0, win);
    if (me == 0) {
        MPI_Rput(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win, &request); /* c */
        WRONG_ONLY(value = 6); /* one-sided misuse: c */
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        value = 7;
        MPI_Rget(&got, 1, MPI_INT, 2, 0, 1, MPI_INT, win, &request); /* d */
        WRONG_ONLY(sink = got); /* one-sided misuse: d */
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        sink = got;
    }
    MPI_Win_unlock_all(win);
    end();
}

/* A request that has nothing to do completes nothing else. */
static void a_request_of_nothing(void)
{
    MPI_Request request;
    int value = 5, nothing = 0;
    begin(sizeof(int));
    MPI_Win_fence(0, win);
    if (me == 0) {
        MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* t */
        MPI_Irecv(&nothing, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        WRONG_ONLY(value = 6); /* one-sided misuse: t */
    }
    MPI_Win_fence(0, win);
    value = 7;
    end();
}

static void posts(void)
{
    MPI_Group world, one;
    int value = 3;
    begin(sizeof(int));
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    if (me == 0) {
        MPI_Group_incl(world, 1, (int[]){1}, &one);
        MPI_Win_start(one, 0, win);
        MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* e */
        MPI_Win_complete(win);
        value = 4;
    } else if (me == 1) {
        part[0] = 9;
        MPI_Group_incl(world, 1, (int[]){0}, &one);
        MPI_Win_post(one, 0, win);
        WRONG_ONLY(sink = part[0]); /* one-sided misuse: e */
        MPI_Win_wait(win);
        sink = part[0];
    }
    end();
}

static void a_message_tells(void)
{
    int value = 3, token = 0;
    begin(sizeof(int));
    if (me == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* f */
        RIGHT(MPI_Win_unlock(1, win));
        MPI_Send(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        WRONG_ONLY(MPI_Win_unlock(1, win));
    } else if (me == 1) {
        MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sink = part[0]; /* one-sided misuse: f */
    }
    end();
}

/* Who hears of what in an operation of all: the root of a broadcast tells, that of a reduction hears. */
static void roots(void)
{
    int value = 3, token = 0, sum = 0, teller = 0, hearer = 1;
    WRONG_ONLY(teller = 1, hearer = 0);
    begin(sizeof(int));
    MPI_Win_lock_all(0, win);
    if (me == 0) {
        MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* g */
        MPI_Win_flush(1, win);
    }
    MPI_Bcast(&token, 1, MPI_INT, teller, MPI_COMM_WORLD);
    if (me == 1)
        sink = part[0]; /* one-sided misuse: g */
    if (me == 0) {
        MPI_Put(&value, 1, MPI_INT, 1, 8, 1, MPI_INT, win); /* h */
        MPI_Win_flush(1, win);
    }
    MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, hearer, MPI_COMM_WORLD);
    if (me == 1)
        part[8] = 1; /* one-sided misuse: h */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
    end();
}

/* A flag that is added to atomically orders what was put before. */
static void a_flag(void)
{
    int value = 3, one = 1, seen = 0;
    begin(sizeof(int));
    MPI_Win_lock_all(0, win);
    if (me == 0) {
        MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* i */
        RIGHT(MPI_Win_flush(1, win));
        MPI_Accumulate(&one, 1, MPI_INT, 1, 9, 1, MPI_INT, MPI_REPLACE, win);
        MPI_Win_flush(1, win);
    } else if (me == 2) {
        while (seen == 0) {
            MPI_Fetch_and_op(NULL, &seen, MPI_INT, 1, 9, MPI_NO_OP, win);
            MPI_Win_flush(1, win);
        }
        MPI_Get(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* one-sided misuse: i */
    }
    MPI_Win_unlock_all(win);
    end();
}

static void the_library_loads_and_stores(void)
{
    char text[16] = "abc";
    begin(1);
    MPI_Win_fence(0, win);
    if (me == 0) {
        MPI_Put(text, 4, MPI_CHAR, 1, 0, 4, MPI_CHAR, win); /* j */
        MPI_Get(text + 8, 4, MPI_CHAR, 1, 8, 4, MPI_CHAR, win); /* k */
    }
    WRONG_ONLY(if (me == 1) memset((char *)part + 3, 7, 2)); /* one-sided misuse: j */
    WRONG_ONLY(if (me == 0) printf("%s\n", text + 8)); /* one-sided misuse: k */
    if (me == 1)
        memset((char *)part + 4, 7, 4);
    MPI_Win_fence(0, win);
    if (me == 0)
        printf("%s\n", text + 8);
    end();
}

static void gaps(void)
{
    MPI_Datatype every_second;
    int values[3] = {1, 2, 3};
    MPI_Type_vector(3, 1, 2, MPI_INT, &every_second);
    MPI_Type_commit(&every_second);
    begin(sizeof(int));
    MPI_Win_fence(0, win);
    if (me == 0)
        MPI_Put(values, 3, MPI_INT, 2, 1, 1, every_second, win); /* l */
    if (me == 2)
        part[WRONG_ONLY(1 +) 2] = 4; /* one-sided misuse: l */
    MPI_Win_fence(0, win);
    MPI_Type_free(&every_second);
    end();
}

static void operators(void)
{
    int value = me + 1;
    begin(sizeof(int));
    MPI_Win_fence(0, win);
    if (me == 0)
        MPI_Accumulate(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, win); /* m */
    if (me == 2)
        MPI_Accumulate(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, RIGHT(MPI_SUM) WRONG_ONLY(MPI_BXOR), win); /* one-sided misuse: m */
    MPI_Win_fence(0, win);
    end();
}

static void messages(void)
{
    MPI_Request request;
    int number = 1, numbers[3] = {0};
    if (me == 0) {
        MPI_Isend(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request); /* n */
        WRONG_ONLY(number = 2); /* buffer in use: n */
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        number = 3;
    } else if (me == 1) {
        MPI_Irecv(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request); /* o */
        WRONG_ONLY(sink = number); /* buffer in use: o */
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        sink = number;
    }
    MPI_Iallgather(&me, 1, MPI_INT, numbers, 1, MPI_INT, MPI_COMM_WORLD, &request); /* p */
    WRONG_ONLY(numbers[2] = 0); /* buffer in use: p */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    sink = numbers[2];
    /* In place, operands of other ranks' parts are read there, too. */
    MPI_Ireduce_scatter_block(MPI_IN_PLACE, numbers, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request); /* w */
    WRONG_ONLY(numbers[2] = 0); /* buffer in use: w */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    numbers[2] = 0;
}

static void attached(void)
{
    static int memory[16];
    MPI_Aint address, all[3];
    MPI_Request request;
    int value = 2;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, memory, sizeof memory);
    MPI_Get_address(memory, &address);
    MPI_Allgather(&address, 1, MPI_AINT, all, 1, MPI_AINT, MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    if (me == 0) {
        MPI_Put(&value, 1, MPI_INT, 1, MPI_Aint_add(all[1], 8), 1, MPI_INT, win); /* q */
        MPI_Win_flush_all(win);
    }
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    WRONG_ONLY(if (me == 1) sink = memory[2]); /* one-sided misuse: q */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (me == 1)
        memory[2] = 5;
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_detach(win, memory);
    MPI_Win_free(&win);
}

/* A message is sent from memory that another rank puts to. */
static void sent_from_a_window(void)
{
    int value = 2;
    begin(sizeof(int));
    MPI_Win_fence(0, win);
    if (me == 0)
        MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* r */
    RIGHT(MPI_Win_fence(0, win));
    if (me == 1)
        MPI_Send(part, 1, MPI_INT, 2, 0, MPI_COMM_WORLD); /* one-sided misuse: r */
    if (me == 2)
        MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    WRONG_ONLY(MPI_Win_fence(0, win));
    end();
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    two_puts_of_one_epoch();
    shared_locks_order_nothing();
    a_local_flush_is_local();
    requests();
    a_request_of_nothing();
    posts();
    a_message_tells();
    roots();
    a_flag();
    the_library_loads_and_stores();
    gaps();
    operators();
    messages();
    attached();
    sent_from_a_window();
    MPI_Finalize();
    return 0;
}
