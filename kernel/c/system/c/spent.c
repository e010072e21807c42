/*
 * What the program would have taken on a P54C, where it runs in the simulator.
 *
 * Code for the simulator adds up cycles at each of its blocks, and tells of loads and stores that may miss L1: with the address in
 * %r11, and nothing else to be changed but that and the flags. L1 and L2 are as the SCC's cores have them: 4 ways each, which are
 * replaced by a tree; what a store misses is not brought in; a line of the memory that is read is waited for, and who writes goes on until
 * the next access to memory.
 */

#include <atoll/services.h>
#include <atoll/spent.h>

#ifdef __x86_64__

enum { WAYS = 4, LINE_BITS = 5, L1_SETS = 128, L2_SETS = 2048 };

/* Whether anybody wants to know. */
__attribute__((used)) static int is_wanted;

/* Cycles are counted in 16ths. */
uint64_t atoll_spent, atoll_estimated;

static struct atoll_misses misses;

/* Bytes of the code that is fetched next, which begins where atoll_fetch is told; and the line of each set of L1 for instructions that was
   fetched last. */
uint32_t atoll_fetched;
__attribute__((used)) static uint64_t atoll_newest_code[L1_SETS];
static uint64_t l1_code[L1_SETS][WAYS];
static uint8_t l1_code_trees[L1_SETS];

/* The line of each set of L1 that was used last, and the same if it is modified. */
__attribute__((used)) static uint64_t atoll_newest[L1_SETS], atoll_newest_modified[L1_SETS];

/* Lines, with 1 added to be no zero, and whether they are modified in the highest bit. */
#define MODIFIED (UINT64_C(1) << 63)
static uint64_t l1[L1_SETS][WAYS], l2[L2_SETS][WAYS];
static uint8_t l1_trees[L1_SETS], l2_trees[L2_SETS];

/* Until when memory is written. */
static uint64_t busy_until;

/* Where the stack is: at what addresses is the host's affair, which differs from run to run. */
static uint64_t stack_end;

/* What the tree of a set says when a way was used last: which bits stay, and which are set. */
static const uint8_t kept[WAYS] = {0x4, 0x4, 0x2, 0x2}, turned[WAYS] = {0x3, 0x1, 0x4, 0x0};

/* Code in the middle of a program's blocks must not touch what these have in registers. */
#define PLAIN __attribute__((target("general-regs-only")))

PLAIN static int find(const uint64_t *set, uint64_t line)
{
    for (int way = 0; way < WAYS; way++)
        if ((set[way] & ~MODIFIED) == line + 1)
            return way;
    return -1;
}

PLAIN static void use(uint8_t *tree, int way)
{
    *tree = (*tree & kept[way]) | turned[way];
}

PLAIN static int victim(const uint64_t *set, uint8_t tree)
{
    for (int way = 0; way < WAYS; way++)
        if (set[way] == 0)
            return way;
    return tree & 1 ? 2 + (tree >> 2 & 1) : tree >> 1 & 1;
}

/* Memory is free again. */
PLAIN static void wait(void)
{
    if (busy_until > atoll_spent)
        atoll_spent = busy_until;
}

PLAIN static void write_memory(uint64_t sixteenths)
{
    wait();
    busy_until = atoll_spent + sixteenths;
}

/* L2 answers, or memory does. */
PLAIN static void load_from_l2(uint64_t line)
{
    uint64_t *set = l2[line % L2_SETS];
    uint8_t *tree = &l2_trees[line % L2_SETS];
    int way = find(set, line);
    wait();
    if (way >= 0) {
        atoll_spent += misses.l2;
    } else {
        atoll_spent += misses.read_line;
        way = victim(set, *tree);
        if (set[way] & MODIFIED)
            write_memory(misses.write_line);
        set[way] = line + 1;
    }
    use(tree, way);
}

PLAIN static void load(uint64_t line)
{
    uint64_t *in_l1 = l1[line % L1_SETS];
    uint8_t *tree1 = &l1_trees[line % L1_SETS];
    int way = find(in_l1, line);
    if (way < 0) {
        load_from_l2(line);
        way = victim(in_l1, *tree1);
        if (in_l1[way] & MODIFIED) {
            uint64_t gone = (in_l1[way] & ~MODIFIED) - 1, *set = l2[gone % L2_SETS];
            int place = find(set, gone);
            if (place >= 0) {
                set[place] |= MODIFIED;
                use(&l2_trees[gone % L2_SETS], place);
            } else {
                write_memory(misses.write_line);
            }
        }
        in_l1[way] = line + 1;
    }
    use(tree1, way);
}

PLAIN static void store(uint64_t line, int words)
{
    uint64_t *in_l1 = l1[line % L1_SETS], *in_l2 = l2[line % L2_SETS];
    int way = find(in_l1, line);
    if (way >= 0) {
        in_l1[way] |= MODIFIED;
        use(&l1_trees[line % L1_SETS], way);
        return;
    }
    way = find(in_l2, line);
    if (way >= 0) {
        wait();
        atoll_spent += misses.l2;
        in_l2[way] |= MODIFIED;
        use(&l2_trees[line % L2_SETS], way);
    } else {
        for (; words > 0; words--)
            write_memory(misses.write_word);
    }
}

/* Notes what a set has at last, so that who uses that again need not look further. */
PLAIN static void note(uint64_t address, uint64_t line)
{
    const uint64_t *set = l1[line % L1_SETS];
    uint64_t place = address >> LINE_BITS;
    int way = find(set, line);
    if (way < 0)
        return;
    atoll_newest[place % L1_SETS] = place;
    atoll_newest_modified[place % L1_SETS] = set[way] & MODIFIED ? place : 0;
}

/* The line of an address. Statics and heap begin at addresses that caches do not tell apart from run to run. */
PLAIN static uint64_t line_of(uint64_t address)
{
    uint64_t below = stack_end - address;
    return (below < misses.stack_bytes ? (UINT64_C(1) << 46) - below : address) >> LINE_BITS;
}

__attribute__((used)) PLAIN static void atoll_load_slowly(uint64_t address)
{
    uint64_t line = line_of(address);
    load(line);
    note(address, line);
}

PLAIN static void store_words(uint64_t address, int words)
{
    uint64_t line = line_of(address);
    store(line, words);
    note(address, line);
}

__attribute__((used)) PLAIN static void atoll_store_slowly(uint64_t address)
{
    store_words(address, 1);
}

__attribute__((used)) PLAIN static void atoll_store_two_slowly(uint64_t address)
{
    store_words(address, 2);
}

__attribute__((used)) PLAIN static void atoll_fetch_slowly(uint64_t line, uint64_t last)
{
    for (; line <= last; line++) {
        uint64_t *set = l1_code[line % L1_SETS];
        uint8_t *tree = &l1_code_trees[line % L1_SETS];
        int way = find(set, line);
        if (way < 0) {
            load_from_l2(line);
            way = victim(set, *tree);
            set[way] = line + 1;
        }
        use(tree, way);
        atoll_newest_code[line % L1_SETS] = line;
    }
}

enum { BYTES_OF_A_TURN = 4, BYTES = 1 << LINE_BITS };

__attribute__((used)) PLAIN static void atoll_fill_slowly(uint64_t to, uint64_t bytes)
{
    if (!is_wanted || bytes == 0)
        return;
    for (uint64_t at = to, end = to + bytes, next; at < end; at = next) {
        next = (at & -BYTES) + BYTES;
        uint64_t words_end = ((next < end ? next : end) + BYTES_OF_A_TURN - 1) / BYTES_OF_A_TURN;
        store_words(at, (int)(words_end - at / BYTES_OF_A_TURN));
    }
    atoll_spent += bytes / BYTES_OF_A_TURN * 16;
}

__attribute__((used)) PLAIN static void atoll_move_slowly(uint64_t to, uint64_t bytes, uint64_t from)
{
    if (!is_wanted || bytes == 0)
        return;
    for (uint64_t at = from & -BYTES; at < from + bytes; at += BYTES)
        atoll_load_slowly(at);
    atoll_fill_slowly(to, bytes);
}

void atoll_estimate(uint64_t cycles)
{
    atoll_spent += cycles * 16;
    atoll_estimated += cycles * 16;
}

void atoll_moves(void *to, const void *from, size_t bytes)
{
    atoll_move_slowly((uint64_t)to, bytes, (uint64_t)from);
}

void atoll_fills(void *to, size_t bytes)
{
    atoll_fill_slowly((uint64_t)to, bytes);
}

/* Saves what functions may change, and calls one with %r11 or what is said before. */
#define SAVED(function, arguments)                                                                                     \
    "pushq %rax\n.cfi_adjust_cfa_offset 8\n"                                                                           \
    "pushq %rcx\n.cfi_adjust_cfa_offset 8\n"                                                                           \
    "pushq %rdx\n.cfi_adjust_cfa_offset 8\n"                                                                           \
    "pushq %rsi\n.cfi_adjust_cfa_offset 8\n"                                                                           \
    "pushq %rdi\n.cfi_adjust_cfa_offset 8\n"                                                                           \
    "pushq %r8\n.cfi_adjust_cfa_offset 8\n"                                                                            \
    "pushq %r9\n.cfi_adjust_cfa_offset 8\n"                                                                            \
    "pushq %r10\n.cfi_adjust_cfa_offset 8\n" arguments "call " function "\n"                                           \
    "popq %r10\n.cfi_adjust_cfa_offset -8\n"                                                                           \
    "popq %r9\n.cfi_adjust_cfa_offset -8\n"                                                                            \
    "popq %r8\n.cfi_adjust_cfa_offset -8\n"                                                                            \
    "popq %rdi\n.cfi_adjust_cfa_offset -8\n"                                                                           \
    "popq %rsi\n.cfi_adjust_cfa_offset -8\n"                                                                           \
    "popq %rdx\n.cfi_adjust_cfa_offset -8\n"                                                                           \
    "popq %rcx\n.cfi_adjust_cfa_offset -8\n"                                                                           \
    "popq %rax\n.cfi_adjust_cfa_offset -8\n"                                                                           \
    "ret\n"

#define ENTRY(name)                                                                                                    \
    ".globl " name "\n.hidden " name "\n.type " name ", @function\n" name ":\n.cfi_startproc\n"

#define END(name) ".cfi_endproc\n.size " name ", .-" name "\n"

/* Looks only whether somebody wants to know, and whether the line is the one of its set that was used last. */
#define ACCESS(name, newest, slowly)                                                                                   \
    ENTRY(name)                                                                                                        \
    "cmpl $0, is_wanted(%rip)\n"                                                                                       \
    "je 2f\n"                                                                                                          \
    "pushq %rax\n.cfi_adjust_cfa_offset 8\n"                                                                           \
    "pushq %rcx\n.cfi_adjust_cfa_offset 8\n"                                                                           \
    "movq %r11, %rax\n"                                                                                                \
    "shrq $5, %rax\n"                                                                                                  \
    "movl %eax, %ecx\n"                                                                                                \
    "andl $127, %ecx\n"                                                                                                \
    "pushq %rdx\n.cfi_adjust_cfa_offset 8\n"                                                                           \
    "leaq " newest "(%rip), %rdx\n"                                                                                    \
    "cmpq %rax, (%rdx,%rcx,8)\n"                                                                                       \
    "popq %rdx\n.cfi_adjust_cfa_offset -8\n"                                                                           \
    "popq %rcx\n.cfi_adjust_cfa_offset -8\n"                                                                           \
    "popq %rax\n.cfi_adjust_cfa_offset -8\n"                                                                           \
    "jne 1f\n"                                                                                                         \
    "2: ret\n"                                                                                                         \
    "1:\n" SAVED(slowly, "movq %r11, %rdi\n") END(name)

/* Likewise of all lines of a block. */
#define FETCH                                                                                                          \
    ENTRY("atoll_fetch")                                                                                               \
    "cmpl $0, is_wanted(%rip)\n"                                                                                       \
    "je 4f\n"                                                                                                          \
    "pushq %rax\n.cfi_adjust_cfa_offset 8\n"                                                                           \
    "pushq %rdx\n.cfi_adjust_cfa_offset 8\n"                                                                           \
    "pushq %rsi\n.cfi_adjust_cfa_offset 8\n"                                                                           \
    "pushq %rdi\n.cfi_adjust_cfa_offset 8\n"                                                                           \
    "movl atoll_fetched(%rip), %esi\n"                                                                                 \
    "leaq -1(%r11,%rsi), %rsi\n"                                                                                       \
    "shrq $5, %rsi\n"                                                                                                  \
    "movq %r11, %rdi\n"                                                                                                \
    "shrq $5, %rdi\n"                                                                                                  \
    "leaq atoll_newest_code(%rip), %rdx\n"                                                                             \
    "1: movl %edi, %eax\n"                                                                                             \
    "andl $127, %eax\n"                                                                                                \
    "cmpq %rdi, (%rdx,%rax,8)\n"                                                                                       \
    "jne 2f\n"                                                                                                         \
    "incq %rdi\n"                                                                                                      \
    "cmpq %rsi, %rdi\n"                                                                                                \
    "jbe 1b\n"                                                                                                         \
    "jmp 3f\n"                                                                                                         \
    "2: pushq %rcx\n.cfi_adjust_cfa_offset 8\n"                                                                        \
    "pushq %r8\n.cfi_adjust_cfa_offset 8\n"                                                                            \
    "pushq %r9\n.cfi_adjust_cfa_offset 8\n"                                                                            \
    "pushq %r10\n.cfi_adjust_cfa_offset 8\n"                                                                           \
    "call atoll_fetch_slowly\n"                                                                                        \
    "popq %r10\n.cfi_adjust_cfa_offset -8\n"                                                                           \
    "popq %r9\n.cfi_adjust_cfa_offset -8\n"                                                                            \
    "popq %r8\n.cfi_adjust_cfa_offset -8\n"                                                                            \
    "popq %rcx\n.cfi_adjust_cfa_offset -8\n"                                                                           \
    "3: popq %rdi\n.cfi_adjust_cfa_offset -8\n"                                                                        \
    "popq %rsi\n.cfi_adjust_cfa_offset -8\n"                                                                           \
    "popq %rdx\n.cfi_adjust_cfa_offset -8\n"                                                                           \
    "popq %rax\n.cfi_adjust_cfa_offset -8\n"                                                                           \
    "4: ret\n" END("atoll_fetch")

/* The same where flags are needed. They are saved here, since only here it is known how to tell those who unwind. */
#define SAVING_FLAGS(name)                                                                                             \
    ENTRY(name "_saving_flags")                                                                                        \
    "pushfq\n.cfi_adjust_cfa_offset 8\n"                                                                               \
    "call " name "\n"                                                                                                  \
    "popfq\n.cfi_adjust_cfa_offset -8\n"                                                                               \
    "ret\n" END(name "_saving_flags")

/* clang-format off */
__asm__(
    ".section .text.atoll_spent,\"ax\",@progbits\n"
    FETCH
    ACCESS("atoll_load", "atoll_newest", "atoll_load_slowly")
    ACCESS("atoll_store", "atoll_newest_modified", "atoll_store_slowly")
    ACCESS("atoll_store_two", "atoll_newest_modified", "atoll_store_two_slowly")
    ENTRY("atoll_move") SAVED("atoll_move_slowly", "movq %rsi, %rdx\nmovq %r11, %rsi\n") END("atoll_move")
    ENTRY("atoll_fill") SAVED("atoll_fill_slowly", "movq %r11, %rsi\n") END("atoll_fill")
    SAVING_FLAGS("atoll_fetch") SAVING_FLAGS("atoll_load") SAVING_FLAGS("atoll_store")
    SAVING_FLAGS("atoll_store_two") SAVING_FLAGS("atoll_move") SAVING_FLAGS("atoll_fill")
    ".text\n");
/* clang-format on */

void atoll_begin_to_spend(void)
{
    if (atoll_services->misses == NULL)
        return;
    misses = *atoll_services->misses;
    is_wanted = 1;
    stack_end = ((uint64_t)__builtin_frame_address(0) | 0xFFF) + 1;
    atoll_services->spends(atoll_context, &atoll_spent, &atoll_estimated);
}

#else

void atoll_begin_to_spend(void)
{
}

#endif
