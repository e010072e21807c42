/* MPI: windows whose memory is allocated with them. */

#include <atoll/mpi.h>
#include <stdlib.h>

int PMPI_Win_allocate_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win)
{
    ATOLL_NEEDS(Win_allocate, baseptr, comm);
    void *memory = size < 0 ? NULL : malloc(size > 0 ? size : 1);
    int error = ATOLL(win_allocate_there, memory, size, disp_unit, info, comm, win);
    if (error) {
        free(memory);
        return error;
    }
    *(void **)baseptr = memory;
    return MPI_SUCCESS;
}
ATOLL_BOTH(Win_allocate_c);

int PMPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win)
{
    return PMPI_Win_allocate_c(size, disp_unit, info, comm, baseptr, win);
}
ATOLL_BOTH(Win_allocate);

int PMPI_Win_allocate_shared_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
                               MPI_Win *win)
{
    ATOLL_NEEDS(Win_allocate_shared, baseptr, comm);
    size_t bytes = 0;
    int error = ATOLL(win_share, size, disp_unit, info, comm, win, &bytes);
    if (!error)
        error = ATOLL(win_map, *win, malloc(bytes > 0 ? bytes : 1), baseptr);
    return error;
}
ATOLL_BOTH(Win_allocate_shared_c);

int PMPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win)
{
    return PMPI_Win_allocate_shared_c(size, disp_unit, info, comm, baseptr, win);
}
ATOLL_BOTH(Win_allocate_shared);

int PMPI_Win_free(MPI_Win *win)
{
    void *memory = NULL;
    int error = ATOLL(win_give_up, win, &memory);
    if (!error)
        free(memory);
    return error;
}
ATOLL_BOTH(Win_free);
