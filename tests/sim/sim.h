/*
 * sim.h - leader election under virtual time: one world of nodes, servers and faults a seed.
 *
 * The elector is the real one: src/run/elector*.c, src/feature and src/core run unchanged, each
 * node in a fiber of its own. What they call of the system and of libpq is answered here: the
 * clock, poll(2), sessions, statements, the guard, signals. Modelled are the guard's processes (its
 * decisions are core/ending), the network, the servers and the functions in SQL.
 *
 * Instants of the world are microseconds of true time, which no process can read: each node and
 * each server has a clock that drifts, and a wall clock that lies and steps.
 */
#ifndef SIM_H
#define SIM_H

#include "app/config.h"
#include "core/ending.h"
#include "pg/exec.h"
#include "run/elector.h"
#include "run/term.h"
#include <stdbool.h>
#include <stdint.h>

#define NODES    10
#define CONNS    128
#define GUARDS   64
#define SERVERS  4
#define VERSIONS 256
#define TXS      16
#define EVENTS   4096
#define INBOX    16

#define MS      1000 /* in microseconds */
#define SECOND  (1000 * MS)
#define FOREVER INT64_MAX

/* ---- bugs that can be planted; docs/proof.md says what each is ---- */

enum plant {
	PLANT_NONE,
	PLANT_MARGIN_DROPPED,
	PLANT_RENEWAL_BY_NAME,
	PLANT_DEADLINE_FROM_ARRIVAL,
	PLANT_RELEASE_BEFORE_DEATH,
	PLANT_CLEAR_ACROSS_INCARNATIONS,
	PLANT_LED_OVERWRITTEN,
	PLANT_WATCH_FROM_SENDING,
	PLANT_STORED_INCARNATION,
	PLANT_CLEAR_WHILE_WAITING,
	PLANT_NO_WAIT,
	PLANT_BEAT_NOT_WATCHED,
	PLANT_PINNING_UNCHECKED,
	PLANT_GUARD_IGNORES_SESSION,
	PLANT_READING_HEARTBEAT,
	PLANT_TOKEN_WITHOUT_TIMELINE,
	PLANT_GUARD_WITHOUT_DEADLINE,
	PLANT_RESTART_UNSEEN,
	PLANT_ASSERTS_NOT_WAITED_FOR,
	PLANT_EXPIRY_COMPARED,
	PLANT_START_UNSEEN,
	PLANT_HUNG_GUARD_HAS_GRACE,
	PLANT_SILENCE_KEPT,
	PLANT_COUNT,
};

/* Where a bug can show at all, so that no time is lost on other worlds. */
enum plant_place {
	ANYWHERE,
	WITH_LOCKS,
	WITH_ROWS
};

extern const struct plant_kind {
	const char *name;
	enum plant_place place;
} plant_kinds[PLANT_COUNT];
bool planted(enum plant p);

/* ---- what the database knows ---- */

struct row {
	bool exists;
	int64_t token;
	int64_t owner; /* identity of one process start; 0: null */
	int node;
	int64_t lease_ms;
	int64_t beat;
	int64_t
	    expires_at; /* by the wall clock of the holder, microseconds; nothing may compare it */
	bool closing;
	int64_t led_token;
	bool led_advisory;
	bool led_known; /* the incarnation of the led term is not null */
	int64_t led_timeline;
	int64_t led_started;
	int64_t led_lease_ms;
	int64_t led_wait_ms;
	bool led_pinned;
	bool led_direct;
	int64_t clear_token;
	int64_t resign_token;
	bool paused;
};

struct query {
	enum hd_sql stmt;
	int64_t a[HD_ARGS_MAX]; /* numbers as they are; texts by read_arg() */
	int64_t expires_at;
};

/* An answer: ready to be made into rows. */
struct answer {
	hd_status status;
	int columns, rows;
	char text[24][24];
	bool null[24];
};

struct server {
	bool up;
	bool isolated; /* cut off from its standby and from the nodes outside of `reach` */
	uint32_t reach;
	int64_t timeline, started;
	int lock; /* conn that holds the advisory lock; -1: none */
	struct row row;
	struct {
		int64_t at;
		struct row row;
	} versions[VERSIONS]; /* a ring: what an asynchronous standby may have */
	uint64_t nversions;
};

/* A guarded transaction of a command, or of somebody who once was told its token. */
struct tx {
	bool used;
	uint32_t serial;
	int server;
	int64_t token;
};

/* ---- between node and server ---- */

struct hd_session {
	int conn;
	uint32_t serial;
	bool broken;
	bool patient;
	int owed; /* the statement that is not answered yet, plus one */
};

struct conn {
	bool used;
	uint32_t serial;
	struct hd_session session;
	int node, server;
	int64_t idle_ms;  /* the server ends it after such a silence; 0: never */
	bool pinned;      /* keepalives of the server can't end it earlier */
	bool client_open; /* the elector's descriptor */
	bool guard_open;  /* the guard's duplicate */
	bool server_open;
	bool fin_pending; /* the client hung up while a statement ran */
	bool listening, notice;
	bool busy, blocked;
	int64_t idle_since;
	struct query query;
	uint32_t call, answered; /* numbers of the statement sent, and of the last answer here */
	struct answer answer, sent;
	bool closed; /* the server's end of stream is here */
};

/* ---- a node ---- */

struct command {
	bool alive, stopped, ending;
	uint32_t serial;
};

struct guard {
	bool used, alive, stopped;
	uint32_t serial;
	int node;
	int conn; /* whose socket it holds; -1: none */
	uint32_t conn_serial;
	bool elector_gone;
	bool was_frozen; /* did not run for a while: then only what `held` says counts */
	bool exited_seen;
	int64_t token;
	struct hd_ending ending;
	hd_mono held; /* what the command may read; 0: nothing */
	struct hd_guard_message in[INBOX], out[INBOX];
	int nin, nout;
	struct command command;
};

struct fiber;

struct node {
	int index;
	int64_t offset_ns, wall_us; /* of the boot clock, of the wall clock */
	int ppm;
	/* weather */
	int64_t cut_up_until, cut_down_until; /* true time */
	int64_t elector_lag, guard_lag;       /* microseconds, at most */
	bool power, frozen, busy_fault;
	int64_t told_until; /* a word of the server is under way, which must not be lost */
	/* elector */
	bool alive, stopped, woken;
	uint32_t wake_serial;
	int64_t wake_at;
	int64_t owner;
	struct hd_elector e;
	struct hd_config config;
	struct fiber *fiber;
	int signal;
	bool signal_sent, signal_unread, forward;
	bool clock_stepped;
	hd_mono sent; /* the last statement */
	int guard;    /* of the present process; -1: none */
};

/* ---- the world ---- */

enum event_kind {
	EV_QUERY,
	EV_ANSWER,
	EV_FIN_UP,
	EV_FIN_DOWN,
	EV_IDLE,
	EV_KEEPALIVE,
	EV_BLOCKED_OUT,
	EV_NOTICE,
	EV_ELECTOR,
	EV_GUARD,
	EV_COMMAND_END,
	EV_START,
	EV_THAW,
	EV_GUARD_CONT,
	EV_ELECTOR_CONT,
	EV_COMMAND_CONT,
	EV_LAG_END,
	EV_SERVER_UP,
	EV_TX_BEGIN,
	EV_TX_END,
	EV_FAULT,
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
	uint64_t seed, random;
	enum plant plant;
	bool trace;
	int64_t now;
	uint64_t order;
	struct event heap[EVENTS];
	int nevents;
	uint32_t serials;
	/* what kind of world */
	bool lease_mode, sync, pinned, direct, may_unblock, calm;
	int64_t latency, keepalive_us, longest_lease_ms;
	int nnodes;
	struct node nodes[NODES];
	struct server servers[SERVERS];
	int nservers, primary;
	struct conn conns[CONNS];
	struct guard guards[GUARDS];
	struct tx txs[TXS];
	int64_t slow_most, slow_until;
	int weight[32]; /* of the faults */
	int64_t owners;
	/* what was seen */
	int64_t last_token, started_token;
	int64_t known[16];
	int nknown;
	int64_t faults_end, quiet_at, led_at;
	bool quiet, done, failed;
	uint64_t commands, takes, commits, statements;
	char failure[256];
};

extern struct world sim;

/* world.c: chance, events and clocks */
uint64_t rnd(void);
int64_t between(int64_t low, int64_t high); /* both included */
int64_t mostly_short(int64_t low, int64_t high);
bool chance(int percent);
void schedule(int64_t at, enum event_kind kind, int who, uint32_t serial);
bool next_event(struct event *ret);
hd_mono local(const struct node *n);
int64_t when_local(const struct node *n, hd_mono at);
int64_t wall(const struct node *n);
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void violated(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* fiber.c: the elector of a node as a coroutine */
void fiber_start(struct node *n, void (*run)(struct node *));
void fiber_resume(struct node *n);
void fiber_drop(struct node *n);
struct node *fiber_node(void);  /* whose code runs now; NULL: the world's own */
void fiber_wait(int64_t until); /* true time; until then, or a wake */
void fiber_stall(void);         /* a busy machine: may take a while */
void node_wake(struct node *n);
void node_run(struct node *n);

/* sql.c */
enum sql_run {
	SQL_DONE,
	SQL_BLOCKED,
	SQL_HANGS
};
enum sql_run sql_run(struct server *s, int conn, const struct query *q, struct answer *ret);
void row_written(struct server *s);
int64_t read_arg(const char *text);

/* server.c */
int conn_open(struct node *n, int server);
struct conn *conn_of(const struct hd_session *s);
void conn_send(int c, const struct query *q);
void conn_hang_up(int c, bool terminate);
void conn_guard_leaves(int c, uint32_t serial);
bool server_answers(const struct node *n, int server);
void server_end_session(int c, int64_t latency);
void server_unlock(struct server *s);
void server_notify(struct server *s);
void server_retry_blocked(int server);
void server_restart(int64_t down);
void server_promote(int64_t lag, bool killed, uint32_t reach);
void server_mend(void);
void server_event(const struct event *e);

/* guard.c: the guard of a term and its command */
int guard_new(struct node *n, const struct hd_guard_start *s);
void guard_wake(int g);
void guard_run(int g);
void guard_order(int g, enum hd_guard_order kind, int sig, int64_t value);
void guard_die(int g); /* killed, or gone: its command is dead */
void guard_event(const struct event *e);
void command_stop(int g, bool stop);

/* elector.c: processes of nodes */
void elector_start(struct node *n);
void elector_die(struct node *n);
void elector_event(const struct event *e);

/* faults.c */
void faults_plan(void);
void faults_event(const struct event *e);

/* check.c */
void check_commands(int g, const char *what);
void check_token(int64_t token, int node);
void check_command_start(int g);
void check_led(void);
bool is_led(void);
int64_t led_budget(void);
void tx_event(const struct event *e);
void tx_schedule(void);
void tx_abort_all(int server);
bool tx_blocks(int server);

/* run.c */
bool run_seed(uint64_t seed, enum plant plant, bool trace);

#endif
