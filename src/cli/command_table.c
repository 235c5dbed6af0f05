#include "app/option.h"
#include "cli/command.h"

#define VIEW (HD_FOR_ALL | HD_FOR_DB | HD_FOR_JSON)
#define ACT  (HD_FOR_ALL | HD_FOR_DB | HD_FOR_JSON)

/* clang-format off */
const struct hd_command hd_commands[] = {
{ .name = "run", .operands = "--role NAME [-- COMMAND...]", .takes_command = true,
  .groups = HD_FOR_ALL | HD_FOR_DB | HD_FOR_RUN | HD_FOR_PROBE, .run = hd_cmd_run,
  .summary = "lead a role or stand by, and run a command while leading",
  .details =
"Leads the role NAME, or stands by until it can, and runs COMMAND while it leads. However many "
"nodes run this for one role, one of them is active. Without a command it only holds the role.\n"
"\n"
"  howdah run --role poller -- ./poller --interval 5s\n"
"  howdah run --role nightly --wait 0 -- ./nightly-job     # one attempt\n"
"  howdah run --role poller --key 1840000001 -- ./poller   # beside old nodes\n"
"  howdah run --role poller --election lease -- ./poller   # behind a pooler\n"
"\n"
"A role runs only where HOWDAH_WORKERS names it, and only in a build with workers.\n"
"\n"
"Leadership lost: the command and all its descendants are ended with TERM, then KILL, before "
"another node may start. The node then stands by and competes again. TERM, INT and QUIT are "
"forwarded and begin a planned stop: the command has --grace to end, then the role is handed over. "
"HUP, USR1, USR2, CONT and WINCH are only forwarded.\n"
"\n"
"With --watchdog the command must ping by sd_notify(3): WATCHDOG=1 to NOTIFY_SOCKET, more often than "
"every WATCHDOG_USEC. Silence, also that of a stopped command, ends it with TERM, then KILL after "
"--lost-grace, and the role is handed over; --restart does not apply.\n"
"\n"
"The command finds HOWDAH_ROLE, HOWDAH_TOKEN and HOWDAH_NODE in its environment. `howdah held` "
"asks whether leadership is still trusted; howdah.assert_leader(role, token), called in a "
"transaction, makes the transaction of a stale leader fail.\n"
"\n"
"Heartbeat, its timeout (the heartbeat, 10s at most), --lost-grace and 500ms must fit into "
"--lease, less --margin for a lease row. A role is a handful for each application, never one for each tenant or record." },
{ .name = "leader", .operands = "", .groups = VIEW, .run = hd_cmd_leader_list,
  .summary = "who leads what; show, watch, resign, pause, resume, history, ...",
  .details =
"Without a further word: a line for each role, with its leader, since when, where, the token and "
"the mode.\n"
"\n"
"  howdah leader\n"
"  howdah leader pause poller --reason \"double invoices\"" },
{ .name = "leader list", .operands = "", .groups = VIEW, .run = hd_cmd_leader_list, .hidden = true,
  .summary = "who leads what" },
{ .name = "leader show", .operands = "ROLE", .least = 1, .most = 1, .groups = VIEW,
  .run = hd_cmd_leader_show,
  .summary = "one role; exits with 0 when somebody leads it, 75 when nobody does" },
{ .name = "leader resign", .operands = "ROLE", .least = 1, .most = 1, .groups = ACT | HD_FOR_WHY,
  .run = hd_cmd_leader_resign,
  .summary = "ask the leader to hand the role over to another node",
  .details =
"Asks the holder to stop its command, within its --grace, and to give the role up. The node that "
"resigned does not compete for two retry intervals, so another one gets it." },
{ .name = "leader pause", .operands = "ROLE", .least = 1, .most = 1, .groups = ACT | HD_FOR_WHY,
  .run = hd_cmd_leader_pause,
  .summary = "stop a role on all nodes until it is resumed",
  .details =
"Stops the role everywhere: the leader ends its command and gives the role up, and no node takes "
"it until `howdah leader resume ROLE`. The switch for 3 a.m.; it outlives restarts.\n"
"\n"
"  howdah leader pause poller --reason \"double invoices\"" },
{ .name = "leader resume", .operands = "ROLE", .least = 1, .most = 1, .groups = ACT | HD_FOR_WHY,
  .run = hd_cmd_leader_resume,
  .summary = "end a pause" },
{ .name = "leader history", .operands = "ROLE", .least = 1, .most = 1,
  .groups = VIEW | HD_FOR_HISTORY, .run = hd_cmd_leader_history,
  .summary = "every change of a role, with time, node and reason",
  .details = "The stored record of a role, newest last. The last 1000 changes are kept." },
{ .name = "leader forget", .operands = "ROLE", .least = 1, .most = 1, .groups = ACT,
  .run = hd_cmd_leader_forget,
  .summary = "clear the registered key and mode of a role that nobody leads",
  .details =
"The first use of a role registers its lock key and its mode, and nodes with another one are "
"refused. This clears the registration, so that the next use makes a new one. It is refused while "
"somebody leads the role." },
{ .name = "leader watch", .operands = "ROLE [-- COMMAND...]", .least = 1, .most = 1,
  .takes_command = true, .groups = VIEW | HD_FOR_WATCH | HD_FOR_PROBE, .run = hd_cmd_leader_watch,
  .summary = "a line for each change of leadership, and a command to run at each",
  .details =
"Prints the present state, then each change: time, led or free, node, token, address; with --json "
"an object a line. It waits for a role that no node has run yet, survives the loss of the database, "
"and then reads what it has missed from the history. INT and TERM end it with 0.\n"
"\n"
"  howdah leader watch poller\n"
"  howdah leader watch poller --exec './point-dns-to \"$HOWDAH_NODE\"'\n"
"\n"
"The command, that of --exec or the one behind --, finds HOWDAH_ROLE, HOWDAH_STATE (led or free), "
"HOWDAH_TOKEN and HOWDAH_NODE (of whoever leads, or led last) in its environment, and its standard "
"output is the standard error of the watcher. The next line is printed when it has ended; nothing "
"is left out meanwhile. One that fails, or has not ended within --exec-timeout, is logged, and the "
"watcher goes on." },
{ .name = "leader machine", .operands = "", .groups = HD_FOR_ALL | HD_FOR_MACHINE | HD_NO_FILE,
  .run = hd_cmd_leader_machine,
  .summary = "the states of a node, what changes them, and what is done then",
  .details =
"The election machine, from the table that `howdah run` itself goes by. A state has a name and, "
"where it is another one, the word of the log in brackets.\n"
"\n"
"  howdah leader machine --dot | dot -Tsvg > machine.svg" },
{ .name = "held", .operands = "", .groups = HD_FOR_ALL | HD_NO_FILE, .run = hd_cmd_held,
  .summary = "inside a command: is leadership still trusted?",
  .details =
"For scripts that `howdah run` started: ends with 0 while leadership is trusted, with 75 when it "
"is not, and with 78 when the descriptor that HOWDAH_HELD_FD names is missing. It asks no "
"database.\n"
"\n"
"  howdah held || exit" },
{ .name = "status", .operands = "", .groups = VIEW | HD_FOR_STATUS, .run = hd_cmd_status,
  .summary = "schema, roles and nodes at a glance",
  .details =
"With --watch it is shown again at each interval, in place on a terminal, else as blocks with a "
"blank line between them (with --json an object a line), until INT or TERM end it with 0. When the "
"database goes away it says so and tries again." },
{ .name = "doctor", .operands = "", .groups = VIEW | HD_FOR_PROBE, .run = hd_cmd_doctor,
  .summary = "check the connection, the server and the schema",
  .details =
"Finds out whether the connection keeps one server session (the probe that `howdah run` makes as "
"well), and checks server version, recovery, clock, round trip, session settings, privileges, "
"connections, what holds back vacuum, and the schema. A line for each finding, with what to do.\n"
"\n"
"Ends with 0 when sessions are stable, 77 behind a multiplexing pooler, on a standby or when it "
"can't tell, 69 when the database could not be reached." },
{ .name = "verify", .operands = "[-- COMMAND...]", .takes_command = true,
  .groups = HD_FOR_ALL | HD_FOR_DB | HD_FOR_JSON | HD_FOR_PROBE | HD_FOR_VERIFY,
  .run = hd_cmd_verify,
  .summary = "three nodes, real faults, and a verdict, on your own database",
  .details =
"Runs three nodes under a scratch role on the configured database, with a command of its own or "
"with COMMAND, whose standard output is thrown away. The leader's process is killed, a whole node "
"is stopped for longer than its lease and woken again, a session is terminated, a node is asked to "
"stop. After each it measures when another node had the role and when its command ran, and looks "
"whether two commands ever ran at once. Lease (4s) and heartbeat (1s) are short, so that it ends "
"within a minute.\n"
"\n"
"  howdah verify --db \"host=db1,db2 dbname=app\"\n"
"  howdah verify --pooler \"host=bouncer dbname=app\" -- ./poller\n"
"\n"
"A verdict a line, then what happened when. It ends with 0, or with 1 when something was not as "
"promised; 69, 77 and 78 say that it could not begin. Nothing is left behind: neither processes "
"nor rows." },
{ .name = "init", .operands = "", .groups = HD_FOR_ALL | HD_FOR_DB | HD_FOR_INIT,
  .run = hd_cmd_init,
  .summary = "create or upgrade the schema howdah",
  .details =
"Creates the schema howdah or brings it to the version of this program, under an advisory lock: "
"any number of nodes may do it at once. It makes the worker and reader roles where it may, and "
"else prints the statements. A schema newer than this program knows is refused.\n"
"\n"
"  howdah init --db \"host=db1 dbname=app user=owner\"\n"
"  howdah init --print > howdah.sql     # for other migration tools" },
{ .name = "demo", .operands = "", .groups = HD_FOR_ALL | HD_NO_FILE, .run = hd_cmd_demo,
  .summary = "three nodes, a kill, a take-over and a hand-over, on a private server",
  .details =
"Shows what Howdah does, in less than a minute, and removes everything again: a private server in "
"a temporary folder, three nodes that compete for a role, SIGKILL of the leader and the take-over, "
"a graceful hand-over, a late write that the database refuses, and the times of all that. No "
"configured database is touched. It ends with 70 when something was seen that must not be." },
{ .name = "dev", .operands = "[start|stop|dsn|psql|destroy]", .most = 1, .takes_command = true,
  .groups = HD_FOR_ALL | HD_FOR_JSON, .run = hd_cmd_dev,
  .summary = "the embedded server: start, stop, dsn, psql, destroy",
  .details =
"The private PostgreSQL that --db dev and HOWDAH_DB=dev mean: for development, demo and tests, "
"for this machine and this user only. It is made on first use, listens on a unix socket, and is "
"shared by all howdah processes of the user.\n"
"\n"
"  howdah dev start      # make it and start it\n"
"  howdah dev psql       # look into it\n"
"  howdah dev dsn        # its connection string, for other programs\n"
"  howdah dev destroy    # stop it and remove all its data" },
{ .name = "part", .operands = "NAME", .least = 1, .most = 1, .takes_command = true, .groups = HD_FOR_ALL | HD_NO_FILE,
  .run = hd_cmd_part, .hidden = true, .summary = "a process that howdah itself starts" },
{ .name = "version", .operands = "", .groups = HD_FOR_ALL | HD_FOR_JSON | HD_NO_FILE,
  .run = hd_cmd_version,
  .summary = "version, schema, libpq, and the gates of this build" },
{ .name = "help", .operands = "[COMMAND]", .most = 2,
  .groups = HD_FOR_ALL | HD_FOR_HELP | HD_NO_FILE, .run = hd_cmd_help,
  .summary = "help for a command" },
{ .name = NULL },
};
/* clang-format on */
