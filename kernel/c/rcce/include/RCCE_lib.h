/* What programs take from RCCE's own library beside its interface. */
#ifndef RCCE_LIB_H
#define RCCE_LIB_H

#include "RCCE.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PAD32byte(x) (((x) + RCCE_LINE_SIZE - 1) / RCCE_LINE_SIZE * RCCE_LINE_SIZE)

extern int RCCE_NP;
extern int RCCE_IAM;

/* The cores that the UEs are on, which have the same numbers. */
extern int RC_COREID[];
extern int RC_MY_COREID;

int RCCE_probe(RCCE_FLAG);
int RCCE_qsort(char *, size_t, size_t, int (*)(const void *, const void *));
int id_compare(const void *, const void *);
void RC_cache_invalidate(void);
long long RC_global_clock(void);
void print_dividers(void);

#ifdef __cplusplus
}
#endif

#endif
