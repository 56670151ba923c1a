#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
#include <string.h>
#include <fcntl.h>
#include <unistd.h>

typedef struct {
    int fd;
    long words;
} Sink;

typedef struct {
    int16_t pedestal;
    int16_t amplitude;
    int start;
    uint32_t noise;
} Pulse;

static int sink_open(Sink *s, const char *path)
{
    s->fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    s->words = 0;
    return s->fd < 0 ? -1 : 0;
}

static void put_word(Sink *s, int16_t w)
{
    if (write(s->fd, &w, sizeof w) != (ssize_t)sizeof w) {
        perror("put_word");
        exit(1);
    }
    s->words++;
}

static void sink_close(Sink *s)
{
    close(s->fd);
}

static int16_t sample(Pulse *p, int t)
{
    p->noise = p->noise * 1664525u + 1013904223u;
    int v = p->pedestal + (int)(p->noise >> 29);
    int d = t - p->start;
    if (d >= 0 && d < 16)
        v += p->amplitude * d / 16;
    else if (d >= 16)
        v += p->amplitude * 64 / (64 + (d - 16) * 4);
    return (int16_t)(v > 16383 ? 16383 : v);
}

static void write_event(Sink *s, int number, int channels, int samples)
{
    put_word(s, (int16_t)0x7e7e);
    put_word(s, (int16_t)(number & 0x7fff));
    for (int c = 0; c < channels; c++) {
        Pulse p;
        p.pedestal = (int16_t)(200 + c);
        p.amplitude = (int16_t)(500 + (number * 37 + c * 101) % 3000);
        p.start = 20 + (number + c) % 30;
        p.noise = (uint32_t)(number * 7919 + c);
        put_word(s, (int16_t)c);
        for (int t = 0; t < samples; t++)
            put_word(s, sample(&p, t));
    }
}

static int verify(const char *path, long *total, uint64_t *sum)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return -1;
    int16_t block[4096];
    size_t got;
    uint64_t h = 1469598103934665603ULL;
    long n = 0;
    while ((got = fread(block, sizeof block[0], 4096, f)) > 0) {
        for (size_t i = 0; i < got; i++)
            h = (h ^ (uint16_t)block[i]) * 1099511628211ULL;
        n += (long)got;
    }
    fclose(f);
    *total = n;
    *sum = h;
    return 0;
}

int main(int argc, char **argv)
{
    int events = argc > 1 ? atoi(argv[1]) : 400;
    int channels = argc > 2 ? atoi(argv[2]) : 16;
    const char *path = "run.raw";
    Sink s;
    long total = 0;
    uint64_t sum = 0;
    if (sink_open(&s, path))
        return 1;
    for (int e = 0; e < events; e++)
        write_event(&s, e, channels, 256);
    sink_close(&s);
    if (verify(path, &total, &sum))
        return 1;
    printf("words %ld of %ld, checksum %016llx\n", total, s.words,
           (unsigned long long)sum);
    unlink(path);
    return 0;
}
