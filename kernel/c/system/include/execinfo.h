/* Callers of a function, which nobody notes: faults are reported with their line anyway. */
#ifndef ATOLL_EXECINFO_H
#define ATOLL_EXECINFO_H

int backtrace(void **places, int count);
char **backtrace_symbols(void *const *places, int count);
void backtrace_symbols_fd(void *const *places, int count, int file);

#endif
