#include "app/exit.h"
#include "cli/command.h"
#include <stdio.h>

void hd_complaint_add(struct hd_buf *b, const struct hd_error *err)
{
	hd_buf_printf(b, "howdah: %s\n", err->message);
	if (err->hint[0] != '\0')
		hd_buf_printf(b, "  hint: %s\n", err->hint);
}

int hd_complain_with(const struct hd_error *err, int code)
{
	HD_BUF text;

	hd_buf_init(&text);
	hd_complaint_add(&text, err);
	(void)fputs(hd_buf_ok(&text) ? text.data : "howdah: no memory\n", stderr);
	return code;
}

int hd_exit_of(hd_status status)
{
	switch (status) {
	case HD_OK:
		return HD_EXIT_OK;
	case HD_RETRY:
	case HD_TIMEOUT:
	case HD_LOST:
		return HD_EXIT_UNAVAILABLE;
	case HD_REFUSED:
		return HD_EXIT_REFUSED;
	case HD_INVALID:
		return HD_EXIT_USAGE;
	case HD_NOMEM:
		break;
	}
	return HD_EXIT_BUG;
}

int hd_complain(const struct hd_error *err)
{
	return err->status == HD_OK ? HD_EXIT_OK : hd_complain_with(err, hd_exit_of(err->status));
}
