#include "app/option.h"

#define AT(field)     offsetof(struct hd_config, field)
#define FLAG(field)   .type = HD_OPT_FLAG, .at = AT(field)
#define TEXT(field)   .type = HD_OPT_TEXT, .at = AT(field)
#define ONE_OF(field) .type = HD_OPT_CHOICE, .at = AT(field)
/* A pause of nothing would spin, one of days is a typing error. */
#define LENGTH(field, min, max)                                                                    \
	.type = HD_OPT_DURATION, .at = AT(field), .least = (min), .most = (max)
#define SECOND 1000
#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)

/* clang-format off */
const struct hd_option hd_options[] = {
{ .name = "help", .letter = 'h', FLAG(help), .groups = HD_FOR_ALL,
  .help = "show help for the command" },
{ .name = "version", FLAG(version), .groups = HD_FOR_ALL,
  .help = "show the version" },
{ .name = "man", FLAG(man), .groups = HD_FOR_HELP },
{ .name = "config", .arg = "FILE", .env = "HOWDAH_CONFIG", TEXT(config_file), .groups = HD_FOR_ALL,
  .help = "read settings from FILE; without it /etc/howdah.conf, if there is one" },
{ .name = "log-format", .arg = "text|json", .env = "HOWDAH_LOG_FORMAT", .section = "",
  .def = "text", ONE_OF(log_format), .groups = HD_FOR_ALL,
  .help = "log lines as key=value text or as JSON objects" },
{ .name = "quiet", .letter = 'q', FLAG(quiet), .groups = HD_FOR_ALL,
  .help = "log warnings and errors only" },
{ .name = "verbose", .letter = 'v', FLAG(verbose), .groups = HD_FOR_ALL,
  .help = "log details as well" },

{ .name = "db", .arg = "CONNINFO", .env = "HOWDAH_DB", .section = "", TEXT(db),
  .groups = HD_FOR_DB,
  .help = "the database, as libpq reads it: \"host=db1 dbname=app\", a postgresql:// URI, or "
          "\"dev\" for the embedded server of this machine" },
{ .name = "timeout", .arg = "DURATION", .env = "HOWDAH_TIMEOUT", .section = "", .def = "10s",
  LENGTH(timeout_ms, 1, 24 * HOUR), .groups = HD_FOR_DB,
  .help = "give up when the database has not answered by then" },
{ .name = "json", FLAG(json), .groups = HD_FOR_JSON,
  .help = "print JSON instead of text" },
{ .name = "trust-session", .section = "role", FLAG(trust_session), .groups = HD_FOR_PROBE,
  .help = "believe that the connection keeps one server session, where the probe can't tell" },
{ .name = "reason", .arg = "TEXT", TEXT(reason), .groups = HD_FOR_WHY,
  .help = "why, for the history and the logs of all nodes" },
{ .name = "limit", .letter = 'n', .arg = "N", .def = "20", .type = HD_OPT_INT, .at = AT(limit),
  .least = 1, .most = 1000, .groups = HD_FOR_HISTORY,
  .help = "show the newest N changes" },

{ .name = "print", FLAG(print), .groups = HD_FOR_INIT,
  .help = "print the SQL of the whole schema and change nothing" },
{ .name = "worker-role", .arg = "NAME", .section = "", .def = "howdah_worker", TEXT(worker_role),
  .groups = HD_FOR_INIT,
  .help = "the database role that gets what workers need" },
{ .name = "reader-role", .arg = "NAME", .section = "", .def = "howdah_reader", TEXT(reader_role),
  .groups = HD_FOR_INIT,
  .help = "the database role that may look at everything and change nothing" },

{ .name = "role", .arg = "NAME", TEXT(role), .groups = HD_FOR_RUN,
  .help = "the role to lead; one node leads it at a time" },
{ .name = "key", .arg = "N", .section = "role", .type = HD_OPT_INT, .at = AT(key),
  .given = AT(key_given), .groups = HD_FOR_RUN,
  .help = "the advisory lock key, to exclude a hand-written pg_try_advisory_lock(N); without it a "
          "fixed hash of the role's name" },
{ .name = "election", .arg = "advisory|lease", .section = "role", .def = "advisory", ONE_OF(election),
  .groups = HD_FOR_RUN,
  .help = "how the leader is found: by a session advisory lock, or by a lease row, which works "
          "through any pooler" },
{ .name = "wait", .arg = "DURATION|0", .type = HD_OPT_PERIOD, .at = AT(wait), .groups = HD_FOR_RUN,
  .help = "one shot: give up with 75 when the command has not started by then (0: one attempt); "
          "without it stand by for ever" },
{ .name = "restart", .section = "role", FLAG(restart), .groups = HD_FOR_RUN,
  .help = "start the command again when it ends by itself, with back-off, while leading" },
{ .name = "retry", .arg = "DURATION", .section = "role", .def = "2s",
  LENGTH(retry_ms, 10, HOUR), .groups = HD_FOR_RUN,
  .help = "how often a stand-by looks whether the role is free" },
{ .name = "heartbeat", .arg = "DURATION", .section = "role",
  LENGTH(heartbeat_ms, 100, HOUR), .groups = HD_FOR_RUN,
  .help = "how often the leader renews its trust (default 15s; lease row 10s)" },
{ .name = "lease", .arg = "DURATION", .section = "role",
  LENGTH(lease_ms, 1000, 24 * HOUR), .groups = HD_FOR_RUN,
  .help = "how long leadership is trusted after the last good heartbeat was sent (default 45s; "
          "lease row 30s)" },
{ .name = "grace", .arg = "DURATION", .section = "role", .def = "10s",
  LENGTH(grace_ms, 0, 24 * HOUR), .groups = HD_FOR_RUN,
  .help = "planned stop: time for the command between TERM and KILL" },
{ .name = "lost-grace", .arg = "DURATION", .section = "role", .def = "500ms",
  LENGTH(lost_grace_ms, 0, HOUR), .groups = HD_FOR_RUN,
  .help = "leadership lost: time for the command between TERM and KILL" },
{ .name = "margin", .arg = "DURATION", .section = "role", .def = "5s",
  LENGTH(margin_ms, 0, HOUR), .groups = HD_FOR_RUN,
  .help = "lease row: how much earlier than its lease the leader gives up" },
{ .name = "contain", .arg = "auto|none", .section = "role", .def = "auto", ONE_OF(contain),
  .groups = HD_FOR_RUN,
  .help = "what keeps hold of the command's descendants" },
{ .name = "address", .arg = "ADDRESS", .env = "HOWDAH_ADDRESS", .section = "role", TEXT(address),
  .groups = HD_FOR_RUN,
  .help = "where this node can be reached, for people and `howdah leader`" },
{ .name = "workers", .arg = "NAMES", .env = "HOWDAH_WORKERS", .env_only = true, TEXT(workers),
  .groups = HD_FOR_RUN,
  .help = "the roles and built-in parts that may run on this node, separated by commas, or "
          "\"all\"; unset: none" },
{ .name = NULL },
};
/* clang-format on */
