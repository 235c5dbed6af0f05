#include "pg/hosts.h"

#include "base/base.h"
#include "base/error.h"
#include <libpq-fe.h>
#include <limits.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

void hd_host_release(struct hd_host *h)
{
	free(h->host);
	free(h->addr);
	free(h->port);
	memset(h, 0, sizeof(*h));
}

static bool copy_text(const char *from, char **to)
{
	*to = from ? strdup(from) : NULL;
	return from == NULL || *to != NULL;
}

hd_status hd_host_copy(const struct hd_host *from, struct hd_host *ret, struct hd_error *err)
{
	struct hd_host copy = { 0 };

	if (!copy_text(from->host, &copy.host) || !copy_text(from->addr, &copy.addr) ||
	    !copy_text(from->port, &copy.port)) {
		hd_host_release(&copy);
		return hd_fail(err, HD_NOMEM, "out of memory");
	}
	*ret = copy;
	return HD_OK;
}

void hd_hosts_release(struct hd_hosts *h)
{
	for (int i = 0; i < h->n; i++)
		hd_host_release(&h->at[i]);
	free(h->attrs);
	free(h->options);
	memset(h, 0, sizeof(*h));
}

static void free_options(PQconninfoOption **o)
{
	PQconninfoFree(*o);
}

static void free_conn(PGconn **conn)
{
	PQfinish(*conn);
}

/* NULL for unset and for empty, which mean the same to libpq. */
static const char *value_of(const PQconninfoOption *o, const char *keyword)
{
	for (; o->keyword != NULL; o++)
		if (strcmp(o->keyword, keyword) == 0)
			return o->val && o->val[0] != '\0' ? o->val : NULL;
	return NULL;
}

/* How many items a list has that libpq splits at commas. */
static int count_items(const char *list)
{
	int n = 1;

	for (; list && *list; list++)
		n += *list == ',';
	return n;
}

/* Item `i` of a list; an empty item is NULL. False only when memory is out. */
static bool item(const char *list, int i, char **ret)
{
	*ret = NULL;
	if (list == NULL)
		return true;
	while (i-- > 0)
		list = strchr(list, ',') + 1;
	if (*list == ',' || *list == '\0')
		return true;
	*ret = strndup(list, strcspn(list, ","));
	return *ret != NULL;
}

/* A password with an unescaped special character ends up here, so nothing of it may be quoted. */
static hd_status check_host(const struct hd_host *h, struct hd_error *err)
{
	if (h->host && h->host[0] != '/' && strchr(h->host + 1, '@')) {
		hd_fail(err, HD_INVALID, "the host in the connection string has an @ in it");
		hd_hint(err, "in a URI, write an @ of the password as %%40");
		return HD_INVALID;
	}
	if (h->port && (strspn(h->port, "0123456789") != strlen(h->port) || strlen(h->port) > 5)) {
		hd_fail(err, HD_INVALID, "the port in the connection string is not a number");
		hd_hint(err, "in a URI, write a / of the password as %%2F");
		return HD_INVALID;
	}
	return HD_OK;
}

static hd_status split(const PQconninfoOption *o, struct hd_hosts *h, struct hd_error *err)
{
	const char *host = value_of(o, "host");
	const char *addr = value_of(o, "hostaddr");
	const char *port = value_of(o, "port");
	int n = count_items(addr ? addr : host);
	int ports = count_items(port);
	hd_status status = HD_OK;

	if ((host && addr && count_items(host) != n) || (ports != 1 && ports != n))
		return hd_fail(err, HD_INVALID,
		               "the connection string has not as many ports or addresses as hosts");
	if (n > HD_HOSTS_MAX)
		return hd_fail(err, HD_INVALID, "the connection string has more than %d hosts",
		               HD_HOSTS_MAX);
	while (h->n < n && status == HD_OK) {
		struct hd_host *at = &h->at[h->n++];

		if (!item(host, h->n - 1, &at->host) || !item(addr, h->n - 1, &at->addr) ||
		    !item(port, ports == 1 ? 0 : h->n - 1, &at->port))
			return hd_fail(err, HD_NOMEM, "out of memory");
		status = check_host(at, err);
	}
	return status;
}

static hd_status read_settings(const PQconninfoOption *o, const PQconninfoOption *given,
                               struct hd_hosts *h, struct hd_error *err)
{
	const char *attrs = value_of(o, "target_session_attrs");
	const char *timeout = value_of(o, "connect_timeout");

	/* libpq's default is "any" by name; only one that the string itself names is meant. */
	if (h->n > 1 && value_of(given, "target_session_attrs") == NULL &&
	    (attrs == NULL || strcmp(attrs, "any") == 0))
		attrs = "primary";
	if (timeout) {
		long seconds = strtol(timeout, NULL, 10);

		/* As libpq: nothing below 2 seconds, 0 and less mean no limit. */
		if (seconds > 0 && seconds < INT_MAX / 1000)
			h->connect_timeout_ms = (int)(seconds < 2 ? 2 : seconds) * 1000;
	}
	if (!copy_text(attrs, &h->attrs) || !copy_text(value_of(o, "options"), &h->options))
		return hd_fail(err, HD_NOMEM, "out of memory");
	h->whole = attrs && strcmp(attrs, "prefer-standby") == 0;
	return HD_OK;
}

/*
 * What libpq makes of the string with the service file, the environment and its defaults. No call
 * answers that without connecting, except for a connection whose options are refused: its values
 * have been filled in by then, and no server was looked for.
 */
static hd_status resolve_options(const char *conninfo, PQconninfoOption **ret, struct hd_error *err)
{
	const char *const keywords[] = { "dbname", "sslmode", NULL };
	const char *const values[] = { conninfo, "never-connects", NULL };
	HD_CLEANUP(free_conn) PGconn *conn = PQconnectStartParams(keywords, values, 1);
	HD_CLEANUP(free_options) PQconninfoOption *o = conn ? PQconninfo(conn) : NULL;

	if (o == NULL)
		return hd_fail(err, HD_NOMEM, "out of memory");
	/* A port has always a value, unless reading stopped at the service file. */
	if (value_of(o, "port") == NULL) {
		hd_fail(err, HD_INVALID, "the connection's service can't be used: %s",
		        PQerrorMessage(conn));
		hd_hint(err, "check the service's name, PGSERVICEFILE and ~/.pg_service.conf");
		return HD_INVALID;
	}
	*ret = o;
	o = NULL;
	return HD_OK;
}

hd_status hd_hosts_read(const char *conninfo, struct hd_hosts *ret, struct hd_error *err)
{
	HD_CLEANUP(hd_hosts_release) struct hd_hosts h = { 0 };
	HD_CLEANUP(free_options) PQconninfoOption *given = NULL;
	HD_CLEANUP(free_options) PQconninfoOption *o = NULL;
	hd_status status;

	given = PQconninfoParse(conninfo ? conninfo : "", NULL);
	if (given == NULL) {
		hd_fail(err, HD_INVALID, "the connection string can't be read");
		hd_hint(err,
		        "write \"host=... dbname=... user=...\" or postgresql://user@host/dbname");
		return HD_INVALID;
	}
	status = resolve_options(conninfo, &o, err);
	if (status == HD_OK)
		status = split(o, &h, err);
	if (status == HD_OK)
		status = read_settings(o, given, &h, err);
	if (status == HD_OK) {
		*ret = h;
		memset(&h, 0, sizeof(h));
	}
	return status;
}

static void free_addresses(struct addrinfo **list)
{
	if (*list)
		freeaddrinfo(*list);
}

hd_status hd_host_resolve(const struct hd_host *h, char ret[HD_ADDRESSES_MAX][HD_ADDRESS_TEXT],
                          int *ret_n, struct hd_error *err)
{
	const struct addrinfo want = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
	HD_CLEANUP(free_addresses) struct addrinfo *list = NULL;
	int n = 0, e;

	*ret_n = 0;
	if (h->addr || h->host == NULL || h->host[0] == '/' || h->host[0] == '@')
		return HD_OK;
	e = getaddrinfo(h->host, NULL, &want, &list);
	if (e != 0)
		return hd_fail(err, HD_RETRY, "the host name is not known: %s", gai_strerror(e));
	for (const struct addrinfo *a = list; a && n < HD_ADDRESSES_MAX; a = a->ai_next)
		if (getnameinfo(a->ai_addr, a->ai_addrlen, ret[n], HD_ADDRESS_TEXT, NULL, 0,
		                NI_NUMERICHOST) == 0)
			n++;
	*ret_n = n;
	return HD_OK;
}
