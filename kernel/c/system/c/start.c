/* Where a program in C begins and ends. */

#include <atoll/services.h>
#include <atoll/spent.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

/* Newlib's exit and what it runs at the end find their way back by this. */
static jmp_buf back;
static int ending;

const struct atoll_services *atoll_services;
void *atoll_context;
extern char **environ;

int main(int argc, char **argv, char **environment);

/* What programs want to run before main and after exit, as linker scripts collect it. */
typedef void (*hook)(int argc, char **argv, char **environment);
extern const hook __init_array_start[], __init_array_end[];
extern void (*const __fini_array_start[])(void);
extern void (*const __fini_array_end[])(void);

static void finish(void)
{
    for (size_t left = __fini_array_end - __fini_array_start; left > 0; left--)
        __fini_array_start[left - 1]();
}

_Noreturn void atoll_leave(int status, int signal)
{
    ending = (status & 0xFF) | signal << 8;
    longjmp(back, 1);
}

/* The P54C of every backend computes with 53 bits; an operating system begins with 64. */
static void set_precision(unsigned short control_word)
{
#ifdef __x86_64__
    __asm__ volatile("fldcw %0" : : "m"(control_word));
#else
    (void)control_word;
#endif
}

/* Fills the stack below with the same pattern in every run and on every backend. Otherwise a program that uses a variable before it has set
   it, as LU of the NAS benchmarks does for its last word, would end well or badly by what ran before it. */
static __attribute__((noinline)) void fill_stack(void)
{
    volatile unsigned below[1024];
    /* Words are read first, as the chip's caches take in nothing that is only stored. */
    for (size_t index = 0; index < sizeof below / sizeof *below; index++)
        below[index] = (below[index] & 0) | 0xA5A5A5A5;
}

/* Runs the program. Returns its exit status, and above 8 bits the signal that ended it; -1 if it cannot run. */
int atoll_start(const struct atoll_services *services, void *context, int argc, char **argv, char **environment)
{
    /* The two sides of the table have not been written at the same time. */
    if (services->bytes != sizeof *services)
        return -1;
    atoll_services = services;
    atoll_context = context;
    environ = environment;
    set_precision(0x27F);
    atoll_begin_to_spend();
    /* Lines are put together on the other side. */
    setvbuf(stdout, NULL, _IONBF, 0);
    setvbuf(stderr, NULL, _IONBF, 0);
    if (setjmp(back) == 0) {
        atexit(finish);
        for (const hook *next = __init_array_start; next != __init_array_end; next++)
            (*next)(argc, argv, environment);
        fill_stack();
        exit(main(argc, argv, environment));
    }
    set_precision(0x37F);
    return ending;
}
