/* Two locks: taken in two orders where `WRONG` is defined, which goes well as long as one UE is late, and always in one otherwise. */
#include "../check.h"
#include <RCCE.h>

int RCCE_APP(int argc, char **argv)
{
    RCCE_init(&argc, &argv);
    int me = RCCE_ue(), turned = 0;
    char line[RCCE_LINE_SIZE] = {0};
    t_vcharp own = RCCE_malloc(sizeof line);
    CHECK(own);
    RCCE_barrier(&RCCE_COMM_WORLD);
    for (int late = 0; late < 50 * me; late++)
        RCCE_put(own, (t_vcharp)line, sizeof line, me);
#ifdef WRONG
    turned = me;
#endif
    RCCE_acquire_lock(turned);
    RCCE_acquire_lock(1 - turned);
    RCCE_release_lock(0);
    RCCE_release_lock(1);
    RCCE_barrier(&RCCE_COMM_WORLD);
    RCCE_finalize();
    return 0;
}
