/* The rules and nothing else: every line of legal moves is tried, every position is remembered as
   it is, and no reasoning leaves anything out.  Written apart from the engine, to be compared with
   it on whole deals and on positions of games; uncut.py compiles it. */

#include <stdint.h>
#include <stdlib.h>

enum { DECK = 1, STOCK_PLAYABLE = 2, OVERLAP = 4, NO_PAIR_OF_PILES = 8 };

/* A position: bits 0 to 51 the cards left, 52 to 56 one above the waste top, from 57 the pass. */
typedef uint64_t Position;

typedef struct {
    Position *slots;
    uint64_t size, used;
} Set;

static uint64_t mixed(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xFF51AFD7ED558CCDULL;
    x ^= x >> 33;
    x *= 0xC4CEB9FE1A85EC53ULL;
    return x ^ x >> 33;
}

/* Whether it was new.  0 stands for an empty slot: the position without cards is won, and never
   asked about. */
static int add(Set *set, Position position)
{
    if (set->used * 2 >= set->size) {
        Set larger = {calloc(set->size * 4, sizeof(Position)), set->size * 4, 0};
        if (!larger.slots)
            abort();
        for (uint64_t i = 0; i < set->size; i++)
            if (set->slots[i])
                add(&larger, set->slots[i]);
        free(set->slots);
        *set = larger;
    }
    uint64_t slot = mixed(position) & (set->size - 1);
    while (set->slots[slot] && set->slots[slot] != position)
        slot = (slot + 1) & (set->size - 1);
    if (set->slots[slot])
        return 0;
    set->slots[slot] = position;
    set->used++;
    return 1;
}

static uint64_t covers_of(int place)
{
    int row = 0;
    while ((row + 1) * (row + 2) / 2 <= place)
        row++;
    return row == 6 ? 0 : 3ULL << (place + row + 1);
}

/* Whether a position can be won: 1 or 0, or -1 when that takes more than `most` positions (0: no
   limit); and in *positions how many different ones there were. */
int winnable_from(const uint8_t *ranks, uint64_t start, int passes, int options, uint64_t most,
                  int64_t *positions)
{
    Set seen = {calloc(1 << 12, sizeof(Position)), 1 << 12, 0};
    uint64_t room = 1 << 16, top = 0, pyramid = (1ULL << 28) - 1, covers[28];
    Position *stack = malloc(room * sizeof *stack);
    int won = 0;
    for (int place = 0; place < 28; place++)
        covers[place] = covers_of(place);
    stack[top++] = start;
    while (top && !won) {
        if (most && seen.used > most) {
            won = -1;
            break;
        }
        Position position = stack[--top];
        uint64_t left = position & ((1ULL << 52) - 1);
        int waste_end = position >> 52 & 31, pass = position >> 57;
        if (!(options & DECK ? left : left & pyramid)) {
            won = 1;
            break;
        }
        if (!add(&seen, position))
            continue;
        if (top + 256 > room) {
            room *= 2;
            stack = realloc(stack, room * sizeof *stack);
        }
        int open[12], count = 0;
        for (int place = 0; place < 28; place++)
            if (left >> place & 1 && !(left & covers[place]))
                open[count++] = place;
        if (waste_end)
            open[count++] = 27 + waste_end;
        int next = 28 + waste_end;
        while (next < 52 && !(left >> next & 1))
            next++;
        if (next < 52 && options & STOCK_PLAYABLE)
            open[count++] = next;
        for (int i = 0; i < count; i++) {
            for (int other = 0; other < 52; other++) {
                int a = open[i], legal = 0;
                if (!(left >> other & 1))
                    continue;
                if (other == a)
                    legal = ranks[a] == 13;
                else if (ranks[a] + ranks[other] == 13) {
                    for (int k = i + 1; k < count; k++)
                        legal |= open[k] == other;
                    if (legal && a >= 28 && other >= 28 && options & NO_PAIR_OF_PILES)
                        legal = 0;
                    if (options & OVERLAP && a < 28 && other < 28)
                        legal |= (left & covers[other]) == 1ULL << a;
                }
                if (!legal)
                    continue;
                uint64_t rest = left & ~(1ULL << a) & ~(1ULL << other);
                int end = waste_end;
                while (end && !(rest >> (27 + end) & 1))
                    end--;
                stack[top++] = rest | (uint64_t)end << 52 | (uint64_t)pass << 57;
            }
        }
        if (next < 52)
            stack[top++] = left | (uint64_t)(next - 27) << 52 | (uint64_t)pass << 57;
        else if (waste_end && pass != passes)
            stack[top++] = left | (uint64_t)(passes ? pass + 1 : pass) << 57;
    }
    *positions = seen.used;
    free(seen.slots);
    free(stack);
    return won;
}

/* Whether a deal can be won. */
int winnable(const uint8_t *ranks, int passes, int options, int64_t *positions)
{
    uint64_t start = ((1ULL << 52) - 1) | 1ULL << 57;
    return winnable_from(ranks, start, passes, options, 0, positions);
}
