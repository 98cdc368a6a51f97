/* What stands before the numbers of an array that a kernel made; compiled code knows the places of the first and of the
   fourth field (numba/core/runtime/nrt.cpp). */

#include <stddef.h>

typedef struct {
    size_t references;
    void (*destroy)(void *data, size_t size, void *argument);
    void *destroy_argument;
    void *data;
    size_t size;
    void *allocator; /* never set here */
} Block;

void NRT_MemInfo_call_dtor(Block *block);

extern _Thread_local int memory_was_short; /* since the kernel of this thread was called */
