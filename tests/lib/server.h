/*
 * server.h - servers, poolers and proxies for C tests.
 *
 * Everything lives in one temporary folder of the program. A process of its own stops and removes
 * it all when the program has ended, also when it was killed. A helper that fails ends the test
 * program.
 */
#ifndef TEST_SERVER_H
#define TEST_SERVER_H

#include <sys/types.h>

/* The program's folder, and a path in it (a few are kept at a time). */
const char *test_dir(void);
const char *test_path(const char *name);

/* A TCP port of 127.0.0.1 that nobody listens on. */
int test_port(void);

/*
 * Runs tests/lib/SCRIPT VERB DIR/NAME with the words of `args` (separated by blanks; NULL: none)
 * and returns the first line that it printed, kept until the end of the program.
 *
 *   test_run("pgserver", "start", "a", "-p 5555");
 *   test_run("pgbouncer", "start", "b", test_format("%s pool_mode=session", test_path("a")));
 */
const char *test_run(const char *script, const char *verb, const char *name, const char *args);

/* printf into memory that is kept until the end of the program. */
const char *test_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A proxy between two addresses (a path, or a port of 127.0.0.1); see blackhole.c. */
void test_blackhole(const char *name, const char *listen_at, const char *target);
void test_blackhole_tell(const char *name, const char *command);

#endif
