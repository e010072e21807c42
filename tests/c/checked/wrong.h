/* What is only in the wrong or in the right form of a program, which `WRONG` chooses. */
#ifdef WRONG
#define RIGHT(...)
#define WRONG_ONLY(...) __VA_ARGS__
#else
#define RIGHT(...) __VA_ARGS__
#define WRONG_ONLY(...)
#endif
