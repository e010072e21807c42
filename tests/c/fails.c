/* Ends in the way that its argument names. */

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int *volatile nowhere = (int *)16;

__attribute__((noinline)) static int deep(int levels)
{
    volatile char room[4096];
    room[levels % 4096] = levels;
    return levels == 0 ? 0 : deep(levels - 1) + room[levels % 4096];
}

__attribute__((noinline)) static void poke(void)
{
    *nowhere = 3;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    if (!strcmp(how, "deep"))
        return deep(100000000);
    if (!strcmp(how, "poke"))
        poke();
    if (!strcmp(how, "exit"))
        exit(3);
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "waits")) {
        static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
        pthread_mutex_lock(&mutex);
        pthread_mutex_lock(&mutex);
    }
    if (!strcmp(how, "assert"))
        assert(argc == 0);
    if (!strcmp(how, "malloc")) {
        /* The compiler would leave out what nobody looks at. */
        static void *volatile block;
        int blocks = 0;
        while ((block = malloc(1 << 20)) != NULL)
            blocks++;
        printf("%d MiB\n", blocks);
    }
    if (!strcmp(how, "small"))
        printf("small\n");
    while (!strcmp(how, "loop"))
        argv[0] = argv[1];
    return 0;
}
