#include "pg/settings.h"

#include "pg/exec.h"

enum {
	COLUMN_UNIX = 7,
	COLUMN_IDLE,
	COLUMN_USER_TIMEOUT
};

hd_status hd_session_settle(struct hd_session *s, const struct hd_settings *want, hd_mono deadline,
                            bool *ret_pinned, struct hd_error *err)
{
	struct hd_args args = { 0 };
	HD_ROWS rows = { 0 };
	hd_status status;

	hd_arg_int(&args, want->lease_ms);
	hd_arg_int(&args, want->statement_timeout_ms);
	status = hd_exec(s, HD_SQL_SESSION_SETTLE, &args, deadline, &rows, err);
	if (status == HD_OK)
		*ret_pinned = want->direct && want->lease_ms > 0 &&
		              (hd_rows_bool(&rows, 0, COLUMN_UNIX) ||
		               (hd_rows_bool(&rows, 0, COLUMN_IDLE) &&
		                hd_rows_bool(&rows, 0, COLUMN_USER_TIMEOUT)));
	return status;
}
