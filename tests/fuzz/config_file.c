/* Fuzzer: no text of settings makes the reader read or write outside it, or accept what it must
 * not. */
#include "app/config_file.h"
#include "app/option.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static hd_status take(void *context, const struct hd_config_line *line, struct hd_error *err)
{
	struct hd_config *config = context;
	const struct hd_option *o;

	if (line->number < 1 || strchr(line->section, '\n') != NULL)
		abort();
	if (line->key == NULL)
		return HD_OK;
	if (strpbrk(line->key, "=\n") != NULL || strchr(line->value, '\n') != NULL)
		abort();
	o = hd_option_find(line->key);
	return o != NULL ? hd_option_set(config, o, line->value, err) : HD_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hd_config config = { 0 };
	struct hd_error err = { 0 };
	char *text = malloc(size + 1);

	if (text == NULL)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (hd_config_text_parse(text, size, "f", take, &config, &err) == HD_OK) {
		if (size > 0 && memchr(data, '\0', size) != NULL)
			abort();
	} else if (strncmp(err.message, "f:", 2) != 0) {
		abort();
	}
	free(text);
	return 0;
}
