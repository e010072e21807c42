/* test: cores=1,2 */
/* What MPI 3.0 has removed, as programs of before 2012 call it. */
#include "../check.h"
#include <mpi.h>
#include <stddef.h>
#include <string.h>

struct particle {
    char kind;
    double place[3];
    int number;
};

static int handled;

static void handle(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    MPI_Error_class(*code, &handled);
}

static void handlers(void)
{
    MPI_Errhandler handler, found;
    EQUAL(MPI_Errhandler_create(handle, &handler), MPI_SUCCESS);
    EQUAL(MPI_Errhandler_set(MPI_COMM_WORLD, handler), MPI_SUCCESS);
    EQUAL(MPI_Send(NULL, 0, MPI_INT, 1000, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    EQUAL(handled, MPI_ERR_RANK);
    EQUAL(MPI_Errhandler_get(MPI_COMM_WORLD, &found), MPI_SUCCESS);
    MPI_Errhandler_set(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_set(MPI_COMM_WORLD, found);
    handled = 0;
    EQUAL(MPI_Send(NULL, 0, MPI_INT, 1000, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    EQUAL(handled, MPI_ERR_RANK);
    MPI_Errhandler_free(&handler);
    MPI_Errhandler_free(&found);
}

/* A structure with marks of its bounds: an array of it is sent as one of structures. */
static void structures(int me, int size)
{
    struct particle all[3], got[3];
    MPI_Aint start, places[5], lower, upper, extent;
    memset(got, 0, sizeof got);
    EQUAL(MPI_Address(all, &start), MPI_SUCCESS);
    MPI_Address(&all[0].kind, &places[1]);
    MPI_Address(all[0].place, &places[2]);
    MPI_Address(&all[0].number, &places[3]);
    places[0] = start, places[4] = start + sizeof *all;
    for (int i = 0; i < 5; i++)
        places[i] -= start;
    MPI_Datatype types[5] = {MPI_LB, MPI_CHAR, MPI_DOUBLE, MPI_INT, MPI_UB}, particle;
    EQUAL(MPI_Type_struct(5, (int[]){1, 1, 3, 1, 1}, places, types, &particle), MPI_SUCCESS);
    EQUAL(MPI_Type_commit(&particle), MPI_SUCCESS);
    MPI_Type_extent(particle, &extent);
    EQUAL(extent, sizeof *all);
    for (int i = 0; i < 3; i++)
        all[i] = (struct particle){'a' + i, {i, me, 0.5}, 7 * i};
    MPI_Status status;
    int count;
    MPI_Sendrecv(all, 3, particle, (me + 1) % size, 0, got, 3, particle, (me + size - 1) % size, 0, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, particle, &count);
    EQUAL(count, 3);
    MPI_Get_elements(&status, particle, &count);
    EQUAL(count, 15);
    for (int i = 0; i < 3; i++)
        CHECK(got[i].kind == 'a' + i && got[i].place[0] == i && got[i].place[1] == (me + size - 1) % size &&
              got[i].place[2] == 0.5 && got[i].number == 7 * i);
    MPI_Type_free(&particle);

    /* Only one bound is set; the other is where the data say. */
    EQUAL(MPI_Type_struct(2, (int[]){1, 1}, (MPI_Aint[]){4, 25}, (MPI_Datatype[]){MPI_INT, MPI_UB}, &particle), MPI_SUCCESS);
    MPI_Type_lb(particle, &lower);
    MPI_Type_ub(particle, &upper);
    EQUAL(lower, 4);
    EQUAL(upper, 25);
    MPI_Type_free(&particle);
}

static void strides(void)
{
    MPI_Datatype type;
    MPI_Aint extent;
    int numbers[12], packed[4] = {0}, at = 0;
    for (int i = 0; i < 12; i++)
        numbers[i] = i;
    EQUAL(MPI_Type_hvector(2, 2, 5 * sizeof(int), MPI_INT, &type), MPI_SUCCESS);
    MPI_Type_extent(type, &extent);
    EQUAL(extent, 7 * sizeof(int));
    MPI_Type_commit(&type);
    MPI_Pack(numbers, 1, type, packed, sizeof packed, &at, MPI_COMM_SELF);
    CHECK(!memcmp(packed, (int[]){0, 1, 5, 6}, sizeof packed));
    MPI_Type_free(&type);
    EQUAL(MPI_Type_hindexed(2, (int[]){1, 2}, (MPI_Aint[]){8, 0}, MPI_INT, &type), MPI_SUCCESS);
    MPI_Type_commit(&type);
    at = 0;
    MPI_Pack(numbers, 1, type, packed, sizeof packed, &at, MPI_COMM_SELF);
    CHECK(at == 12 && !memcmp(packed, (int[]){2, 0, 1}, 12));
    MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
    int me, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    handlers();
    structures(me, size);
    strides();
    MPI_Finalize();
    return 0;
}
