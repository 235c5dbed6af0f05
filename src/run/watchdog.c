#include "run/watchdog.h"

#include "app/procfs.h"
#include "base/base.h"
#include "base/error.h"
#include "base/ids.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define READ_MOST     32   /* messages at a time; poll(2) says when there are more */
#define MESSAGE_ROOM  4096 /* of a longer one nothing is believed */
#define ANCESTRY_MOST 128

/* ---- what a message says ---- */

static bool is_line(const char *line, size_t n, const char *text)
{
	return n == strlen(text) && memcmp(line, text, n) == 0;
}

/* Microseconds in `text`, as milliseconds; 0 when they are out of bounds or no number. */
static int64_t read_usec(const char *text, size_t n)
{
	int64_t usec = 0;

	if (n == 0 || n > 15)
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (text[i] < '0' || text[i] > '9')
			return 0;
		usec = usec * 10 + (text[i] - '0');
	}
	if (usec < HD_WATCHDOG_LEAST_MS * INT64_C(1000) ||
	    usec > HD_WATCHDOG_MOST_MS * INT64_C(1000))
		return 0;
	return usec / 1000;
}

static void read_line(const char *line, size_t n, struct hd_watchdog_news *news)
{
	static const char usec[] = "WATCHDOG_USEC=";

	if (is_line(line, n, "WATCHDOG=1"))
		news->ping = true;
	else if (is_line(line, n, "WATCHDOG=trigger"))
		news->trigger = true;
	else if (n >= strlen(usec) && memcmp(line, usec, strlen(usec)) == 0)
		news->interval_ms = read_usec(line + strlen(usec), n - strlen(usec));
}

struct hd_watchdog_news hd_watchdog_parse(const char *text, size_t size)
{
	struct hd_watchdog_news news = { 0 };

	while (size > 0) {
		const char *end = memchr(text, '\n', size);
		size_t n = end != NULL ? (size_t)(end - text) : size;

		read_line(text, n, &news);
		n += end != NULL;
		text += n;
		size -= n;
	}
	return news;
}

/* ---- who sent it ---- */

/* A short-lived helper can be gone before it is looked at; then its user has to do. */
static bool is_ours(const struct ucred *sender)
{
	struct hd_procfs_stat st;
	pid_t pid = sender->pid, self = getpid();

	if (pid <= 0)
		return false;
	if (!hd_procfs_stat(pid, &st))
		return sender->uid == geteuid();
	for (int i = 0; i < ANCESTRY_MOST && st.parent > 0; i++) {
		if (st.parent == self)
			return true;
		if (!hd_procfs_stat(st.parent, &st))
			return false;
	}
	return false;
}

/* ---- the socket ---- */

hd_status hd_watchdog_init(struct hd_watchdog *w, int64_t interval_ms, struct hd_error *err)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	char id[HD_ID_TEXT];
	int on = 1, n;

	*w = (struct hd_watchdog){ .fd = -1, .interval_ms = interval_ms };
	(void)snprintf(w->name, sizeof(w->name), "@howdah/notify/%s", hd_id_new(id));
	n = snprintf(a.sun_path, sizeof(a.sun_path), "%s", w->name);
	a.sun_path[0] = '\0'; /* sd_notify(3) writes '@' for it */
	w->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (w->fd >= 0 && setsockopt(w->fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) == 0 &&
	    bind(w->fd, (const struct sockaddr *)&a,
	         (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)n)) == 0)
		return HD_OK;
	(void)hd_fail_errno(err, HD_RETRY, "no socket for the watchdog");
	hd_watchdog_release(w);
	return HD_RETRY;
}

void hd_watchdog_release(struct hd_watchdog *w)
{
	if (w->fd >= 0)
		(void)close(w->fd);
	w->fd = -1;
}

void hd_watchdog_start(struct hd_watchdog *w)
{
	w->due = hd_after(hd_now(), w->interval_ms);
}

/* Room for the sender only: the kernel closes descriptors that come along (BARRIER=1). */
static bool receive(int fd, char *text, size_t *ret_size, struct ucred *ret_sender)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct ucred))];
	struct iovec room = { text, MESSAGE_ROOM };
	struct msghdr m = { .msg_iov = &room,
		            .msg_iovlen = 1,
		            .msg_control = control,
		            .msg_controllen = sizeof(control) };
	ssize_t n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	struct cmsghdr *c;

	if (n < 0)
		return false;
	*ret_size = (m.msg_flags & MSG_TRUNC) != 0 ? 0 : (size_t)n;
	*ret_sender = (struct ucred){ 0 };
	c = CMSG_FIRSTHDR(&m);
	if (c != NULL && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS)
		memcpy(ret_sender, CMSG_DATA(c), sizeof(*ret_sender));
	return true;
}

static void take(struct hd_watchdog *w, const struct hd_watchdog_news *news, hd_mono now)
{
	if (news->interval_ms > 0)
		w->interval_ms = news->interval_ms;
	if (news->trigger)
		w->triggered = true;
	w->due = hd_after(now, w->interval_ms);
	w->excused = false;
}

bool hd_watchdog_good(struct hd_watchdog *w, hd_mono now)
{
	static char text[MESSAGE_ROOM]; /* there is one thread */
	struct hd_watchdog_news news;
	struct ucred sender;
	size_t size;

	for (int i = 0; i < READ_MOST && receive(w->fd, text, &size, &sender); i++) {
		news = hd_watchdog_parse(text, size);
		if ((news.ping || news.trigger || news.interval_ms > 0) && is_ours(&sender))
			take(w, &news, now);
	}
	return !w->triggered && hd_before(now, w->due);
}

bool hd_watchdog_excuse(struct hd_watchdog *w, hd_mono now)
{
	if (w->triggered || w->excused)
		return false;
	w->excused = true;
	w->due = hd_after(now, w->interval_ms);
	return true;
}
