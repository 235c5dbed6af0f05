/*
 * howdah/listener.h - notifications of any number of channels on one session.
 *
 * A listener keeps the set of channels; a session is attached to it and may be replaced. Whatever
 * was committed while nobody listened is lost, so the first thing after every attach is RESYNC:
 * read again everything that is watched, in a new transaction. The listener never reconnects: after
 * HD_LOST or HD_TIMEOUT its owner opens another session and attaches that one.
 *
 * Other statements may run on the session between two calls. Not usable behind a multiplexing
 * pooler, nor on a standby.
 */
#ifndef HOWDAH_LISTENER_H
#define HOWDAH_LISTENER_H

#include <howdah/session.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hd_listener; /* opaque */

typedef enum {
	HD_NOTICE_NONE = 0, /* the deadline passed */
	HD_NOTICE_MESSAGE,  /* somebody notified */
	HD_NOTICE_RESYNC,   /* something may have been missed: read everything again */
} hd_notice_kind;

/* The texts are borrowed until the next call with the listener. */
struct hd_notice {
	hd_notice_kind kind;
	const char *channel; /* NULL unless a message */
	const char *payload; /* may be empty; NULL unless a message */
	bool own;            /* sent by the attached session itself */
};

/* One without channels, attached to nothing. HD_NOMEM. The caller frees it. */
HD_API HD_MUST_CHECK hd_status hd_listener_new(struct hd_listener **ret, struct hd_error *err);

/* Forgets an attached session without a word to the server. NULL is fine. */
HD_API void hd_listener_free(struct hd_listener *l);

/*
 * Adds a channel, of 1 to 63 bytes; one that is there is fine. While attached it is listened to at
 * once, and RESYNC comes next.
 */
HD_API HD_MUST_CHECK hd_status hd_listener_add(struct hd_listener *l, const char *channel,
                                               hd_mono deadline, struct hd_error *err);

/* Removes a channel and its unread messages; one that is not there is fine. */
HD_API HD_MUST_CHECK hd_status hd_listener_remove(struct hd_listener *l, const char *channel,
                                                  hd_mono deadline, struct hd_error *err);

/*
 * Listens to all channels on `s`, which is borrowed until the detach (closing it detaches) and must
 * not be in a transaction (HD_INVALID): LISTEN has to be committed before anything is read. On
 * failure nothing is attached.
 */
HD_API HD_MUST_CHECK hd_status hd_listener_attach(struct hd_listener *l, struct hd_session *s,
                                                  hd_mono deadline, struct hd_error *err);

/*
 * Stops listening; the session goes on without. A session that is gone is merely forgotten. Always
 * detached afterwards; an error is about the session.
 */
HD_API HD_MUST_CHECK hd_status hd_listener_detach(struct hd_listener *l, hd_mono deadline,
                                                  struct hd_error *err);

/*
 * The next message or RESYNC, or NONE when the deadline passed (a past one: what is here already).
 * More than 1 000 unread messages become one RESYNC. When nothing came from the server for 30 s it
 * is asked for a sign of life, for 5 s at most whatever the deadline. HD_LOST: none came, or the
 * session is gone, or none is attached.
 */
HD_API HD_MUST_CHECK hd_status hd_listener_next(struct hd_listener *l, hd_mono deadline,
                                                struct hd_notice *ret, struct hd_error *err);

#ifdef __cplusplus
}
#endif
#endif
