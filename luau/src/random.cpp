// A script can recover the state of math.random from a few numbers it draws, so that state must
// say nothing about the next VM's: a stream cipher, with its key replaced at each refill, where
// an ordinary generator would give away its own state.
#include "random.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

namespace hk
{
namespace
{

constexpr int kLanes = 8; // blocks computed side by side, for vector registers
constexpr int kRounds = 8;
constexpr int kKeyWords = 8;
constexpr size_t kBuffered = size_t(kLanes) * 16;

typedef uint32_t Row[kLanes];

struct Generator
{
    uint32_t key[kKeyWords];
    uint32_t buffer[kBuffered];
    size_t next; // first unused word of the buffer
    bool seeded;
};

thread_local Generator generator;

inline void mix(Row& a, Row& b, Row& d, int turn)
{
    for (int i = 0; i < kLanes; i++)
    {
        a[i] += b[i];
        uint32_t x = d[i] ^ a[i];
        d[i] = (x << turn) | (x >> (32 - turn));
    }
}

inline void quarter(Row* s, int a, int b, int c, int d)
{
    mix(s[a], s[b], s[d], 16);
    mix(s[c], s[d], s[b], 12);
    mix(s[a], s[b], s[d], 8);
    mix(s[c], s[d], s[b], 7);
}

void chacha(const uint32_t* key, uint32_t* out)
{
    static const uint32_t constants[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    Row start[16], s[16];
    for (int w = 0; w < 16; w++)
        for (int i = 0; i < kLanes; i++)
            start[w][i] = w < 4 ? constants[w] : w < 12 ? key[w - 4] : w == 12 ? uint32_t(i) : 0;
    memcpy(s, start, sizeof(s));
    for (int round = 0; round < kRounds; round += 2)
    {
        for (int i = 0; i < 4; i++)
            quarter(s, i, 4 + i, 8 + i, 12 + i);
        for (int i = 0; i < 4; i++)
            quarter(s, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4);
    }
    for (int w = 0; w < 16; w++)
        for (int i = 0; i < kLanes; i++)
            out[w * kLanes + i] = s[w][i] + start[w][i];
}

void seed(Generator& g)
{
    size_t got = 0;
    while (got < sizeof(g.key))
    {
        ssize_t n = getrandom(reinterpret_cast<char*>(g.key) + got, sizeof(g.key) - got, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
        {
            // Going on with guessable numbers would be worse than not going on.
            fprintf(stderr, "hukilau: the system gives no random numbers (getrandom: %s)\n", strerror(errno));
            abort();
        }
        got += size_t(n);
    }
    g.seeded = true;
}

void refill(Generator& g)
{
    if (!g.seeded)
        seed(g);
    chacha(g.key, g.buffer);
    memcpy(g.key, g.buffer, sizeof(g.key));
    memset(g.buffer, 0, sizeof(g.key));
    g.next = kKeyWords;
}

} // namespace

void random_words(uint64_t* out, size_t n)
{
    Generator& g = generator;
    for (size_t i = 0; i < n; i++)
    {
        if (!g.seeded || g.next + 2 > kBuffered)
            refill(g);
        memcpy(&out[i], &g.buffer[g.next], sizeof(uint64_t));
        g.buffer[g.next] = g.buffer[g.next + 1] = 0; // what was handed out is not kept
        g.next += 2;
    }
}

} // namespace hk
