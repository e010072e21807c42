/* Assertions, epochs and signatures of MPI's windows on three ranks: each case is wrong where `WRONG` is defined, and right otherwise. What
   is to be found is said at the lines, as `KIND: LETTER`, or `LETTER` alone at the other place of it. */
#include "../check.h"
#include "wrong.h"
#include <mpi.h>
#include <string.h>

static int me, *part;
static MPI_Win win;
static MPI_Group to_0, to_1;

static void begin(void)
{
    MPI_Win_allocate(64 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &part, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    memset(part, 0, 64 * sizeof(int));
    MPI_Barrier(MPI_COMM_WORLD);
}

static void end(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
}

static void a_fence_after_stores(void)
{
    begin();
    MPI_Win_fence(0, win);
    WRONG_ONLY(if (me == 1) part[5] = 1); /* a */
    MPI_Win_fence(MPI_MODE_NOSTORE, win); /* one-sided misuse: a */
    part[6] = 1;
    MPI_Win_fence(0, win);
    end();
}

static void a_fence_before_puts(void)
{
    int value = 1, asserted = 0;
    WRONG_ONLY(asserted = MPI_MODE_NOPUT);
    begin();
    MPI_Win_fence(MPI_MODE_NOPUT, win);
    MPI_Win_fence(me == 1 ? asserted : MPI_MODE_NOPUT, win); /* b */
    if (me == 0)
        MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* one-sided misuse: b */
    MPI_Win_fence(MPI_MODE_NOPUT, win);
    if (me == 0)
        MPI_Get(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    end();
}

static void a_fence_after_operations(void)
{
    int value = 1, asserted = MPI_MODE_NOSUCCEED;
    WRONG_ONLY(asserted |= MPI_MODE_NOPRECEDE);
    begin();
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    if (me == 0)
        MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* c */
    MPI_Win_fence(asserted, win); /* one-sided misuse: c */
    end();
}

static void a_fence_that_not_all_assert(void)
{
    begin();
    MPI_Win_fence(WRONG_ONLY(me == 0 ? 0 :) MPI_MODE_NOPRECEDE, win); /* one-sided misuse: d */
    MPI_Win_fence(0, win);
    end();
}

static void a_post_after_stores(void)
{
    int value = 1;
    begin();
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    if (me == 0) {
        MPI_Win_start(to_1, 0, win);
        MPI_Get(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Win_complete(win);
    } else if (me == 1) {
        WRONG_ONLY(part[3] = 1); /* e */
        /* That of another part changes nothing. */
        MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win);
        MPI_Win_unlock(2, win);
        MPI_Win_post(to_0, MPI_MODE_NOSTORE | MPI_MODE_NOPUT, win); /* one-sided misuse: e */
        MPI_Win_wait(win);
    }
    end();
}

static void a_post_before_puts(void)
{
    int value = 1, asserted = 0;
    WRONG_ONLY(asserted = MPI_MODE_NOPUT);
    begin();
    if (me == 0) {
        MPI_Win_start(to_1, 0, win);
        MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* one-sided misuse: f */
        MPI_Win_complete(win);
    } else if (me == 1) {
        MPI_Win_post(to_0, asserted, win); /* f */
        MPI_Win_wait(win);
        MPI_Win_post(to_0, MPI_MODE_NOPUT, win);
        MPI_Win_wait(win);
    }
    if (me == 0) {
        MPI_Win_start(to_1, 0, win);
        MPI_Get(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Win_complete(win);
    }
    end();
}

/* Nobody has told the origin that it may start. */
static void a_start_without_a_look(void)
{
    int value = 1;
    begin();
    if (me == 1)
        MPI_Win_post(to_0, MPI_MODE_NOCHECK, win); /* g */
    RIGHT(MPI_Barrier(MPI_COMM_WORLD));
    if (me == 0) {
        MPI_Win_start(to_1, MPI_MODE_NOCHECK, win); /* one-sided misuse: g */
        MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Win_complete(win);
    } else if (me == 1)
        MPI_Win_wait(win);
    end();
}

static void a_start_that_asserts_alone(void)
{
    begin();
    if (me == 1)
        MPI_Win_post(to_0, RIGHT(MPI_MODE_NOCHECK) WRONG_ONLY(0), win); /* h */
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        MPI_Win_start(to_1, MPI_MODE_NOCHECK, win); /* one-sided misuse: h */
        MPI_Win_complete(win);
    } else if (me == 1)
        MPI_Win_wait(win);
    end();
}

static void a_lock_that_another_has(void)
{
    int value = 1;
    begin();
    if (me == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win); /* i */
        MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Win_unlock(1, win);
    }
    RIGHT(MPI_Barrier(MPI_COMM_WORLD));
    if (me == 2) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, MPI_MODE_NOCHECK, win); /* one-sided misuse: i */
        MPI_Put(&value, 1, MPI_INT, 1, 2, 1, MPI_INT, win);
        MPI_Win_unlock(1, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    MPI_Win_unlock_all(win);
    end();
}

static void outside_of_epochs(void)
{
    int value = 1, wrong = MPI_SUCCESS;
    WRONG_ONLY(wrong = MPI_ERR_RMA_SYNC);
    begin();
    RIGHT(MPI_Win_fence(0, win));
    if (me == 0)
        EQUAL(MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win), wrong); /* one-sided misuse: j */
    RIGHT(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    RIGHT(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win));
    EQUAL(MPI_Win_unlock(1, win), wrong); /* one-sided misuse: k */
    end();
}

static void signatures(void)
{
    int values[4] = {1}, got[2];
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    begin();
    MPI_Win_fence(0, win);
    if (me == 0) {
        MPI_Put(values, 2, MPI_INT, 1, 0, 2, RIGHT(MPI_INT) WRONG_ONLY(MPI_FLOAT), win); /* one-sided misuse: l */
        MPI_Put(values, 2, MPI_INT, 1, 4, 1, pair, win);
        MPI_Put(values, 8, MPI_BYTE, 1, 8, 1, pair, win);
        MPI_Get(got, 1, pair, 2, 0, 2, RIGHT(MPI_INT) WRONG_ONLY(MPI_UNSIGNED), win); /* one-sided misuse: m */
    }
    MPI_Win_fence(0, win);
    MPI_Type_free(&pair);
    end();
}

int main(int argc, char **argv)
{
    MPI_Group world;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, (int[]){0}, &to_0);
    MPI_Group_incl(world, 1, (int[]){1}, &to_1);
    a_fence_after_stores();
    a_fence_before_puts();
    a_fence_after_operations();
    a_fence_that_not_all_assert();
    a_post_after_stores();
    a_post_before_puts();
    a_start_without_a_look();
    a_start_that_asserts_alone();
    a_lock_that_another_has();
    outside_of_epochs();
    signatures();
    MPI_Finalize();
    return 0;
}
