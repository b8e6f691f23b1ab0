#pragma once

// Of the Swift runtime's published entry points (docs/Runtime.md in Swift's repository): retains an
// object and returns it, or returns null where its last reference is gone already. Swift's own `weak`
// is made of it. The memory must still be there.
extern void *swift_tryRetain(void *object);

static inline void *diptych_try_retain(void *object) {
    return swift_tryRetain(object);
}
