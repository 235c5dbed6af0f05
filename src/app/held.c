#include "app/held.h"

#include "base/error.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010 /* linux/fcntl.h, which can't be included beside fcntl.h */
#endif

/* The guard's mapping, older than the seals, stays writable; no newer one can be. */
#define SEALS (F_SEAL_FUTURE_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
#define SIZE  sizeof(int64_t)

/* A second descriptor of the same memory, without the right to write. */
static int open_read_only(int fd)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static hd_status make(struct hd_held *h, int fd, struct hd_error *err)
{
	void *map;

	if (ftruncate(fd, SIZE) != 0)
		return hd_fail_errno(err, HD_RETRY, "no memory for the trust deadline");
	map = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return hd_fail_errno(err, HD_RETRY, "no memory for the trust deadline");
	h->deadline = map;
	if (fcntl(fd, F_ADD_SEALS, SEALS) != 0)
		return hd_fail_errno(err, HD_REFUSED, "the trust deadline can't be sealed");
	h->fd = open_read_only(fd);
	if (h->fd < 0)
		return hd_fail_errno(err, HD_REFUSED, "the trust deadline can't be shared");
	return HD_OK;
}

hd_status hd_held_init(struct hd_held *h, struct hd_error *err)
{
	int fd = memfd_create("howdah-held", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	hd_status st;

	*h = (struct hd_held){ .fd = -1 };
	if (fd < 0)
		return hd_fail_errno(err, HD_RETRY, "no memory for the trust deadline");
	st = make(h, fd, err);
	(void)close(fd);
	if (st != HD_OK)
		hd_held_release(h);
	return st;
}

void hd_held_release(struct hd_held *h)
{
	if (h->deadline != NULL)
		(void)munmap((void *)(uintptr_t)h->deadline, SIZE);
	if (h->fd >= 0)
		(void)close(h->fd);
	*h = (struct hd_held){ .fd = -1 };
}

void hd_held_set(struct hd_held *h, hd_mono deadline)
{
	if (h->deadline != NULL)
		atomic_store(h->deadline, deadline.ns);
}

static bool parse_number(const char *text, int *ret)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 10);
	if (end == text || *end != '\0' || errno != 0 || n < 0 || n > INT_MAX)
		return false;
	*ret = (int)n;
	return true;
}

/* Any file can have eight bytes; only one that was made for this has these seals. */
static bool is_ours(int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat sb;

	/* -1 where there can be none, and that has all bits set. */
	return seals >= 0 && (seals & SEALS) == SEALS && fstat(fd, &sb) == 0 &&
	       sb.st_size == (off_t)SIZE;
}

hd_status hd_held_read(hd_mono *ret_deadline, struct hd_error *err)
{
	const char *text = getenv(HD_HELD_ENV);
	hd_status st = HD_INVALID;
	void *map = MAP_FAILED;
	int fd = -1;

	if (text == NULL)
		st = hd_fail(err, st, HD_HELD_ENV " is not set");
	else if (!parse_number(text, &fd) || !is_ours(fd))
		st = hd_fail(err, st, HD_HELD_ENV "=%s names no trust deadline", text);
	else if ((map = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, fd, 0)) == MAP_FAILED)
		st = hd_fail_errno(err, st, "the trust deadline can't be read");
	else
		st = HD_OK;
	if (st != HD_OK) {
		hd_hint(err, "ask inside a command that `howdah run` started, and let it inherit "
		             "the descriptor");
		return st;
	}
	ret_deadline->ns = atomic_load((_Atomic int64_t *)map);
	(void)munmap(map, SIZE);
	return HD_OK;
}
