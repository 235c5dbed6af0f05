/*
 * guard.h - the process between the elector and the command.
 *
 * It ends the command's whole tree before the trust in the lease ends, whatever happens to the
 * elector, the database or the network. It talks to nobody but the elector.
 */
#ifndef HD_RUN_GUARD_H
#define HD_RUN_GUARD_H

/* `howdah part guard`; its state is in the descriptors of run/term.h. Answers the exit code. */
int hd_guard_main(void);

#endif
