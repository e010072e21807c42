/* test: cores=5 */
/* A rank that is asked by several others without end still comes out of a call that only looks, and out of its own flushes. */
#include "../check.h"
#include <mpi.h>
#include <string.h>

enum { ROUNDS = 4 };

/* How long rank 0 looks in all, and at most once: a look takes no longer than it takes to answer what has come. */
static const double LOOKING_S = 500e-6, LOOK_S = 100e-6;

static int me, ranks;

/* Rank 0 looks for messages, and then says that the others may stop asking. */
static void look_while_asked(void)
{
    int word[2] = {0, 0}, flag;
    double longest = 0;
    MPI_Win window;
    MPI_Win_create(word, sizeof word, sizeof *word, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_lock_all(0, window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        double begin = MPI_Wtime(), end = begin;
        while (end - begin < LOOKING_S) {
            double before = end;
            MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
            end = MPI_Wtime();
            longest = end - before > longest ? end - before : longest;
        }
        word[0] = 1;
        if (longest > LOOK_S) {
            printf("a look has taken %.0f us\n", longest * 1e6);
            exit(1);
        }
    } else {
        int seen = 0;
        for (int asked = 0; !seen; asked++) {
            CHECK(asked < 2000);
            MPI_Get(&seen, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
            MPI_Win_flush(0, window);
        }
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

/* A lock of the program's own at rank 0, which is among those that want it. */
static void own_lock(void)
{
    enum { LOCK, COUNT };
    long long words[2] = {0, 0}, one = 1, zero = 0, was, count;
    MPI_Win window;
    MPI_Win_create(words, sizeof words, sizeof *words, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
    for (int round = 0; round < ROUNDS; round++) {
        do {
            MPI_Compare_and_swap(&one, &zero, &was, MPI_LONG_LONG, 0, LOCK, window);
            MPI_Win_flush(0, window);
        } while (was);
        MPI_Get(&count, 1, MPI_LONG_LONG, 0, COUNT, 1, MPI_LONG_LONG, window);
        MPI_Win_flush(0, window);
        count++;
        MPI_Put(&count, 1, MPI_LONG_LONG, 0, COUNT, 1, MPI_LONG_LONG, window);
        MPI_Win_flush(0, window);
        MPI_Accumulate(&zero, 1, MPI_LONG_LONG, 0, LOCK, 1, MPI_LONG_LONG, MPI_REPLACE, window);
        MPI_Win_flush(0, window);
    }
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0)
        EQUAL(words[COUNT], ROUNDS * ranks);
    MPI_Win_free(&window);
}

int main(void)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &me), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    look_while_asked();
    own_lock();
    MPI_Finalize();
    return 0;
}
