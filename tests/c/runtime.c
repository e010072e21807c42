/* What every program in C may count on, the same on every backend. Ranks end with status 1 if anything is missing. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* Names that the runtime has, too. */
int send = 1;
char core[3] = "ab";
static int panics;
void panic(const char *message) { panics += *message; }
int link(const char *old, const char *new) { return old[0] + new[0]; }

static int failures, counter, constructed, ended;
static __thread int thread_local = 5;
static jmp_buf buffer;
static volatile sig_atomic_t last_signal;

static void check(const char *name, int is_right)
{
    if (!is_right) {
        printf("wrong: %s\n", name);
        failures++;
    }
}

__attribute__((constructor)) static void construct(void) { constructed = 1; }
static void handle(int signal) { last_signal = signal; }
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static void first_at_end(void) { printf(ended == 1 ? "ended in order\n" : "ended in disorder\n"); }
static void last_at_end(void) { ended = 1; }

/* As the ping-pong of RCCE has it. */
__attribute__((noinline)) static int on_the_stack(int value)
{
    volatile char large[4 << 20];
    for (size_t at = 0; at < sizeof large; at += 4096)
        large[at] = value;
    return large[3 << 20];
}

static void statics(void)
{
    counter++;
    thread_local++;
    check("statics are the rank's own", counter == 1 && thread_local == 6 && send == 1 && !strcmp(core, "ab"));
    panic("x");
    check("functions with names of the runtime's", panics == 'x' && link("a", "b") == 'a' + 'b');
    check("constructors", constructed);
    srand(3);
    int value = rand();
    srand(3);
    check("rand repeats", value == rand());
    char line[] = "a,b,,c";
    check("strtok", !strcmp(strtok(line, ","), "a") && !strcmp(strtok(NULL, ","), "b") && !strcmp(strtok(NULL, ","), "c"));
    errno = 0;
    check("errno", fopen("no such file", "r") == NULL && errno == ENOENT);
}

static void memory(void)
{
    char *block = malloc(10);
    strcpy(block, "abc");
    block = realloc(block, 100 << 10);
    check("realloc", block != NULL && !strcmp(block, "abc"));
    free(block);
    unsigned char *large = malloc(24 << 20);
    check("malloc", large != NULL && ((uintptr_t)large & 7) == 0);
    memset(large, 7, 24 << 20);
    check("memory", large[0] == 7 && large[(24 << 20) - 1] == 7);
    free(large);
    int *zeros = calloc(1000, sizeof *zeros);
    check("calloc", zeros[0] == 0 && zeros[999] == 0);
    free(zeros);
    check("stack", on_the_stack(9) == 9);
}

static void language(void)
{
    volatile long long dividend = -1234567890123456789LL, divisor = 987654321;
    check("long long", dividend / divisor == -1249999988LL && dividend % divisor == -725308641LL);
    volatile unsigned long long large = 18446744073709551615ULL;
    check("conversion", (double)large == 18446744073709551616.0 && (unsigned long long)1e19 == 10000000000000000000ULL);
    int numbers[] = {5, 3, 9, 1}, key = 9;
    qsort(numbers, 4, sizeof *numbers, compare);
    check("qsort", numbers[0] == 1 && numbers[3] == 9 && bsearch(&key, numbers, 4, sizeof *numbers, compare) == &numbers[3]);
    int came = setjmp(buffer);
    if (came == 0)
        longjmp(buffer, 4);
    check("longjmp", came == 4);
    signal(SIGUSR1, handle);
    raise(SIGUSR1);
    check("signals", last_signal == SIGUSR1);
    signal(SIGINT, SIG_IGN);
    check("signals that are ignored", raise(SIGINT) == 0);
    char line[100];
    sprintf(line, "%5.2f|%-5d|%lld|%s|%c|%#x|%e|%Lg", 3.14159, 42, -5000000000LL, "x", 'y', 255, 12345.678, 1.5L);
    check("printf", !strcmp(line, " 3.14|42   |-5000000000|x|y|0xff|1.234568e+04|1.5"));
    int a;
    double b;
    check("scanf", sscanf("12 3.5e2 z", "%d %lf %4s", &a, &b, line) == 3 && a == 12 && b == 350 && line[0] == 'z');
    check("mathematics", fabs(sin(1) - 0.8414709848078965) < 1e-15 && pow(2, 10) == 1024 && floorf(-1.5f) == -2);
    check("getenv", getenv("NONE") == NULL && !strcmp(getenv("COLOUR") ? getenv("COLOUR") : "", "dark blue"));
}

static void moments(void)
{
    struct timeval before, after;
    gettimeofday(&before, NULL);
    usleep(1500);
    gettimeofday(&after, NULL);
    long us = (after.tv_sec - before.tv_sec) * 1000000 + (after.tv_usec - before.tv_usec);
    check("usleep", us >= 1499 && us < 1000000);
    clock_t ticks = clock();
    check("clock", ticks != (clock_t)-1 && clock() >= ticks && time(NULL) >= 0);
}

static void files(int is_first, const char *input)
{
    FILE *file = fopen(input, "r");
    char line[100] = "";
    /* On a board only the first rank has it. */
    check("input", !is_first || (file != NULL && fgets(line, sizeof line, file) != NULL && !strcmp(line, "P5\n")));
    if (file != NULL)
        fclose(file);
    file = fopen("out/lines.txt", "w+");
    check("a file is made", file != NULL);
    for (int i = 0; i < 1000; i++)
        fprintf(file, "line %d\n", i);
    fseek(file, 0, SEEK_SET);
    check("a file is read again", fgets(line, sizeof line, file) != NULL && !strcmp(line, "line 0\n"));
    fclose(file);
    file = fopen("out/lines.txt", "a");
    fputs("last\n", file);
    fclose(file);
    file = fopen("scratch", "wb");
    check("bytes are written", fwrite(core, 1, sizeof core, file) == sizeof core);
    fclose(file);
    check("a file goes away", remove("scratch") == 0 && fopen("scratch", "r") == NULL);
}

/* What nobody has set is the same everywhere. */
static __attribute__((noinline)) void fresh_stack(void)
{
    volatile unsigned unset[256];
    check("what nobody has set", unset[128] == 0xA5A5A5A5);
}

/* What programs ask about the machine and themselves. */
static void machine(void)
{
    struct utsname machine;
    struct rusage usage;
    struct timespec time;
    struct sigaction action = {.sa_handler = handle}, old;
    char name[HOST_NAME_MAX + 1], *path, *line = NULL;
    void *block;
    size_t bytes = 0;
    check("gethostname and uname", gethostname(name, sizeof name) == 0 && uname(&machine) == 0 && !strcmp(machine.nodename, name));
    check("sysconf", sysconf(_SC_PAGESIZE) == getpagesize() && sysconf(_SC_NPROCESSORS_ONLN) == 1 && sysconf(-5) == -1);
    check("getrusage", getrusage(RUSAGE_SELF, &usage) == 0 && usage.ru_utime.tv_usec > 0 && usage.ru_maxrss == 0);
    check("getrusage of nobody", getrusage(7, &usage) == -1 && errno == EINVAL);
    check("clock_getres", clock_getres(CLOCK_MONOTONIC, &time) == 0 && time.tv_nsec == 1);
    check("posix_memalign", posix_memalign(&block, 128, 100) == 0 && ((uintptr_t)block & 127) == 0);
    free(block);
    check("posix_memalign refuses", posix_memalign(&block, 3, 100) == EINVAL);
    check("sigaction", sigaction(SIGUSR2, &action, NULL) == 0 && raise(SIGUSR2) == 0 && raise(SIGUSR2) == 0 && last_signal == SIGUSR2);
    check("sigaction tells", sigaction(SIGUSR2, NULL, &old) == 0 && old.sa_handler == handle);
    path = getcwd(NULL, 0);
    check("directories", !strcmp(path, "/") && mkdir("out/deep", 0777) == 0 && getcwd(name, 1) == NULL);
    free(path);
    FILE *file = fopen("out/deep/two.txt", "w+");
    fputs("one\nand a second line\n", file);
    rewind(file);
    check("getline", getline(&line, &bytes, file) == 4 && getline(&line, &bytes, file) == 18 && getline(&line, &bytes, file) == -1);
    fclose(file);
    remove("out/deep/two.txt");
    free(line);
}

int main(int argc, char **argv)
{
    fresh_stack();
    check("arguments", argc == 4 && !strcmp(argv[1], "a b") && !strcmp(argv[2], "cores=3") && argv[argc] == NULL);
    atexit(first_at_end);
    atexit(last_at_end);
    statics();
    memory();
    language();
    moments();
    machine();
    files(getpid() == 1, argv[3]);
    printf("checked ");
    fflush(stdout);
    printf("all of it\n@not for the host's tools\n");
    fprintf(stderr, "to standard error");
    return failures > 0;
}
