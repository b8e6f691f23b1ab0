#pragma once
#include <stddef.h>
#include <stdint.h>

// libFuzzer's entry for programs that have a main of their own. The runtime comes with -sanitize=fuzzer.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*run)(const uint8_t *bytes, size_t count));
