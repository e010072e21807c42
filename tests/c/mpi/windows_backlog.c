/* test: cores=2 */
/* What an origin accumulates while its target is away is queued at the origin, but not without an end: it waits for the target. */
#include "../check.h"
#include <mpi.h>
#include <unistd.h>

enum { NUMBERS = 40000, TIMES = 8 };

static int part[NUMBERS];

int main(void)
{
    static int ones[NUMBERS];
    int me;
    MPI_Win window;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_create(part, sizeof part, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    for (int i = 0; i < NUMBERS; i++)
        ones[i] = 1;
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    if (me == 0) {
        volatile double away = 0;
        while (MPI_Wtime() - begin < 0.1)
            away++;
    } else {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOCHECK, window);
        MPI_Accumulate(ones, 10, MPI_INT, 0, 0, 10, MPI_INT, MPI_SUM, window);
        MPI_Win_flush_local(0, window);
        double few = MPI_Wtime();
        for (int i = 1; i < TIMES; i++) {
            MPI_Accumulate(ones, NUMBERS, MPI_INT, 0, 0, NUMBERS, MPI_INT, MPI_SUM, window);
            MPI_Win_flush_local(0, window);
        }
        double many = MPI_Wtime();
        MPI_Win_unlock(0, window);
        CHECK(few - begin < 0.09 && many - begin >= 0.09);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0)
        CHECK(part[0] == TIMES && part[NUMBERS - 1] == TIMES - 1);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
