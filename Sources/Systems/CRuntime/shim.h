#pragma once

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

// Of the Swift runtime's published entry points (docs/Runtime.md in Swift's repository): retains an
// object and returns it, or returns null where its last reference is gone already. Swift's own `weak`
// is made of it. The memory must still be there.
extern void *swift_tryRetain(void *object);

static inline void *diptych_try_retain(void *object) {
    return swift_tryRetain(object);
}

// Reads one argument for each letter of `kinds`, up to its zero, as one word each: i an int, u an
// unsigned one, c a character, l and L 64 bits, f a double, anything else an address.
static inline void diptych_read_arguments(const char *kinds, va_list list, uint64_t *words) {
    for (; *kinds != 0; kinds++, words++) {
        switch (*kinds) {
        case 'i':
            *words = (uint64_t)(int64_t)va_arg(list, int);
            break;
        case 'u':
        case 'c':
            *words = va_arg(list, unsigned int);
            break;
        case 'l':
        case 'L':
            *words = va_arg(list, uint64_t);
            break;
        case 'f': {
            double value = va_arg(list, double);
            memcpy(words, &value, sizeof value);
            break;
        }
        default:
            *words = (uint64_t)(uintptr_t)va_arg(list, void *);
        }
    }
}
