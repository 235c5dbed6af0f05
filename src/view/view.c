#include "view/view.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

const struct hd_view hd_views[] = {
	[HD_VIEW_ROLES] = { "roles", HD_SQL_VIEW_ROLES, HD_TABLE, 9,
	                    "No role has been run yet: howdah run --role NAME -- COMMAND" },
	[HD_VIEW_ROLE] = { "role", HD_SQL_VIEW_ROLES, HD_RECORD, 0,
	                   "No such role; the known ones: howdah leader" },
	[HD_VIEW_HISTORY] = { "history", HD_SQL_VIEW_HISTORY, HD_TABLE, 0,
	                      "Nothing is recorded of this role; the known ones: howdah leader" },
	[HD_VIEW_NODES] = { "nodes", HD_SQL_VIEW_NODES, HD_TABLE, 0,
	                    "No process of Howdah is connected: howdah run --role NAME -- "
	                    "COMMAND" },
	[HD_VIEW_SERVER] = { "server", HD_SQL_VIEW_SERVER, HD_RECORD, 0, "" },
	[HD_VIEW_SCHEMA] = { "schema", HD_SQL_VIEW_SCHEMA, HD_RECORD, 0, "" },
};

void hd_view_render(const struct hd_renderer *how, const struct hd_view *view,
                    const struct hd_rows *rows, int most, struct hd_buf *out)
{
	struct hd_rendering r = { .view = view, .rows = rows, .out = out, .most = most };

	assert(PQnfields(rows->res) <= HD_VIEW_COLUMNS_MAX);
	how->begin(&r);
	for (int row = 0; row < hd_rows_count(rows); row++)
		how->row(&r, row);
	how->end(&r);
}

enum hd_view_kind hd_view_kind(const struct hd_rows *rows, int column)
{
	/* pg_type.oid of the built-in types is fixed for ever. */
	static const struct {
		Oid type;
		enum hd_view_kind kind;
	} kinds[] = {
		{ 16, HD_KIND_BOOL },     /* bool */
		{ 20, HD_KIND_NUMBER },   /* int8 */
		{ 21, HD_KIND_NUMBER },   /* int2 */
		{ 23, HD_KIND_NUMBER },   /* int4 */
		{ 26, HD_KIND_NUMBER },   /* oid */
		{ 114, HD_KIND_JSON },    /* json */
		{ 700, HD_KIND_NUMBER },  /* float4 */
		{ 701, HD_KIND_NUMBER },  /* float8 */
		{ 1700, HD_KIND_NUMBER }, /* numeric */
		{ 3802, HD_KIND_JSON },   /* jsonb */
	};
	Oid type = PQftype(rows->res, column);

	for (size_t i = 0; i < HD_ARRAY_SIZE(kinds); i++)
		if (kinds[i].type == type)
			return kinds[i].kind;
	return HD_KIND_TEXT;
}

int hd_view_column(const struct hd_rows *rows, const char *name)
{
	return PQfnumber(rows->res, name);
}

const char *hd_view_text(const struct hd_rows *rows, int row, const char *name)
{
	return hd_rows_text(rows, row, hd_view_column(rows, name));
}

char *hd_age_format(int64_t ms, char buf[HD_AGE_TEXT])
{
	static const struct {
		const char *unit, *smaller;
		int64_t ms, smaller_ms;
	} scale[] = {
		{ "d", "h", INT64_C(86400000), 3600000 },
		{ "h", "m", 3600000, 60000 },
		{ "m", "s", 60000, 1000 },
	};
	const char *sign = ms < 0 ? "-" : "";
	uint64_t n = ms < 0 ? 0 - (uint64_t)ms : (uint64_t)ms;

	for (size_t i = 0; i < HD_ARRAY_SIZE(scale); i++) {
		uint64_t big = n / (uint64_t)scale[i].ms;
		uint64_t small = n % (uint64_t)scale[i].ms / (uint64_t)scale[i].smaller_ms;

		if (big == 0)
			continue;
		if (small == 0)
			snprintf(buf, HD_AGE_TEXT, "%s%" PRIu64 "%s", sign, big, scale[i].unit);
		else
			snprintf(buf, HD_AGE_TEXT, "%s%" PRIu64 "%s%" PRIu64 "%s", sign, big,
			         scale[i].unit, small, scale[i].smaller);
		return buf;
	}
	if (n >= 1000)
		snprintf(buf, HD_AGE_TEXT, "%s%" PRIu64 "s", sign, n / 1000);
	else
		snprintf(buf, HD_AGE_TEXT, "%s%" PRIu64 "ms", sign, n);
	return buf;
}
