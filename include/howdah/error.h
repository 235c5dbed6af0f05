/*
 * howdah/error.h - how every call of libhowdah answers.
 *
 * A status says what the caller must do; what happened stands in a caller-owned struct hd_error,
 * always the last parameter. NULL is accepted there. Not getting a lock, an empty queue and a cache
 * miss are not errors: they are values behind a `ret_` pointer, which is written on success only.
 */
#ifndef HOWDAH_ERROR_H
#define HOWDAH_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define HD_API          __attribute__((visibility("default")))
#define HD_MUST_CHECK   __attribute__((warn_unused_result))
#define HD_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define HD_API
#define HD_MUST_CHECK
#define HD_PRINTF(f, a)
#endif

typedef enum {
	HD_OK = 0,
	HD_RETRY,   /* nothing happened; the same call may succeed later */
	HD_TIMEOUT, /* the deadline passed; it may or may not have happened */
	HD_LOST,    /* the session or the leadership is gone: stop acting as its owner */
	HD_REFUSED, /* the answer is no; the same call will not help */
	HD_INVALID, /* an argument is wrong; nothing was sent */
	HD_NOMEM,
} hd_status;

/*
 * What went wrong, for people. All three texts are cut to fit and always end with NUL; an empty
 * string means there is none. After HD_TIMEOUT and HD_LOST close the session, never reuse it.
 */
struct hd_error {
	hd_status status;
	char sqlstate[6];  /* five characters, from the server */
	char message[512]; /* what was refused, and why; one line */
	char hint[512];    /* what to do about it; one line */
};

/* "ok", "retry", "timeout", "lost", "refused", "invalid", "no memory". Never NULL. */
HD_API const char *hd_status_name(hd_status status);

#ifdef __cplusplus
}
#endif
#endif
