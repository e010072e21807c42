/* Ends the tables that unwinding reads. It is linked last. */

__attribute__((section(".eh_frame"), used)) static const int end_of_frames = 0;
