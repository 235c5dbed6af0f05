/* hosts.h - which servers a connection string names, after service file, environment and defaults.
 */
#ifndef HD_PG_HOSTS_H
#define HD_PG_HOSTS_H

#include <howdah/error.h>
#include <stdbool.h>

#define HD_HOSTS_MAX     32
#define HD_ADDRESSES_MAX 8
#define HD_ADDRESS_TEXT  64

/* One server. NULL means that libpq's default holds. */
struct hd_host {
	char *host; /* a name, an address, or the folder of a unix socket */
	char *addr; /* hostaddr: no look-up */
	char *port;
};

void hd_host_release(struct hd_host *h);
hd_status hd_host_copy(const struct hd_host *from, struct hd_host *ret, struct hd_error *err);

struct hd_hosts {
	int n;
	struct hd_host at[HD_HOSTS_MAX];
	char *attrs;            /* target_session_attrs; NULL: not set */
	char *options;          /* for the server; NULL: none */
	int connect_timeout_ms; /* 0: not set */
	bool whole;             /* libpq must be given the list as a whole (prefer-standby) */
};

/* HD_INVALID: the string can't be read, said without quoting any of it. */
hd_status hd_hosts_read(const char *conninfo, struct hd_hosts *ret, struct hd_error *err);
void hd_hosts_release(struct hd_hosts *h);

/*
 * The addresses of a host, as text for hostaddr; *ret_n is 0 where there is nothing to look up (a
 * unix socket, an address already). Blocks as getaddrinfo(3) does. HD_RETRY: the name is unknown.
 */
hd_status hd_host_resolve(const struct hd_host *h, char ret[HD_ADDRESSES_MAX][HD_ADDRESS_TEXT],
                          int *ret_n, struct hd_error *err);

#endif
