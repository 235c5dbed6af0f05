#include "base/nearest.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

#define LONGEST 40

static int least(int a, int b, int c)
{
	int ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* Optimal string alignment distance; names over LONGEST are never near. */
static int distance(const char *a, const char *b)
{
	size_t la = strlen(a);
	size_t lb = strlen(b);
	int d[LONGEST + 1][LONGEST + 1];

	if (la > LONGEST || lb > LONGEST)
		return INT_MAX;
	for (size_t i = 0; i <= la; i++)
		d[i][0] = (int)i;
	for (size_t j = 0; j <= lb; j++)
		d[0][j] = (int)j;
	for (size_t i = 1; i <= la; i++) {
		for (size_t j = 1; j <= lb; j++) {
			int change = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);

			d[i][j] = least(d[i - 1][j] + 1, d[i][j - 1] + 1, change);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1, d[i][j]);
		}
	}
	return d[la][lb];
}

void hd_nearest_init(struct hd_nearest *n, const char *wanted)
{
	int third = (int)(strlen(wanted) + 2) / 3;

	*n = (struct hd_nearest){ .wanted = wanted, .best = NULL, .distance = third + 1 };
}

void hd_nearest_offer(struct hd_nearest *n, const char *name)
{
	int d = distance(n->wanted, name);

	if (d < n->distance) {
		n->distance = d;
		n->best = name;
	}
}
