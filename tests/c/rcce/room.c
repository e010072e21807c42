/* test: cores=3 options=-DRCCE_MAXNP=2 fails="compile it with -D RCCE_MAXNP=3" */
/* A program for two UEs, on three cores. */
#include <RCCE.h>

int RCCE_APP(int argc, char **argv)
{
    return RCCE_init(&argc, &argv) != RCCE_SUCCESS;
}
