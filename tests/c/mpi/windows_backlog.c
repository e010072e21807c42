/* test: cores=2 */
/* What an origin accumulates or gets while its target is away is queued, but not without an end: it waits for the target. */
#include "../check.h"
#include <mpi.h>
#include <unistd.h>

enum { NUMBERS = 40000, TIMES = 8 };

static int part[NUMBERS], ones[NUMBERS], got[TIMES][NUMBERS];

static void accumulate(MPI_Win window, int time, int numbers)
{
    (void)time;
    MPI_Accumulate(ones, numbers, MPI_INT, 0, 0, numbers, MPI_INT, MPI_SUM, window);
}

static void get(MPI_Win window, int time, int numbers)
{
    MPI_Get(got[time], numbers, MPI_INT, 0, 0, numbers, MPI_INT, window);
}

static void fetch(MPI_Win window, int time, int numbers)
{
    MPI_Get_accumulate(NULL, 0, MPI_INT, got[time], numbers, MPI_INT, 0, 0, numbers, MPI_INT, MPI_NO_OP, window);
}

static void try_with(MPI_Win window, int me, void (*access)(MPI_Win, int, int))
{
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    if (me == 0) {
        volatile double away = 0;
        while (MPI_Wtime() - begin < 0.1)
            away++;
    } else {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOCHECK, window);
        access(window, 0, 10);
        double few = MPI_Wtime();
        for (int time = 1; time < TIMES; time++)
            access(window, time, NUMBERS);
        double many = MPI_Wtime();
        MPI_Win_unlock(0, window);
        CHECK(few - begin < 0.09 && many - begin >= 0.09);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(void)
{
    int me;
    MPI_Win window;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_create(part, sizeof part, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    for (int i = 0; i < NUMBERS; i++)
        ones[i] = 1;
    try_with(window, me, accumulate);
    if (me == 0)
        CHECK(part[0] == TIMES && part[NUMBERS - 1] == TIMES - 1);
    void (*const reads[])(MPI_Win, int, int) = {get, fetch};
    for (int read = 0; read < 2; read++) {
        for (int time = 0; time < TIMES; time++)
            got[time][0] = got[time][NUMBERS - 1] = 0;
        try_with(window, me, reads[read]);
        for (int time = 1; me > 0 && time < TIMES; time++)
            CHECK(got[time][0] == TIMES && got[time][NUMBERS - 1] == TIMES - 1);
    }
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
