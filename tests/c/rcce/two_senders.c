/* test: cores=2,5 fails="a message being received" */
/* test: cores=2 faithful fails="a message being received" */
/* UEs that send to each other, and do not receive, wait for ever. */
#include <RCCE.h>

int RCCE_APP(int argc, char **argv)
{
    char bytes[40] = "";
    RCCE_init(&argc, &argv);
    RCCE_send(bytes, sizeof bytes, (RCCE_ue() + 1) % RCCE_num_ues());
    RCCE_recv(bytes, sizeof bytes, (RCCE_ue() + RCCE_num_ues() - 1) % RCCE_num_ues());
    RCCE_finalize();
    return 0;
}
