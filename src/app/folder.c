#include "app/folder.h"

#include "base/base.h"
#include "base/error.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_MAX 64

static void close_folder(DIR **d)
{
	if (*d != NULL)
		(void)closedir(*d);
}

static hd_status make_one(const char *path, mode_t mode, struct hd_error *err)
{
	if (mkdir(path, mode) == 0) {
		if (chmod(path, mode) == 0)
			return HD_OK;
	} else if (errno == EEXIST) {
		return HD_OK;
	}
	return hd_fail_errno(err, HD_REFUSED, "can't make the folder %s", path);
}

hd_status hd_folder_make(const char *path, mode_t mode, struct hd_error *err)
{
	char part[PATH_MAX];

	if ((size_t)snprintf(part, sizeof(part), "%s", path) >= sizeof(part))
		return hd_fail(err, HD_INVALID, "the path of the folder is too long");
	for (char *slash = strchr(part + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		hd_status st;

		*slash = '\0';
		st = make_one(part, mode, err);
		*slash = '/';
		if (st != HD_OK)
			return st;
	}
	return make_one(part, mode, err);
}

static hd_status remove_at(int parent, const char *name, int depth, struct hd_error *err);

static hd_status empty_folder(int parent, const char *name, int depth, struct hd_error *err)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	HD_CLEANUP(close_folder) DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *e;

	if (d == NULL) {
		hd_status st = hd_fail_errno(err, HD_REFUSED, "can't look into %s", name);

		if (fd >= 0)
			(void)close(fd);
		return st;
	}
	if (depth >= DEPTH_MAX)
		return hd_fail(err, HD_REFUSED, "%s lies too deep", name);
	while ((e = readdir(d)) != NULL) {
		hd_status st;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		st = remove_at(dirfd(d), e->d_name, depth + 1, err);
		if (st != HD_OK)
			return st;
	}
	return HD_OK;
}

/* NOLINTNEXTLINE(misc-no-recursion): bounded by DEPTH_MAX */
static hd_status remove_at(int parent, const char *name, int depth, struct hd_error *err)
{
	hd_status st;

	if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
		return HD_OK;
	if (errno != EISDIR && errno != EPERM)
		return hd_fail_errno(err, HD_REFUSED, "can't remove %s", name);
	st = empty_folder(parent, name, depth, err);
	if (st != HD_OK)
		return st;
	if (unlinkat(parent, name, AT_REMOVEDIR) != 0 && errno != ENOENT)
		return hd_fail_errno(err, HD_REFUSED, "can't remove the folder %s", name);
	return HD_OK;
}

hd_status hd_folder_remove(const char *path, struct hd_error *err)
{
	return remove_at(AT_FDCWD, path, 0, err);
}
