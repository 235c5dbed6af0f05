#include "run/signals.h"

#include "app/log.h"
#include "base/base.h"
#include "run/term.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const int stops[] = { SIGTERM, SIGINT, SIGQUIT };
static const int passed[] = { SIGHUP, SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH };

static volatile sig_atomic_t forwarding;
static volatile sig_atomic_t guard = -1;
static volatile sig_atomic_t grace;
static volatile sig_atomic_t stop_signal;
static volatile sig_atomic_t stop_sent;
static int wake[2] = { -1, -1 };
static char *last_words;
static size_t last_words_length;

/* Only async-signal-safe calls below (signal-safety(7)). */
static bool tell_guard(int order, int number, int64_t value)
{
	struct hd_guard_message m = { .kind = order, .sig = number, .value = value };

	return guard >= 0 && send(guard, &m, sizeof(m), MSG_DONTWAIT | MSG_NOSIGNAL) > 0;
}

static void on_stop(int number)
{
	int saved = errno;

	if (!forwarding) {
		hd_log_stamp(last_words);
		(void)!write(STDERR_FILENO, last_words, last_words_length);
		_exit(0);
	}
	if (tell_guard(HD_GUARD_STOP, number, grace))
		stop_sent = 1;
	stop_signal = number;
	(void)!write(wake[1], "", 1);
	errno = saved;
}

static void on_passed(int number)
{
	int saved = errno;

	if (forwarding)
		(void)tell_guard(HD_GUARD_SIGNAL, number, 0);
	errno = saved;
}

/* A child ended: the loop reaps. */
static void on_child(int number)
{
	int saved = errno;

	(void)number;
	(void)!write(wake[1], "", 1);
	errno = saved;
}

static void install(const int *numbers, size_t n, void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };

	(void)sigfillset(&action.sa_mask);
	for (size_t i = 0; i < n; i++)
		(void)sigaction(numbers[i], &action, NULL);
}

void hd_signals_block(void)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGTRAP };
	sigset_t set;

	(void)sigfillset(&set);
	for (size_t i = 0; i < HD_ARRAY_SIZE(faults); i++)
		(void)sigdelset(&set, faults[i]);
	(void)sigprocmask(SIG_SETMASK, &set, NULL);
}

void hd_signals_setup(char *farewell)
{
	last_words = farewell;
	last_words_length = strlen(farewell);
	if (wake[0] < 0)
		(void)!pipe2(wake, O_CLOEXEC | O_NONBLOCK);
	install(stops, HD_ARRAY_SIZE(stops), on_stop);
	install(passed, HD_ARRAY_SIZE(passed), on_passed);
	install((const int[]){ SIGCHLD }, 1, on_child);
	(void)signal(SIGPIPE, SIG_IGN);
}

void hd_signals_exit_at_once(void)
{
	guard = -1;
	forwarding = 0;
}

void hd_signals_forward(int channel, int64_t grace_ms)
{
	grace = (sig_atomic_t)(grace_ms < INT_MAX ? grace_ms : INT_MAX);
	guard = channel;
	forwarding = 1;
}

int hd_signals_fd(void)
{
	return wake[0];
}

void hd_signals_clear(void)
{
	char bytes[64];

	while (read(wake[0], bytes, sizeof(bytes)) > 0)
		;
}

int hd_signals_stop(void)
{
	return stop_signal;
}

bool hd_signals_stop_sent(void)
{
	return stop_sent != 0;
}
