/* world.c - chance, the queue of events, and clocks that differ. */
#include "sim.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct world sim;

/* splitmix64: small, and the same everywhere. */
uint64_t rnd(void)
{
	uint64_t z = (sim.random += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

int64_t between(int64_t low, int64_t high)
{
	return high <= low ? low : low + (int64_t)(rnd() % (uint64_t)(high - low + 1));
}

/* Each halving of the length is as likely as the next: seconds are as usual as milliseconds. */
int64_t mostly_short(int64_t low, int64_t high)
{
	int64_t top = high;

	while (top / 2 > low && chance(50))
		top /= 2;
	return between(low, top);
}

bool chance(int percent)
{
	return (int)(rnd() % 100) < percent;
}

static bool earlier(const struct event *a, const struct event *b)
{
	return a->at < b->at || (a->at == b->at && a->order < b->order);
}

static void swap(int i, int j)
{
	struct event e = sim.heap[i];

	sim.heap[i] = sim.heap[j];
	sim.heap[j] = e;
}

void schedule(int64_t at, enum event_kind kind, int who, uint32_t serial)
{
	int i = sim.nevents++;

	if (sim.nevents >= EVENTS) {
		violated("the simulator ran out of events");
		sim.nevents--;
		return;
	}
	sim.heap[i] = (struct event){ at < sim.now ? sim.now : at, sim.order++, kind, who, serial };
	for (; i > 0 && earlier(&sim.heap[i], &sim.heap[(i - 1) / 2]); i = (i - 1) / 2)
		swap(i, (i - 1) / 2);
}

bool next_event(struct event *ret)
{
	int i = 0, child;

	if (sim.nevents == 0)
		return false;
	*ret = sim.heap[0];
	sim.heap[0] = sim.heap[--sim.nevents];
	for (; (child = 2 * i + 1) < sim.nevents; i = child) {
		if (child + 1 < sim.nevents && earlier(&sim.heap[child + 1], &sim.heap[child]))
			child++;
		if (!earlier(&sim.heap[child], &sim.heap[i]))
			break;
		swap(i, child);
	}
	return true;
}

/* The boot clock: never steps, drifts by parts per million. */
hd_mono local(const struct node *n)
{
	hd_mono t = { n->offset_ns + sim.now * 1000 + sim.now * n->ppm / 1000 };

	return t;
}

/* The first microsecond of true time at which the node's clock shows `at` or later. */
int64_t when_local(const struct node *n, hd_mono at)
{
	int64_t ns = at.ns - n->offset_ns;

	if (at.ns >= INT64_MAX / 4)
		return FOREVER;
	return (int64_t)((double)ns / (1000.0 + n->ppm / 1000.0)) + 1;
}

int64_t wall(const struct node *n)
{
	return n->wall_us + sim.now;
}

void say(const char *format, ...)
{
	va_list args;

	if (!sim.trace)
		return;
	printf("%11.6f  ", (double)sim.now / SECOND);
	va_start(args, format);
	(void)vprintf(format, args);
	va_end(args);
	putchar('\n');
}

void violated(const char *format, ...)
{
	va_list args;

	if (sim.failed)
		return;
	sim.failed = true;
	va_start(args, format);
	(void)vsnprintf(sim.failure, sizeof(sim.failure), format, args);
	va_end(args);
	say("VIOLATED: %s", sim.failure);
}

bool planted(enum plant p)
{
	return sim.plant == p;
}
