/* test: cores=1,2,5,16,48 */
/* Shared windows: each rank stores to its own part and to others' that meet in a line, and all see what all have stored. */
#include "../check.h"
#include <mpi.h>
#include <stdint.h>
#include <string.h>

/* Parts are of odd lengths, none on some ranks. */
static MPI_Aint length_of(int rank)
{
    return rank % 4 == 3 ? 0 : 5 + 7 * (rank % 3);
}

enum { LONG = 20000 };

/* Of a long window others read only what was written, however often that was since they have looked; else it would take as long as all. */
static void long_window(int me, int ranks)
{
    static unsigned char expected[48 * LONG];
    unsigned char *base, *all;
    int unit;
    double times[2];
    MPI_Aint size;
    MPI_Win window;
    MPI_Win_allocate_shared(LONG, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    MPI_Win_shared_query(window, 0, &size, &unit, &all);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    for (int round = 0; round < 8; round++) {
        for (int writer = round % 3; writer < ranks; writer += 3)
            for (int writing = 0; writing < round; writing++) {
                int at = (writer + 1) % ranks * LONG + (round * 131 + writing * 9777) % LONG, value = writer + 7 * round + writing + 1;
                expected[at] = value;
                if (me == writer)
                    all[at] = value, MPI_Win_sync(window);
            }
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_sync(window);
        CHECK(memcmp(all, expected, (size_t)ranks * LONG) == 0);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int all_of_it = 0; all_of_it < 2; all_of_it++) {
        if (me == 0)
            memset(all, 200 + all_of_it, all_of_it ? ranks * LONG : 1);
        if (me == 0)
            MPI_Win_sync(window);
        double begin = MPI_Wtime();
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_sync(window);
        times[all_of_it] = MPI_Wtime() - begin;
        CHECK(all[0] == 200 + all_of_it && (!all_of_it || all[ranks * LONG - 1] == 201));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK(me == 0 || 5 * times[0] < times[1]);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

static void check_hint(MPI_Win window, const char *key, const char *value)
{
    MPI_Info info;
    char found[MPI_MAX_INFO_VAL];
    int flag;
    EQUAL(MPI_Win_get_info(window, &info), MPI_SUCCESS);
    MPI_Info_get(info, key, sizeof found - 1, found, &flag);
    CHECK(flag == (value != NULL) && (!flag || strcmp(found, value) == 0));
    MPI_Info_free(&info);
}

/* Hints that the standard names are told again, however the window was made; others are not. */
static void hints(void)
{
    static int memory;
    MPI_Win windows[4];
    MPI_Info info;
    void *base;
    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", "true"), MPI_Info_set(info, "something", "true");
    MPI_Win_create(&memory, sizeof memory, 1, info, MPI_COMM_WORLD, &windows[0]);
    MPI_Win_allocate(4, 1, info, MPI_COMM_WORLD, &base, &windows[1]);
    MPI_Win_allocate_shared(4, 1, info, MPI_COMM_WORLD, &base, &windows[2]);
    MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &windows[3]);
    MPI_Info_set(info, "no_locks", "false"), MPI_Info_set(info, "accumulate_ordering", "none");
    for (int i = 0; i < 4; i++) {
        check_hint(windows[i], "no_locks", "true");
        check_hint(windows[i], "something", NULL);
        check_hint(windows[i], "accumulate_ordering", "rar,raw,war,waw");
        EQUAL(MPI_Win_set_info(windows[i], info), MPI_SUCCESS);
        check_hint(windows[i], "no_locks", "false");
        check_hint(windows[i], "accumulate_ordering", "none");
        MPI_Win_free(&windows[i]);
    }
    MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
    int me, ranks, unit;
    unsigned char *base, *parts[64], *end = NULL;
    MPI_Aint size;
    MPI_Win window;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    EQUAL(MPI_Win_allocate_shared(length_of(me), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window), MPI_SUCCESS);
    for (int rank = 0; rank < ranks; rank++) {
        EQUAL(MPI_Win_shared_query(window, rank, &size, &unit, &parts[rank]), MPI_SUCCESS);
        end = rank == 0 ? parts[0] : end;
        EQUAL(size, length_of(rank));
        EQUAL(unit, 1);
        /* One behind the other, as programs expect that do not say otherwise. */
        CHECK(parts[rank] == (size > 0 ? end : NULL));
        end += size;
    }
    CHECK(length_of(me) == 0 || base == parts[me]);
    MPI_Win_shared_query(window, MPI_PROC_NULL, &size, &unit, &base);
    CHECK(base == parts[0] && size == 5);

    /* Byte `at` of each part is written by a rank of its own, by fences. */
    MPI_Win_fence(0, window);
    for (int round = 1; round < 4; round++) {
        for (int rank = 0; rank < ranks; rank++)
            for (int at = 0; at < length_of(rank); at++)
                if ((rank + at + round) % ranks == me)
                    parts[rank][at] = 31 * rank + 7 * at + round;
        MPI_Win_fence(0, window);
        for (int rank = 0; rank < ranks; rank++)
            for (int at = 0; at < length_of(rank); at++)
                EQUAL(parts[rank][at], (unsigned char)(31 * rank + 7 * at + round));
        MPI_Win_fence(0, window);
    }

    /* The same with MPI_Win_sync on both sides. */
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    MPI_Win_lock_all(0, window);
    for (int at = 0; at < length_of(me); at++)
        parts[me][at] = me;
    MPI_Win_sync(window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(window);
    for (int rank = 0; rank < ranks; rank++)
        for (int at = 0; at < length_of(rank); at++)
            EQUAL(parts[rank][at], rank);
    MPI_Barrier(MPI_COMM_WORLD);

    /* What is put is there when the target has synchronised. */
    unsigned char mark = 200 + me;
    int next = (me + 1) % ranks;
    if (length_of(next) > 0)
        EQUAL(MPI_Put(&mark, 1, MPI_BYTE, next, 1, 1, MPI_BYTE, window), MPI_SUCCESS);
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
    MPI_Win_sync(window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(window);
    for (int rank = 0; rank < ranks; rank++)
        if (length_of(rank) > 0)
            EQUAL(parts[rank][1], (unsigned char)(200 + (rank + ranks - 1) % ranks));
    MPI_Win_unlock_all(window);
    EQUAL(MPI_Win_free(&window), MPI_SUCCESS);

    /* What one rank has stored over what another one has, and that was there at first. */
    for (int last = 0; last < 2; last++) {
        EQUAL(MPI_Win_allocate_shared(1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window), MPI_SUCCESS);
        MPI_Win_shared_query(window, 0, &size, &unit, &base);
        MPI_Win_lock_all(0, window);
        if (me == ranks - 1) {
            *base = 5;
            MPI_Win_sync(window);
            if (ranks > 1)
                MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
        if (me == 0) {
            if (ranks > 1 && last == 0)
                MPI_Recv(NULL, 0, MPI_BYTE, ranks - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int received = 0; ranks > 1 && last == 1 && !received;) {
                if (request == MPI_REQUEST_NULL)
                    MPI_Irecv(NULL, 0, MPI_BYTE, ranks - 1, 0, MPI_COMM_WORLD, &request);
                MPI_Test(&request, &received, MPI_STATUS_IGNORE);
            }
            *base = 0;
            MPI_Win_sync(window);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_sync(window);
        EQUAL(*base, 0);
        MPI_Win_unlock_all(window);
        MPI_Win_free(&window);
    }

    /* More than there are addresses, at all ranks. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    size = ranks == 1 ? 9 : PTRDIFF_MAX / ranks + 1;
    EQUAL(MPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window), ranks == 1 ? 0 : MPI_ERR_NO_MEM);
    if (ranks == 1)
        MPI_Win_free(&window);

    /* One rank's memory needs nobody else; others need all. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    EQUAL(MPI_Win_allocate_shared(9, 1, MPI_INFO_NULL, MPI_COMM_SELF, &base, &window), MPI_SUCCESS);
    base[8] = 1;
    EQUAL(MPI_Win_free(&window), MPI_SUCCESS);
    if (ranks > 3) {
        MPI_Comm half;
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &half);
        EQUAL(MPI_Win_allocate_shared(9, 1, MPI_INFO_NULL, half, &base, &window), MPI_ERR_RMA_SHARED);
        MPI_Comm_free(&half);
    }
    hints();
    if (ranks < 48)
        long_window(me, ranks);
    MPI_Finalize();
    return 0;
}
