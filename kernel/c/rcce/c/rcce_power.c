/*
 * RCCE: power management. It answers as the SCC would, whose tiles have clocks and voltages of their own, and changes
 * nothing: tiles keep the clock that they have.
 */

#include <RCCE.h>
#include <RCCE_lib.h>
#include <atoll/rcce.h>

/* Highest tile clock at each voltage, from 0.7 V in steps of 0.1 V, in MHz; dividers are of this clock. */
static const int most_mhz[] = {460, 598, 644, 748, 875, 1024, 1198};
enum { LEVELS = sizeof most_mhz / sizeof *most_mhz, CLOCK_MHZ = 1600, LEAST_DIVIDER = 2, MOST_DIVIDER = 16 };
enum { TILES = 24, TILES_X = 6 };

/* What the chip has after a reset. */
static int level = 4, divider = 3;
static int under_way;

static int result(int code)
{
    return atoll_rcce_result(ATOLL_RPC, code);
}

/* Squares of two by two tiles have a voltage. */
static int domain_of(int ue)
{
    int tile = ue / 2 % TILES;
    return tile % TILES_X / 2 + tile / TILES_X / 2 * (TILES_X / 2);
}

int RCCE_power_domain(void)
{
    return domain_of(RCCE_ue());
}

int RCCE_power_domain_master(void)
{
    int ue = 0;
    while (domain_of(ue) != RCCE_power_domain())
        ue++;
    return ue;
}

int RCCE_power_domain_size(void)
{
    int size = 0;
    for (int ue = 0; ue < RCCE_num_ues(); ue++)
        size += domain_of(ue) == RCCE_power_domain();
    return size;
}

static int is_master(void)
{
    static int said;
    if (RCCE_ue() != RCCE_power_domain_master())
        return 0;
    if (!said && RCCE_ue() == 0)
        ATOLL(say, "RCCE's power interface answers as the chip would; clocks and voltages stay as they are");
    return said = 1;
}

static int bounded(int wanted)
{
    if (wanted == RCCE_POWER_DEFAULT)
        return 3;
    return wanted > MOST_DIVIDER ? MOST_DIVIDER : wanted < LEAST_DIVIDER ? LEAST_DIVIDER : wanted;
}

/* The lowest voltage that allows the clock. */
static int level_for(int of)
{
    for (int found = 0; found < LEVELS; found++)
        if (most_mhz[found] >= CLOCK_MHZ / of)
            return found;
    return -1;
}

int RCCE_set_frequency_divider(int wanted, int *now)
{
    if (!is_master())
        return RCCE_SUCCESS;
    if (under_way)
        return result(17);
    wanted = bounded(wanted);
    if (level_for(wanted) < 0 || level_for(wanted) > level)
        return result(18);
    divider = wanted;
    if (now)
        *now = wanted;
    return RCCE_SUCCESS;
}

int RCCE_iset_power(int wanted, RCCE_REQUEST *request, int *divider_now, int *level_now)
{
    if (!request)
        return result(15);
    wanted = bounded(wanted);
    *request = (RCCE_REQUEST){
        .old_voltage_level = level,
        .new_voltage_level = level_for(wanted),
        .old_frequency_divider = divider,
        .new_frequency_divider = wanted,
        .start_cycle = RC_global_clock(),
    };
    if (!is_master())
        return RCCE_SUCCESS;
    if (under_way)
        return result(17);
    if (divider_now)
        *divider_now = wanted;
    if (level_now)
        *level_now = request->new_voltage_level;
    if (request->new_voltage_level < 0)
        return result(18);
    /* A slower clock is safe at once, a faster one when the voltage is there. */
    if (wanted > divider)
        divider = wanted;
    under_way = 1;
    return RCCE_SUCCESS;
}

int RCCE_wait_power(RCCE_REQUEST *request)
{
    if (!request)
        return result(15);
    if (!is_master())
        return RCCE_SUCCESS;
    if (!under_way)
        return result(20);
    under_way = 0;
    if (request->release)
        return result(21);
    level = request->new_voltage_level;
    divider = request->new_frequency_divider;
    request->release = 1;
    return RCCE_SUCCESS;
}

/* A UE knows what it has asked for itself. */
void print_dividers(void)
{
    for (int tile = 0; tile < TILES; tile++)
        printf("Clock divider of tile %d: %d\n", tile, domain_of(2 * tile) == RCCE_power_domain() ? divider : 3);
}

long long RC_global_clock(void)
{
    return atoll_services->now_ns(atoll_context) / 10 * 16;
}

static int color(int ue, void *aux)
{
    (void)aux;
    return domain_of(ue);
}

int atoll_rcce_power_init(void)
{
    return RCCE_comm_split(color, NULL, &RCCE_P_COMM);
}
