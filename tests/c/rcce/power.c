/* test: cores=1,2,5,16,48 options=-DRC_POWER_MANAGEMENT says="RCCE's power interface answers as the chip would" */
/* test: cores=5 options=-DRC_POWER_MANAGEMENT,-DGORY says="RCCE's power interface answers as the chip would" */
/* Power management, as the chip answers. */
#include "../check.h"
#include <RCCE.h>
#include <RCCE_lib.h>

int RCCE_APP(int argc, char **argv)
{
    RCCE_init(&argc, &argv);
    int me = RCCE_ue(), size = RCCE_num_ues(), divider = -1, level = -1;
    RCCE_REQUEST request;
    int domain = me / 2 % 6 / 2 + me / 2 / 6 / 2 * 3;
    EQUAL(RCCE_power_domain(), domain);
    EQUAL(RCCE_P_COMM.size, RCCE_power_domain_size());
    EQUAL(RCCE_P_COMM.member[0], RCCE_power_domain_master());
    if (size == 48)
        EQUAL(RCCE_power_domain_size(), 8);
    RCCE_barrier(&RCCE_P_COMM);
    int is_master = me == RCCE_power_domain_master();
    EQUAL(RCCE_set_frequency_divider(8, &divider), RCCE_SUCCESS);
    EQUAL(divider, is_master ? 8 : -1);
    EQUAL(RCCE_iset_power(2, &request, &divider, &level), RCCE_SUCCESS);
    if (is_master) {
        /* 800 MHz take 1.1 V. */
        EQUAL(divider, 2);
        EQUAL(level, 4);
        EQUAL(RCCE_iset_power(3, &request, &divider, &level), RCCE_ERROR_MULTIPLE_RPC_REQUESTS);
        EQUAL(RCCE_set_frequency_divider(3, &divider), RCCE_ERROR_MULTIPLE_RPC_REQUESTS);
        EQUAL(RCCE_wait_power(&request), RCCE_SUCCESS);
        EQUAL(RCCE_wait_power(&request), RCCE_ERROR_NO_ACTIVE_RPC_REQUEST);
        EQUAL(RCCE_iset_power(100, &request, &divider, &level), RCCE_SUCCESS);
        EQUAL(divider, 16);
        EQUAL(level, 0);
        EQUAL(RCCE_wait_power(&request), RCCE_SUCCESS);
        EQUAL(RCCE_set_frequency_divider(2, &divider), RCCE_ERROR_FDIVIDER);
        EQUAL(RCCE_set_frequency_divider(4, &divider), RCCE_SUCCESS);
    }
    EQUAL(RCCE_iset_power(3, NULL, &divider, &level), RCCE_ERROR_RPC_NOT_ALLOCATED);
    CHECK(RC_global_clock() >= 0);
    if (me == 0)
        print_dividers();
    RCCE_finalize();
    return 0;
}
