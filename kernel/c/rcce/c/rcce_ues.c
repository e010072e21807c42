/* RCCE: the UEs, and their time. */

#define ATOLL_RCCE_LIBRARY
#include <RCCE.h>
#include <RCCE_lib.h>
#include <atoll/rcce.h>

int RCCE_NP;
int RCCE_IAM = -1;
int RC_COREID[RCCE_MAXNP];
int RC_MY_COREID = -1;

double RCCE_wtime(void)
{
    return atoll_services->now_ns(atoll_context) * 1e-9;
}

int RCCE_ue(void)
{
    return RCCE_IAM;
}

int RCCE_num_ues(void)
{
    return RCCE_NP;
}
