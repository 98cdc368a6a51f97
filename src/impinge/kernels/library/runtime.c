/* What compiled kernels want of Numba's run time, on top of the C library alone.

   The arrays and lists of a kernel are blocks with a count of references.  Compiled code counts up and down by itself;
   how a block begins and ends is what it calls these functions for. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "block.h"

static Block *new_block(size_t extra)
{
    Block *block = extra < SIZE_MAX / 2 ? malloc(sizeof(Block) + extra) : NULL;
    if (block != NULL) {
        memset(block, 0, sizeof(Block));
        block->references = 1;
    }
    return block;
}

/* An array: its numbers follow the block in the same piece of memory. NULL becomes a MemoryError. */
Block *NRT_MemInfo_alloc_aligned(size_t size, uint32_t alignment)
{
    Block *block = size < SIZE_MAX / 4 ? new_block(size + alignment) : NULL;
    if (block != NULL) {
        uintptr_t first = (uintptr_t)(block + 1), past = first % alignment;
        block->data = (void *)(past ? first + (alignment - past) : first);
        block->size = size;
    }
    return block;
}

/* A list: its elements are apart, because they move when it grows. */
static void free_elements(void *data, size_t size, void *destroy_elements)
{
    (void)size;
    if (destroy_elements != NULL)
        ((void (*)(void *))destroy_elements)(data);
    free(data);
}

Block *NRT_MemInfo_new_varsize_dtor(size_t size, void *destroy_elements)
{
    Block *block = new_block(0);
    if (block == NULL)
        return NULL;
    block->data = malloc(size);
    if (block->data == NULL) {
        free(block);
        return NULL;
    }
    block->size = size;
    block->destroy = free_elements;
    block->destroy_argument = destroy_elements;
    return block;
}

void *NRT_MemInfo_varsize_realloc(Block *block, size_t size)
{
    void *data = realloc(block->data, size);
    if (data != NULL) {
        block->data = data;
        block->size = size;
    }
    return data;
}

void NRT_MemInfo_call_dtor(Block *block)
{
    if (block->destroy != NULL)
        block->destroy(block->data, block->size, block->destroy_argument);
    free(block);
}

/* A cold function has no way to say that it found no memory but this. */
_Thread_local int memory_was_short;

void impinge_memory_is_short(void)
{
    memory_was_short = 1;
}

/* As Python's math module defines them. */
double numba_frexp(double x, int *exponent)
{
    if (!isfinite(x)) {
        *exponent = 0;
        return x;
    }
    return frexp(x, exponent);
}

double numba_ldexp(double x, int exponent)
{
    return isfinite(x) ? ldexp(x, exponent) : x;
}

double numba_nextafter(double x, double towards)
{
    return nextafter(x, towards);
}
