/* test: cores=1,2,5 */
/* test: cores=2 options=-DGORY */
/* Programs may end without RCCE_finalize, on some UEs or all; and define what C libraries call by other names. */
#include "../check.h"
#include <RCCE.h>

int send(int a) { return a + 1; }
int panic(void) { return 2; }
int core = 3;

int RCCE_APP(int argc, char **argv)
{
    RCCE_init(&argc, &argv);
    EQUAL(RCCE_init(&argc, &argv), RCCE_SUCCESS);
    CHECK(RCCE_malloc(32) != NULL && RCCE_shmalloc(32) != NULL);
    EQUAL(send(1) + panic() + core, 7);
    RCCE_barrier(&RCCE_COMM_WORLD);
    return 0;
}
