/* What the program would have taken on a P54C: spent.c. */
#ifndef ATOLL_SPENT_H
#define ATOLL_SPENT_H

#include <stddef.h>
#include <stdint.h>

/* What misses of L1 take, in 16ths of a cycle, and how long the stack is. */
struct atoll_misses {
    uint64_t l2, read_line, write_line, write_word;
    uint64_t stack_bytes;
};

/* 16ths of cycles that the program has taken, and those of them that are estimated. */
extern uint64_t atoll_spent, atoll_estimated;

/* Says where the program adds up, if somebody wants to know. */
void atoll_begin_to_spend(void);

/* For functions that are no code of the compiler's: what else they take, and what they move or fill. */
void atoll_estimate(uint64_t cycles);
void atoll_moves(void *to, const void *from, size_t bytes);
void atoll_fills(void *to, size_t bytes);

#endif
