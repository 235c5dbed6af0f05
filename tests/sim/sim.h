/*
 * sim.h - leader election under virtual time: one world of nodes, servers and faults, one seed.
 *
 * The decisions are the real ones: core/election, takeover, trust, watch and ending. Around them is
 * a model of what the elector, the guard, the network and the functions in SQL do. Instants are
 * microseconds of true time, which no process of the model can read: each node and each server has
 * a clock of its own, and only hd_mono goes into the decisions.
 */
#ifndef SIM_H
#define SIM_H

#include "core/election.h"
#include "core/ending.h"
#include "core/takeover.h"
#include "core/trust.h"
#include "core/watch.h"
#include "plants.h"
#include <stdbool.h>
#include <stdint.h>

#define NODES    10
#define CONNS    96
#define SERVERS  4
#define VERSIONS 256
#define TXS      16
#define EVENTS   4096
#define INBOX    8

#define MS      1000 /* in microseconds */
#define SECOND  (1000 * MS)
#define FOREVER INT64_MAX

/* ---- what the database knows ---- */

struct row {
	bool exists;
	int64_t token;
	int owner; /* identity of one process start; 0: null */
	int64_t lease_ms;
	int64_t beat;
	int64_t expires_at; /* by the wall clock of the holder; nothing may compare it */
	bool closing;
	int64_t led_token;
	bool led_advisory;
	int64_t led_timeline; /* 0: null */
	int64_t led_started;
	int64_t led_lease_ms;
	int64_t led_wait_ms;
	bool led_pinned;
	bool led_direct;
	int64_t clear_token;
	int64_t resign_token;
	bool paused;
};

enum query_kind {
	Q_OPEN,
	Q_LOOK,
	Q_REGISTER,
	Q_LOCK,
	Q_UNLOCK,
	Q_CLOSE,
	Q_TAKE,
	Q_ATTEMPT,
	Q_TAKE_OVER,
	Q_LED,
	Q_BEAT,
	Q_RELEASE,
	Q_NOTICE,
	Q_UNBLOCK,
};

struct query {
	enum query_kind kind;
	int owner;
	int node;
	int64_t token;
	struct hd_watch_value seen;
	int64_t lease_ms;
	int64_t wait_ms;
	int64_t expires_at;
	bool advisory;
	bool pinned;
	bool direct;
};

enum outcome {
	OUT_OK,
	OUT_RETRY,
	OUT_TIMEOUT,
	OUT_LOST
};

struct answer {
	enum outcome outcome;
	bool yes;       /* locked, closed, led, held, released */
	bool lock_free; /* Q_LOOK */
	bool cleared;   /* Q_LOOK */
	struct row row; /* as it was read */
	int64_t token;  /* taken: the new one; 0: not */
	struct hd_led_term led;
	struct hd_watch_value live; /* server that answered, token, beat */
};

struct server {
	bool up;
	bool isolated;  /* its synchronous standby is unreachable: commits hang */
	uint32_t reach; /* nodes that can reach it, one bit each */
	int64_t timeline;
	int64_t started;
	int ppm;
	int lock; /* conn that holds the advisory lock; -1: none */
	struct row row;
	struct {
		int64_t at;
		struct row row;
	} versions[VERSIONS]; /* a ring: what an asynchronous standby may have */
	uint64_t nversions;
};

/* A guarded transaction of a command, or of somebody who was once told its token. */
struct tx {
	bool used;
	uint32_t serial;
	int server;
	int64_t token;
};

/* ---- between node and server ---- */

struct conn {
	bool used;
	uint32_t serial;
	int node;
	int server; /* -1: a pooler, which finds the primary itself */
	bool pinned;
	int64_t lease_ms;
	bool open_elector, open_guard; /* descriptors of the node */
	bool silent;                   /* the node's end vanished without a word */
	bool open_server;
	bool busy; /* the server works on the query */
	bool blocked;
	uint32_t block_serial;
	int64_t idle_since;
	bool query_sent, fin_sent; /* on their way up */
	struct query query;
	bool answer_sent, closed_sent; /* on their way down */
	bool answered;                 /* arrived */
	bool closed;                   /* the server's end of stream arrived */
	struct answer answer;
};

/* ---- a node ---- */

enum report_kind {
	R_ACK,
	R_LOST,
	R_EXITED,
	R_GONE
};
enum order_kind {
	O_TRUST,
	O_STOP,
	O_LOSE
};

struct message {
	int kind;
	int64_t value;
};

struct mailbox {
	struct message m[INBOX];
	int n;
};

struct command {
	bool alive, stopped;
	int64_t token;
	uint32_t serial;
	bool was_frozen; /* with its guard: then only what `held` says counts */
};

struct guard {
	bool alive, stopped;
	bool elector_gone; /* end-of-file on the channel */
	bool sweeping;
	int conn; /* whose socket it holds; -1 none */
	uint32_t conn_serial;
	struct hd_ending ending;
	struct mailbox in;
	hd_mono held; /* what the command may read; 0: nothing */
};

struct node;
typedef void (*then_fn)(struct node *n, const struct answer *a);

struct node {
	int index;
	int64_t offset_ns, wall_ns;
	int ppm;
	/* weather */
	bool cut_up, cut_down, power, frozen;
	int64_t cut_since; /* FOREVER: not cut */
	int64_t elector_lag, guard_lag, lag_until;
	/* elector */
	bool alive, stopped, woken, clock_stepped, signalled;
	int owner;
	struct hd_trust_plan plan;
	int64_t retry_ms;
	enum hd_state state;
	int conn;
	uint32_t conn_serial;
	then_fn then; /* a call is in flight */
	hd_mono call_deadline, attempt_deadline, sent;
	hd_mono sleep_until;
	bool asleep;
	enum hd_event pending; /* what a call came to */
	hd_mono wait_until, rest_until, look_due, connect_due;
	int connect_failures;
	bool locked, held, listening;
	int64_t token, notice_token;
	struct hd_watch watch;
	struct hd_watch_value target;
	struct hd_trust trust;
	/* its view of the guard */
	bool guarded, guard_silent, ended_by_itself;
	int64_t trust_sent, trust_acked;
	hd_mono stop_until;
	struct mailbox reports;
	struct guard guard;
	struct command command;
};

/* ---- the world ---- */

enum event_kind {
	EV_UP,
	EV_DOWN,
	EV_EXEC,
	EV_IDLE,
	EV_KEEPALIVE,
	EV_BLOCKED_OUT,
	EV_ELECTOR,
	EV_GUARD,
	EV_SWEPT,
	EV_COMMAND_END,
	EV_START,
	EV_TX_BEGIN,
	EV_TX_END,
	EV_BURST,
	EV_HEAL,
	EV_QUIET,
	EV_END,
};

struct event {
	int64_t at;
	uint64_t order;
	enum event_kind kind;
	int who;
	uint32_t serial;
};

struct world {
	uint64_t random;
	uint64_t seed;
	enum plant plant;
	bool trace;
	int64_t now;
	uint64_t order;
	struct event heap[EVENTS];
	int nevents;
	uint32_t serials;
	/* what kind of world */
	bool lease_mode, sync, pinned, direct, mixed, may_unblock, calm;
	int64_t keepalive, latency, longest_lease_ms;
	int nnodes;
	struct node nodes[NODES];
	struct server servers[SERVERS];
	int primary;
	struct conn conns[CONNS];
	struct tx txs[TXS];
	int64_t slow_most, slow_until;
	int lose_answers;
	int owners;
	/* what was seen */
	int64_t last_token;    /* granted */
	int64_t started_token; /* of the last command that started */
	int64_t known[8];      /* tokens that commands were told */
	int nknown;
	int64_t quiet_at, faults_at;
	bool quiet, failed;
	uint64_t commands, takes, asserts;
	char failure[256];
};

extern struct world sim;

/* world.c: time, chance and clocks */
uint64_t rnd(void);
int64_t between(int64_t low, int64_t high); /* both included */
int64_t mostly_short(int64_t low, int64_t high);
bool chance(int percent);
void schedule(int64_t at, enum event_kind kind, int who, uint32_t serial);
bool next_event(struct event *ret);
hd_mono local(const struct node *n);
int64_t when_local(const struct node *n, hd_mono at);
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void violated(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool planted(enum plant p);

/* row.c: the functions in SQL; true when they wrote */
bool sql_run(struct server *s, int conn, const struct query *q, struct answer *a);
bool sql_take_matches(const struct server *s, const struct query *q);
bool sql_writes(enum query_kind kind);
void sql_new_row(struct server *s);

/* server.c */
void server_exec(int c);
void server_idle(int c);
void server_keepalive(int c);
void server_hang_up(int c, bool tell);
void server_unlock(struct server *s);
void server_notify(void);
void server_die(int index, bool silent);
void server_start(int index);
void server_promote(int64_t lag, bool silent, bool split);
void server_blocked_out(int c, uint32_t block_serial);
void server_wake_blocked(void);
int64_t clock_of_server(const struct server *s, int64_t length);
bool server_is_blocked_by_txs(int index);

/* net.c */
int net_open(int node, int64_t lease_ms);
void net_send(int c, const struct query *q);
void net_up(int c);
void net_down(int c);
void net_answer(int c);
void net_close(int c, bool by_guard);
void net_vanish(int c);
void net_cut(struct node *n);
bool net_reaches(const struct node *n, int server);
struct conn *net_of(const struct node *n); /* NULL: it has none */

/* elector.c, claim.c, term.c */
#define EV_NOTHING HD_EV_COUNT
void elector_run(struct node *n);
void elector_wake(struct node *n);
void elector_start(struct node *n);
void elector_die(struct node *n);
void ask(struct node *n, struct query q, hd_mono deadline, then_fn then);
void doze(struct node *n, hd_mono until);
void disconnect(struct node *n);
void hang_up(struct node *n);
struct query query_of(const struct node *n, enum query_kind kind);
bool session_lives(const struct node *n);
void claim_connect(struct node *n);
void claim_call_again(struct node *n);
void claim_attempt(struct node *n);
void claim_release(struct node *n, then_fn then);
void claim_notice(struct node *n);
enum hd_event term_next(struct node *n);
enum hd_event term_beat_if_due(struct node *n);
void term_loss(struct node *n, const char *why);
void act(struct node *n, enum hd_action action);

/* guard.c */
void guard_start(struct node *n);
void guard_run(struct node *n);
void guard_wake(struct node *n);
void guard_order(struct node *n, int kind, int64_t value);
void guard_swept(struct node *n);
void guard_die(struct node *n);
void command_end(struct node *n);
void command_stop(struct node *n, bool stop);

/* faults.c */
void faults_plan(void);
void faults_burst(void);
void faults_heal(int who);
void faults_quiet(void);

/* check.c */
void check_commands(const char *what);
void check_token(int64_t token);
void check_command_start(const struct node *n);
void check_commit(int64_t token);
void check_led(const char *when);
bool command_runs(const struct node *n);
int64_t budget(void);
void tx_begin(void);
void tx_end(int i, uint32_t serial);
void tx_abort_all(int server);

/* run.c */
bool run_seed(uint64_t seed, enum plant plant, bool trace);

#endif
