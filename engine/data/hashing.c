/* What the memo table of engine/_search.py does, in plain C and nothing else: the yardstick of
   `python -m engine bench`.  Compiled when it is asked for; no part of the program. */

#include <stdint.h>
#include <stdlib.h>

static const uint64_t KEY = 0x7FFFFFFFF, SPREAD = 0x1E3779B1;

static uint64_t slot_of(const uint64_t *table, uint64_t slots, uint64_t key)
{
    uint64_t slot = (key * SPREAD >> 20) & (slots - 1);
    while (table[slot] && (table[slot] & KEY) != key)
        slot = (slot + 1) & (slots - 1);
    return slot;
}

/* Enter `count` pseudo-random keys with times, the earliest time of a key wins; return how many
   different keys there were. */
int64_t fill(int64_t count)
{
    uint64_t slots = 1024, x = 1;
    int64_t used = 0;
    uint64_t *table = calloc(slots, sizeof *table);
    for (int64_t i = 0; table && i < count; i++) {
        x = (x * 1664525 + 1013904223) & 0xFFFFFFFF;
        uint64_t key = (x >> 8) + 1, time = x & 255;
        uint64_t slot = slot_of(table, slots, key), entry = table[slot];
        if (entry && entry >> 35 <= time)
            continue;
        used += entry == 0;
        table[slot] = time << 35 | key;
        if ((uint64_t)used * 2 > slots) {
            uint64_t *old = table, before = slots;
            slots *= 4;
            table = calloc(slots, sizeof *table);
            for (uint64_t j = before; table && j--;)
                if (old[j])
                    table[slot_of(table, slots, old[j] & KEY)] = old[j];
            free(old);
        }
    }
    free(table);
    return used;
}
