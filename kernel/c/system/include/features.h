/* What a program asks to see, which newlib reads. */
#include <sys/features.h>
