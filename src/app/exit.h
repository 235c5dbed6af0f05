/* exit.h - the exit codes of howdah, as sysexits.h has them where it has any; one list for all. */
#ifndef HD_APP_EXIT_H
#define HD_APP_EXIT_H

enum hd_exit {
	HD_EXIT_OK = 0,
	HD_EXIT_FAILURE = 1,      /* a check that said no: verify, and nothing else */
	HD_EXIT_USAGE = 64,       /* the command line is wrong */
	HD_EXIT_UNAVAILABLE = 69, /* the database could not be reached */
	HD_EXIT_BUG = 70,         /* an error of howdah itself */
	HD_EXIT_NOT_HELD = 75,    /* somebody else leads, or nobody does */
	HD_EXIT_LOST = 76,        /* leadership was lost while the command ran (--wait) */
	HD_EXIT_REFUSED = 77,     /* gate, pooler, key or mode conflict, standby, paused */
	HD_EXIT_CONFIG = 78,      /* nothing says which database, or a setting is wrong */
	HD_EXIT_CANNOT_RUN = 126, /* the command exists and can't be started */
	HD_EXIT_NOT_FOUND = 127,  /* the command does not exist */
	HD_EXIT_SIGNAL = 128,     /* + n: the command was ended by signal n */
};

#endif
