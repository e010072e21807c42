/* RCCE: error texts, and what is said of errors. */

#include <RCCE.h>
#include <atoll/rcce.h>
#include <string.h>

static int debugged;

static const char *const texts[] = {
    "no error",
    "the target is not in allocated MPB memory",
    "the source is not in allocated MPB memory",
    "there is no UE with this number",
    "this length cannot be sent or copied",
    "this is no flag that was allocated",
    "there are more UEs than RCCE_MAXNP",
    "source and target overlap",
    "an address is not that of an MPB line",
    "there is no such topic to debug",
    "the flag is not in the own MPB",
    "a flag is set or unset, nothing else",
    "the MPBs have no room for another flag",
    "there is no place for the value",
    "there is no error with this number",
    "no power request has been made",
    "the power controller has failed",
    "a power request is under way already",
    "no voltage allows this clock divider",
    "the voltage is too low for this clock",
    "no power request is under way",
    "this power request is over",
    "no communicator, or RCCE has not begun",
    "there is no such operator",
    "there is no such type of elements",
    "there is no memory left, or none was there",
    "the communicator cannot be made",
    "this core is not in the host file",
};

enum { TEXTS = sizeof texts / sizeof *texts };

int RCCE_error_string(int number, char *text, int *length)
{
    int code = number == RCCE_SUCCESS ? 0 : number - RCCE_ERROR_BASE;
    int known = code == 0 ? number == RCCE_SUCCESS : code > 0 && code < TEXTS;
    const char *found = known ? texts[code] : "";
    if (text)
        strcpy(text, found);
    if (length)
        *length = strlen(found);
    return known ? RCCE_SUCCESS : atoll_rcce_result(ATOLL_DEBUG, 14);
}

int atoll_rcce_result(enum atoll_rcce_topic topic, int code)
{
    if (code <= 0)
        return code;
    if (debugged & topic) {
        char line[120];
        snprintf(line, sizeof line, "UE %d: RCCE error %d: %s", RCCE_ue(), RCCE_ERROR_BASE + code,
                 code < TEXTS ? texts[code] : "unknown");
        ATOLL(say, line);
    }
    return RCCE_ERROR_BASE + code;
}

static int topics(int number)
{
    switch (number) {
    case RCCE_DEBUG_ALL: return ATOLL_SYNCH | ATOLL_COMM | ATOLL_RPC | ATOLL_DEBUG;
    case RCCE_DEBUG_SYNCH: return ATOLL_SYNCH;
    case RCCE_DEBUG_COMM: return ATOLL_COMM;
    case RCCE_DEBUG_RPC: return ATOLL_RPC;
    case RCCE_DEBUG_DEBUG: return ATOLL_DEBUG;
    default: return 0;
    }
}

int RCCE_debug_set(int number)
{
    debugged |= topics(number);
    return topics(number) ? RCCE_SUCCESS : atoll_rcce_result(ATOLL_DEBUG, 9);
}

int RCCE_debug_unset(int number)
{
    debugged &= ~topics(number);
    return topics(number) ? RCCE_SUCCESS : atoll_rcce_result(ATOLL_DEBUG, 9);
}
