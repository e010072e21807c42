/* A pointer that one UE sets and the other one follows: where `WRONG` is defined without a look at whether it is set, which goes well as
   long as the one who follows it is late. */
#include "../check.h"
#include <RCCE.h>

static int number = 5;

int RCCE_APP(int argc, char **argv)
{
    RCCE_init(&argc, &argv);
    int me = RCCE_ue(), *there = NULL;
    char line[RCCE_LINE_SIZE] = {0};
    t_vcharp own = RCCE_malloc(sizeof line);
    RCCE_FLAG is_set;
    RCCE_flag_alloc(&is_set);
    CHECK(own);
    RCCE_barrier(&RCCE_COMM_WORLD);
    for (int late = 0; late < 50 * (1 - me); late++)
        RCCE_put(own, (t_vcharp)line, sizeof line, me);
    if (me == 1) {
        RCCE_flag_write(&is_set, RCCE_FLAG_SET, 0);
    } else {
        RCCE_FLAG_STATUS status;
#ifdef WRONG
        RCCE_flag_read(is_set, &status, 0);
#else
        RCCE_wait_until(is_set, RCCE_FLAG_SET);
        status = RCCE_FLAG_SET;
#endif
        if (status == RCCE_FLAG_SET)
            there = &number;
        CHECK(*there == 5);
    }
    RCCE_barrier(&RCCE_COMM_WORLD);
    RCCE_finalize();
    return 0;
}
