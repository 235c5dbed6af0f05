/*
 * blackhole - a proxy that goes silent, slow, or dies on command.
 *
 *   blackhole LISTEN TARGET CONTROL     an address is a path or a port of 127.0.0.1
 *   blackhole -c CONTROL COMMAND        returns when the command holds
 *
 *   flow         everything passes again, what was held back first
 *   silent       nothing passes, not even the end of a connection; the kernel still answers
 *   silent up    nothing from the client to the server; `silent down` the other way
 *   reset        every connection ends with RST (a unix socket: closes)
 *   delay MS     each piece is passed on that much later; 0 ends it
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <howdah/clock.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PAIRS_MAX  64
#define PIECES_MAX 16
#define PIECE_SIZE 16384

enum way {
	UP,
	DOWN,
	WAYS
};

struct piece {
	hd_mono due;
	size_t len, sent;
	char bytes[PIECE_SIZE];
};

/* One direction of a connection: a ring of pieces between two descriptors. */
struct pipe {
	int first, count;
	int ended; /* the source has closed */
	struct piece *ring;
};

struct pair {
	int fd[WAYS]; /* UP comes from the client, DOWN from the server; -1: free */
	struct pipe pipe[WAYS];
};

static struct pair pairs[PAIRS_MAX];
static int silent[WAYS];
static int64_t delay_ms;
static const char *target_address;

__attribute__((noreturn)) static void die(const char *what)
{
	fprintf(stderr, "blackhole: %s: %s\n", what, strerror(errno));
	exit(1);
}

static socklen_t make_address(const char *text, struct sockaddr_storage *ret)
{
	struct sockaddr_in *in = (struct sockaddr_in *)ret;
	struct sockaddr_un *un = (struct sockaddr_un *)ret;

	memset(ret, 0, sizeof(*ret));
	if (text[0] == '/') {
		un->sun_family = AF_UNIX;
		(void)snprintf(un->sun_path, sizeof(un->sun_path), "%s", text);
		return sizeof(*un);
	}
	in->sin_family = AF_INET;
	in->sin_port = htons((uint16_t)strtoul(text, NULL, 10));
	in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return sizeof(*in);
}

static int open_socket(const char *address, int listening)
{
	struct sockaddr_storage a;
	socklen_t len = make_address(address, &a);
	int fd = socket(a.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int on = 1;

	if (fd < 0)
		die("socket");
	if (!listening) {
		if (connect(fd, (struct sockaddr *)&a, len) == 0)
			return fd;
		(void)close(fd);
		return -1;
	}
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&a, len) != 0 || listen(fd, 64) != 0)
		die(address);
	return fd;
}

static void close_pair(struct pair *p, int reset)
{
	struct linger now = { .l_onoff = 1 };

	for (int w = 0; w < WAYS; w++) {
		if (reset)
			(void)setsockopt(p->fd[w], SOL_SOCKET, SO_LINGER, &now, sizeof(now));
		(void)close(p->fd[w]);
		free(p->pipe[w].ring);
	}
	memset(p, 0, sizeof(*p));
	p->fd[UP] = p->fd[DOWN] = -1;
}

static void accept_client(int listener)
{
	int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	int server = client < 0 ? -1 : open_socket(target_address, 0);

	for (struct pair *p = pairs; server >= 0 && p < pairs + PAIRS_MAX; p++) {
		if (p->fd[UP] >= 0)
			continue;
		(void)fcntl(server, F_SETFL, O_NONBLOCK);
		p->fd[UP] = client;
		p->fd[DOWN] = server;
		for (int w = 0; w < WAYS; w++) {
			p->pipe[w].ring = calloc(PIECES_MAX, sizeof(struct piece));
			if (p->pipe[w].ring == NULL)
				die("calloc");
		}
		return;
	}
	if (server >= 0)
		(void)close(server);
	if (client >= 0)
		(void)close(client);
}

static void fill(struct pair *p, enum way w)
{
	struct pipe *q = &p->pipe[w];
	struct piece *piece = &q->ring[(q->first + q->count) % PIECES_MAX];
	ssize_t n = read(p->fd[w], piece->bytes, PIECE_SIZE);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		q->ended = 1;
		return;
	}
	piece->len = (size_t)n;
	piece->sent = 0;
	piece->due = hd_after(hd_now(), delay_ms);
	q->count++;
}

static void drain(struct pair *p, enum way w)
{
	struct pipe *q = &p->pipe[w];
	int to = p->fd[w == UP ? DOWN : UP];

	while (q->count > 0 && !silent[w]) {
		struct piece *piece = &q->ring[q->first];
		ssize_t n;

		if (hd_before(hd_now(), piece->due))
			return;
		n = send(to, piece->bytes + piece->sent, piece->len - piece->sent, MSG_NOSIGNAL);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n < 0)
			q->ended = 1;
		else if ((piece->sent += (size_t)n) < piece->len)
			return;
		q->first = (q->first + 1) % PIECES_MAX;
		q->count--;
	}
}

static void obey(const char *command)
{
	int way = strcmp(command, "silent up") == 0     ? 1 << UP
	          : strcmp(command, "silent down") == 0 ? 1 << DOWN
	          : strcmp(command, "silent") == 0      ? 1 << UP | 1 << DOWN
	                                                : 0;

	if (strncmp(command, "delay ", 6) == 0) {
		delay_ms = strtol(command + 6, NULL, 10);
		return;
	}
	if (strcmp(command, "reset") == 0) {
		for (struct pair *p = pairs; p < pairs + PAIRS_MAX; p++)
			if (p->fd[UP] >= 0)
				close_pair(p, 1);
		return;
	}
	silent[UP] = way >> UP & 1;
	silent[DOWN] = way >> DOWN & 1;
}

static void serve_control(int control)
{
	char command[64];
	int fd = accept4(control, NULL, NULL, SOCK_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, command, sizeof(command) - 1);

	if (n > 0) {
		command[n] = '\0';
		obey(command);
		(void)send(fd, "ok", 2, MSG_NOSIGNAL);
	}
	if (fd >= 0)
		(void)close(fd);
}

/* What to wait for at one end: room where something is due, bytes where there is room. */
static short wanted(const struct pair *p, enum way w)
{
	const struct pipe *in = &p->pipe[w], *out = &p->pipe[w == UP ? DOWN : UP];
	int quiet = silent[w == UP ? DOWN : UP];
	short events = 0;

	if (!silent[w] && !in->ended && in->count < PIECES_MAX)
		events |= POLLIN;
	if (!quiet && out->count > 0 && !hd_before(hd_now(), out->ring[out->first].due))
		events |= POLLOUT;
	return events;
}

static void move(struct pair *p, const struct pollfd *f)
{
	for (int w = 0; w < WAYS; w++)
		if (f[w].events & POLLIN && f[w].revents)
			fill(p, (enum way)w);
	for (int w = 0; w < WAYS; w++)
		drain(p, (enum way)w);
	for (int w = 0; w < WAYS; w++)
		if (p->fd[UP] >= 0 && p->pipe[w].ended && !silent[w] && p->pipe[w].count == 0)
			close_pair(p, 0);
}

static void serve(int listener, int control)
{
	for (;;) {
		struct pollfd f[2 + WAYS * PAIRS_MAX] = { { listener, POLLIN, 0 },
			                                  { control, POLLIN, 0 } };

		for (int i = 0; i < PAIRS_MAX; i++)
			for (int w = 0; w < WAYS; w++) {
				struct pollfd *at = &f[2 + WAYS * i + w];

				at->events =
				    pairs[i].fd[w] < 0 ? 0 : wanted(&pairs[i], (enum way)w);
				/* Silence hides the end of a connection as well. */
				at->fd = at->events ? pairs[i].fd[w] : -1;
			}
		/* Something may be held back for a time. */
		if (poll(f, 2 + WAYS * PAIRS_MAX, delay_ms > 0 ? 2 : 100) < 0 && errno != EINTR)
			die("poll");
		for (int i = 0; i < PAIRS_MAX; i++)
			if (pairs[i].fd[UP] >= 0)
				move(&pairs[i], &f[2 + WAYS * i]);
		if (f[0].revents)
			accept_client(listener);
		if (f[1].revents)
			serve_control(control);
	}
}

static int tell(const char *control, const char *command)
{
	char answer[8];
	int fd = open_socket(control, 0);

	if (fd < 0)
		die(control);
	if (send(fd, command, strlen(command), MSG_NOSIGNAL) < 0 || read(fd, answer, 2) != 2)
		die(command);
	(void)close(fd);
	return 0;
}

int main(int argc, char **argv)
{
	int listener, control;

	if (argc != 4)
		die("usage: blackhole LISTEN TARGET CONTROL | -c CONTROL COMMAND");
	if (strcmp(argv[1], "-c") == 0)
		return tell(argv[2], argv[3]);
	target_address = argv[2];
	for (int i = 0; i < PAIRS_MAX; i++)
		pairs[i].fd[UP] = pairs[i].fd[DOWN] = -1;
	listener = open_socket(argv[1], 1);
	control = open_socket(argv[3], 1);
	(void)write(1, "\n", 1);
	(void)close(1);
	serve(listener, control);
}
