/* test: cores=2 says="UE 1: RCCE error 1234324: there is no UE with this number" */
/* What is debugged is said. */
#include <RCCE.h>

int RCCE_APP(int argc, char **argv)
{
    RCCE_init(&argc, &argv);
    if (RCCE_ue() == 1) {
        RCCE_debug_set(RCCE_DEBUG_ALL);
        RCCE_send("x", 1, 7);
    }
    RCCE_finalize();
    return 0;
}
