/* Heat in a plate, of which each rank has some rows in a window: the rows of its neighbours come by puts, and all else are its own loads and
   stores, to memory that others reach. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 16, COLUMNS = 128 };

/* With the last row of the rank above before, and the first of that below behind. */
typedef double plate[ROWS + 2][COLUMNS];

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int steps = argc > 1 ? atoi(argv[1]) : 10, me, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    plate *plates;
    MPI_Win window;
    MPI_Win_allocate(2 * sizeof(plate), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &plates, &window);
    for (int row = 0; row < ROWS + 2; row++)
        for (int column = 0; column < COLUMNS; column++)
            plates[0][row][column] = plates[1][row][column] = me == 0 && row <= 1 ? 100 : 0;
    MPI_Win_fence(0, window);
    for (int step = 0; step < steps; step++) {
        double(*old)[COLUMNS] = plates[step % 2], (*new)[COLUMNS] = plates[1 - step % 2];
        MPI_Aint base = (1 - step % 2) * (ROWS + 2) * COLUMNS;
        for (int row = me == 0 ? 2 : 1; row <= ROWS; row++)
            for (int column = 1; column < COLUMNS - 1; column++)
                new[row][column] = (old[row - 1][column] + old[row + 1][column] + old[row][column - 1] + old[row][column + 1]) / 4;
        MPI_Win_fence(0, window);
        if (me > 0)
            MPI_Put(new[1], COLUMNS, MPI_DOUBLE, me - 1, base + (ROWS + 1) * COLUMNS, COLUMNS, MPI_DOUBLE, window);
        if (me + 1 < size)
            MPI_Put(new[ROWS], COLUMNS, MPI_DOUBLE, me + 1, base, COLUMNS, MPI_DOUBLE, window);
        MPI_Win_fence(0, window);
    }
    double sum = 0, all;
    for (int row = 1; row <= ROWS; row++)
        for (int column = 0; column < COLUMNS; column++)
            sum += plates[steps % 2][row][column];
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0)
        printf("%.3f\n", all);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
