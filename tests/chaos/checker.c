/*
 * checker.c - reads what scribes wrote and says whether the promises held.
 *
 *   checker FILE [least NUMBER_OF_TERMS] [idle MILLISECONDS]
 *
 * A term is all lines of one token, its time from the first to the last of them. Two terms never
 * overlap, later terms have larger tokens; with `idle`, no gap between two is longer. Prints a line
 * a violation and one with what it saw; exit 0 when there is none, 1 when there is, 2 when the file
 * can't be judged.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TERMS_MAX 4096

struct term {
	int64_t token, first, last;
	long lines;
	char node[128]; /* who wrote the first line */
};

static struct term terms[TERMS_MAX];
static size_t nterms;

static struct term *term_of(int64_t token)
{
	for (size_t i = nterms; i-- > 0;)
		if (terms[i].token == token)
			return &terms[i];
	if (nterms == TERMS_MAX)
		return NULL;
	terms[nterms] = (struct term){ .token = token, .first = INT64_MAX, .last = INT64_MIN };
	return &terms[nterms++];
}

/* The clock is one for all processes of the machine, so the lines are compared as they are. */
static int read_terms(FILE *f)
{
	char word[16];
	char node[128];
	int64_t token;
	int64_t at;
	long pid;

	while (fscanf(f, "%15s %" SCNd64 " %" SCNd64 " %ld %127s", word, &token, &at, &pid, node) ==
	       5) {
		struct term *t = term_of(token);

		if (t == NULL)
			return 2;
		if (t->lines == 0)
			(void)snprintf(t->node, sizeof(t->node), "%s", node);
		if (strcmp(t->node, node) != 0) {
			printf("token %" PRId64 " was used by %s and by %s\n", token, t->node,
			       node);
			return 1;
		}
		t->first = at < t->first ? at : t->first;
		t->last = at > t->last ? at : t->last;
		t->lines++;
	}
	return feof(f) ? 0 : 2;
}

static int by_start(const void *a, const void *b)
{
	const struct term *x = a;
	const struct term *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

static double ms(int64_t ns)
{
	return (double)ns / 1e6;
}

static int judge(int64_t idle_ms)
{
	int bad = 0;
	int64_t idle = 0;
	size_t latest = 0; /* the term that ended last so far: an early one may outlive many */

	for (size_t i = 1; i < nterms; i++) {
		const struct term *old = &terms[latest];
		const struct term *new = &terms[i];

		if (new->first <= old->last) {
			printf("overlap of %.1f ms: token %" PRId64
			       " of %s still ran when token %" PRId64 " of %s started\n",
			       ms(old->last - new->first), old->token, old->node, new->token,
			       new->node);
			bad = 1;
		} else if (new->first - old->last > idle) {
			idle = new->first - old->last;
		}
		if (new->token <= terms[i - 1].token) {
			printf("token %" PRId64 " came after token %" PRId64 "\n", new->token,
			       terms[i - 1].token);
			bad = 1;
		}
		if (new->last > old->last)
			latest = i;
	}
	if (idle_ms > 0 && ms(idle) > (double)idle_ms) {
		printf("idle for %.1f ms, %" PRId64 " ms allowed\n", ms(idle), idle_ms);
		bad = 1;
	}
	printf("%zu terms, longest idle %.1f ms\n", nterms, ms(idle));
	return bad;
}

int main(int argc, char **argv)
{
	long long least = 1;
	long long idle = 0;
	FILE *f;
	int bad;

	for (int i = 2; i + 1 < argc; i += 2) {
		if (strcmp(argv[i], "least") == 0)
			least = strtoll(argv[i + 1], NULL, 10);
		else if (strcmp(argv[i], "idle") == 0)
			idle = strtoll(argv[i + 1], NULL, 10);
		else
			return 64;
	}
	f = argc > 1 ? fopen(argv[1], "re") : NULL;
	if (f == NULL) {
		printf("can't read the file\n");
		return 2;
	}
	bad = read_terms(f);
	(void)fclose(f);
	if (bad != 0)
		return bad;
	qsort(terms, nterms, sizeof(terms[0]), by_start);
	bad = judge(idle);
	if ((long long)nterms < least) {
		printf("%zu terms, %lld at least were expected\n", nterms, least);
		bad = 1;
	}
	return bad;
}
