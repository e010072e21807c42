/* test: cores=1 options=-DGORY fails="dereference.c:9" */
/* A place in the MPBs is no pointer to follow. */
#include <RCCE.h>

int RCCE_APP(int argc, char **argv)
{
    RCCE_init(&argc, &argv);
    t_vcharp place = RCCE_malloc(32);
    return *place;
}
