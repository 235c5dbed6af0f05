#include "app/exit.h"
#include "cli/command.h"
#include <stdio.h>

int hd_complain_with(const struct hd_error *err, int code)
{
	(void)fprintf(stderr, "howdah: %s\n%s%s%s", err->message,
	              err->hint[0] != '\0' ? "  hint: " : "", err->hint,
	              err->hint[0] != '\0' ? "\n" : "");
	return code;
}

int hd_complain(const struct hd_error *err)
{
	switch (err->status) {
	case HD_OK:
		return HD_EXIT_OK;
	case HD_RETRY:
	case HD_TIMEOUT:
	case HD_LOST:
		return hd_complain_with(err, HD_EXIT_UNAVAILABLE);
	case HD_REFUSED:
		return hd_complain_with(err, HD_EXIT_REFUSED);
	case HD_INVALID:
		return hd_complain_with(err, HD_EXIT_USAGE);
	case HD_NOMEM:
		break;
	}
	return hd_complain_with(err, HD_EXIT_BUG);
}
