/* stamp - the command of every measurement: says when its first instruction ran, then waits. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int main(void)
{
	const char *token = getenv("HOWDAH_TOKEN");
	struct timespec now;
	char line[128];
	int n;

	(void)clock_gettime(CLOCK_BOOTTIME, &now);
	n = snprintf(line, sizeof(line),
	             "{\"event\":\"up\",\"token\":\"%s\",\"pid\":\"%d\",\"at\":\"%lld\"}\n",
	             token != NULL ? token : "0", (int)getpid(),
	             (long long)now.tv_sec * 1000000000LL + now.tv_nsec);
	if (write(STDOUT_FILENO, line, (size_t)n) != n)
		return 1;
	for (;;)
		(void)pause();
}
