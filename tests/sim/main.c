/*
 * main.c - sim: leader election under virtual time.
 *
 *   sim [--seeds N] [--from N]        so many worlds, from that one on: TAP
 *   sim --seed N [--plant BUG] --trace   one world, told line by line
 *   sim --plants [--seeds N]          each planted bug must be caught within so many worlds: TAP
 */
#include "sim.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
	uint64_t seeds, from, seed;
	bool one, trace, plants, stats;
	enum plant plant;
} o = { .seeds = 1000, .from = 1 };

static enum plant find_plant(const char *name)
{
	for (int p = 0; p < PLANT_COUNT; p++)
		if (strcmp(plant_kinds[p].name, name) == 0)
			return (enum plant)p;
	(void)fprintf(stderr, "sim: no bug \"%s\" can be planted; there are:", name);
	for (int p = 1; p < PLANT_COUNT; p++)
		(void)fprintf(stderr, " %s", plant_kinds[p].name);
	(void)fputc('\n', stderr);
	exit(64);
}

static void read_options(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : "";

		if (strcmp(argv[i], "--trace") == 0)
			o.trace = true;
		else if (strcmp(argv[i], "--plants") == 0)
			o.plants = true;
		else if (strcmp(argv[i], "--seeds") == 0)
			o.seeds = strtoull(value, NULL, 10), i++;
		else if (strcmp(argv[i], "--from") == 0)
			o.from = strtoull(value, NULL, 10), i++;
		else if (strcmp(argv[i], "--seed") == 0)
			o.one = true, o.seed = strtoull(value, NULL, 10), i++;
		else if (strcmp(argv[i], "--plant") == 0)
			o.plant = find_plant(value), i++;
		else {
			(void)fprintf(stderr, "sim: unknown option %s: see tests/sim/main.c\n",
			              argv[i]);
			exit(64);
		}
	}
}

static void tell_replay(uint64_t seed, enum plant plant)
{
	printf("# %s\n# replay: build-asan/tests/sim --seed %llu%s%s --trace\n", sim.failure,
	       (unsigned long long)seed, plant != PLANT_NONE ? " --plant " : "",
	       plant != PLANT_NONE ? plant_kinds[plant].name : "");
}

static int run_one(void)
{
	bool good = run_seed(o.seed, o.plant, o.trace);

	printf("%s\n", good ? "nothing was violated" : sim.failure);
	return !good;
}

static int run_many(void)
{
	uint64_t commands = 0, takes = 0, commits = 0, statements = 0, bad = 0;

	for (uint64_t seed = o.from; seed < o.from + o.seeds && bad < 5; seed++) {
		if (!run_seed(seed, o.plant, false)) {
			tell_replay(seed, o.plant);
			bad++;
		}
		commands += sim.commands;
		takes += sim.takes;
		commits += sim.commits;
		statements += sim.statements;
	}
	printf("%s 1 - %llu seeds from %llu: never two commands, tokens grow, the role is led\n",
	       bad == 0 ? "ok" : "not ok", (unsigned long long)o.seeds, (unsigned long long)o.from);
	/* A world in which nothing happens proves nothing. */
	printf("%s 2 - they were lived in: %llu commands, %llu tokens, %llu guarded commits, %llu "
	       "statements\n1..2\n",
	       commands > 3 * o.seeds && commits > o.seeds ? "ok" : "not ok",
	       (unsigned long long)commands, (unsigned long long)takes, (unsigned long long)commits,
	       (unsigned long long)statements);
	return bad != 0;
}

static int run_plants(void)
{
	int missed = 0;

	printf("1..%d\n", PLANT_COUNT - 1);
	for (int p = 1; p < PLANT_COUNT; p++) {
		uint64_t seed = 1;

		while (seed <= o.seeds && run_seed(seed, (enum plant)p, false))
			seed++;
		if (seed > o.seeds) {
			printf("not ok %d - %s: not caught by %llu seeds\n", p, plant_kinds[p].name,
			       (unsigned long long)o.seeds);
			missed++;
			continue;
		}
		printf("ok %d - %s: caught by seed %llu: %s\n", p, plant_kinds[p].name,
		       (unsigned long long)seed, sim.failure);
	}
	return missed != 0;
}

int main(int argc, char **argv)
{
	read_options(argc, argv);
	if (o.one)
		return run_one();
	return o.plants ? run_plants() : run_many();
}
