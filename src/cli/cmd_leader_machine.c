/* howdah leader machine: the table that every node runs, as text or as a graph. */
#include "app/exit.h"
#include "cli/command.h"
#include "cli/show.h"
#include "core/election.h"
#include <string.h>

#define COLUMNS 4 /* with a width; the last one, why, has none */

/* A state by its name, with the word of the log where that is another one. */
static void add_state(struct hd_buf *b, enum hd_state state, const char *between, const char *end)
{
	const char *word = hd_state_word(state);

	hd_buf_text(b, hd_state_name(state));
	if (strcmp(hd_state_name(state), word) != 0)
		hd_buf_printf(b, "%s%s%s", between, word, end);
}

struct cells {
	struct hd_buf cell[COLUMNS];
};

static void fill(struct cells *c, const struct hd_transition *t)
{
	for (int i = 0; i < COLUMNS; i++)
		hd_buf_reset(&c->cell[i]);
	add_state(&c->cell[0], t->state, " (", ")");
	hd_buf_text(&c->cell[1], hd_event_word(t->event));
	add_state(&c->cell[2], t->next, " (", ")");
	hd_buf_text(&c->cell[3], t->action == HD_ACT_NONE ? "-" : hd_action_word(t->action));
}

static void add_table(struct hd_buf *out)
{
	static const char *const heading[COLUMNS] = { "STATE", "EVENT", "NEXT", "ACTION" };
	struct cells c;
	int width[COLUMNS];

	for (int i = 0; i < COLUMNS; i++) {
		hd_buf_init(&c.cell[i]);
		width[i] = (int)strlen(heading[i]);
	}
	for (const struct hd_transition *t = hd_transitions; t->state != HD_ST_COUNT; t++) {
		fill(&c, t);
		for (int i = 0; i < COLUMNS; i++)
			if ((int)c.cell[i].len > width[i])
				width[i] = (int)c.cell[i].len;
	}
	for (int i = 0; i < COLUMNS; i++)
		hd_buf_printf(out, "%-*s  ", width[i], heading[i]);
	hd_buf_text(out, "WHY\n");
	for (const struct hd_transition *t = hd_transitions; t->state != HD_ST_COUNT; t++) {
		fill(&c, t);
		for (int i = 0; i < COLUMNS; i++)
			hd_buf_printf(out, "%-*s  ", width[i], c.cell[i].data);
		hd_buf_printf(out, "%s\n", t->why);
	}
	for (int i = 0; i < COLUMNS; i++)
		hd_buf_release(&c.cell[i]);
}

static void add_graph(struct hd_buf *out)
{
	hd_buf_text(out, "digraph election {\n\tnode [shape=box, style=rounded];\n");
	for (int s = 0; s < HD_ST_COUNT; s++) {
		hd_buf_printf(out, "\ts%d [label=\"", s);
		add_state(out, (enum hd_state)s, "\\nlog: ", "");
		hd_buf_text(out, "\"];\n");
	}
	for (const struct hd_transition *t = hd_transitions; t->state != HD_ST_COUNT; t++) {
		bool quiet = t->action == HD_ACT_NONE;

		hd_buf_printf(out, "\ts%d -> s%d [label=\"%s%s%s\", tooltip=\"%s\"];\n", t->state,
		              t->next, hd_event_word(t->event), quiet ? "" : " / ",
		              hd_action_word(t->action), t->why);
	}
	hd_buf_text(out, "}\n");
}

int hd_cmd_leader_machine(const struct hd_config *config)
{
	HD_BUF out;

	hd_buf_init(&out);
	if (config->dot)
		add_graph(&out);
	else
		add_table(&out);
	return hd_show_end(&out, HD_EXIT_OK);
}
