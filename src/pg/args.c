#include "pg/exec.h"
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void hd_arg_text(struct hd_args *a, const char *text)
{
	assert(a->n < HD_ARGS_MAX);
	a->value[a->n++] = text;
}

void hd_arg_int(struct hd_args *a, int64_t value)
{
	assert(a->n < HD_ARGS_MAX);
	(void)snprintf(a->number[a->n], sizeof(a->number[0]), "%" PRId64, value);
	a->value[a->n] = a->number[a->n];
	a->n++;
}

void hd_arg_bool(struct hd_args *a, bool value)
{
	hd_arg_text(a, value ? "t" : "f");
}

void hd_rows_release(struct hd_rows *r)
{
	PQclear(r->res);
	r->res = NULL;
}

int hd_rows_count(const struct hd_rows *r)
{
	return r->res ? PQntuples(r->res) : 0;
}

const char *hd_rows_text(const struct hd_rows *r, int row, int column)
{
	assert(r->res && row >= 0 && row < PQntuples(r->res));
	assert(column >= 0 && column < PQnfields(r->res));
	return PQgetisnull(r->res, row, column) ? NULL : PQgetvalue(r->res, row, column);
}

int64_t hd_rows_int(const struct hd_rows *r, int row, int column)
{
	const char *text = hd_rows_text(r, row, column);

	return text ? strtoll(text, NULL, 10) : 0;
}

bool hd_rows_bool(const struct hd_rows *r, int row, int column)
{
	const char *text = hd_rows_text(r, row, column);

	return text && text[0] == 't';
}
