/* test: cores=4 */
/* Two ranks have locked the parts of two others, which wait to have these alone; then each locks the other part, too. They have locked
 * all, or share the parts one by one, in one window or in two: nobody is to wait for somebody who waits for it. */
#include "../check.h"
#include <mpi.h>

enum { SHARERS = 2 };

static int me;

static void compute(double seconds)
{
    int flag;
    double begin = MPI_Wtime();
    while (MPI_Wtime() - begin < seconds)
        MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

/* Each of the last two ranks waits for its own part. */
static void own_part(MPI_Win window)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, window);
    MPI_Win_unlock(me, window);
}

static void lock_all(MPI_Win window, int *part)
{
    int number = me + 1;
    part[0] = part[1] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (me < SHARERS) {
        MPI_Win_lock_all(0, window);
        MPI_Put(&number, 1, MPI_INT, SHARERS + me, me, 1, MPI_INT, window);
        MPI_Win_flush(SHARERS + me, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (me < SHARERS) {
        compute(200e-6);
        MPI_Put(&number, 1, MPI_INT, 2 * SHARERS - 1 - me, me, 1, MPI_INT, window);
        MPI_Win_unlock_all(window);
    } else {
        own_part(window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (me >= SHARERS) {
        EQUAL(part[0], 1);
        EQUAL(part[1], 2);
    }
}

static void lock_two(MPI_Win window, MPI_Win other)
{
    if (me < SHARERS)
        MPI_Win_lock(MPI_LOCK_SHARED, SHARERS + me, 0, me ? other : window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me < SHARERS) {
        compute(200e-6);
        MPI_Win_lock(MPI_LOCK_SHARED, 2 * SHARERS - 1 - me, 0, me ? window : other);
        MPI_Win_unlock(2 * SHARERS - 1 - me, me ? window : other);
        MPI_Win_unlock(SHARERS + me, me ? other : window);
    } else {
        own_part(me == SHARERS ? window : other);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Ranks that lock all again and again, only one part each time, and one of which always has it, do not keep out another one that wants
 * that part alone. */
static void take_turns(MPI_Win window, int *part)
{
    int last = 2 * SHARERS - 1, is_done = 0;
    part[0] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    compute(me * 100e-6);
    if (me == last) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, window);
        part[0] = 1;
        MPI_Win_unlock(me, window);
    }
    while (me < SHARERS && !is_done) {
        MPI_Win_lock_all(0, window);
        MPI_Get(&is_done, 1, MPI_INT, last, 0, 1, MPI_INT, window);
        compute(200e-6);
        MPI_Win_unlock_all(window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(void)
{
    int parts[2][2];
    MPI_Win windows[2];
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int window = 0; window < 2; window++)
        MPI_Win_create(parts[window], sizeof parts[window], sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                       &windows[window]);
    lock_all(windows[0], parts[0]);
    lock_two(windows[0], windows[0]);
    lock_two(windows[0], windows[1]);
    take_turns(windows[0], parts[0]);
    MPI_Win_free(&windows[0]), MPI_Win_free(&windows[1]);
    MPI_Finalize();
    return 0;
}
