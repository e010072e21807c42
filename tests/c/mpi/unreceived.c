/* test: cores=2,5 */
/* Ranks that have sent as many messages as may wait for their receives meet all the same. */
#include "../check.h"
#include <mpi.h>

enum { MESSAGES = 16 };

int main(void)
{
    int me, size, number;
    MPI_Request sends[MESSAGES], barrier;
    MPI_Comm same;
    MPI_Win window;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, 0, size - me, &same);
    MPI_Win_create(&number, sizeof number, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    for (int i = 0; i < MESSAGES; i++)
        MPI_Isend(&me, 1, MPI_INT, (me + 1) % size, i, MPI_COMM_WORLD, &sends[i]);
    MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
    MPI_Wait(&barrier, MPI_STATUS_IGNORE);
    MPI_Barrier(same);
    MPI_Win_fence(0, window);
    MPI_Win_fence(0, window);
    for (int i = 0; i < MESSAGES; i++) {
        MPI_Recv(&number, 1, MPI_INT, (me + size - 1) % size, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(number == (me + size - 1) % size);
    }
    MPI_Waitall(MESSAGES, sends, MPI_STATUSES_IGNORE);
    MPI_Win_free(&window);
    MPI_Comm_free(&same);
    MPI_Finalize();
    return 0;
}
