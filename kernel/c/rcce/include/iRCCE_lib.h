/* What programs take from iRCCE's own library: its interface, and what they take from RCCE's. */
#ifndef IRCCE_LIB_H
#define IRCCE_LIB_H

#include "RCCE_lib.h"
#include "iRCCE.h"

#endif
