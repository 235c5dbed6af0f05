/* Fuzzer: what is read as a duration is in its bounds, and is read the same when written again. */
#include "base/duration.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	char written[HD_DURATION_TEXT];
	struct hd_error err;
	int64_t ms = 0;
	int64_t again = -1;

	if (text == NULL)
		return 0;
	if (hd_duration_parse(text, &ms, &err) == HD_OK) {
		if (ms < 0 || ms > HD_DURATION_MAX_MS)
			abort();
		if (hd_duration_parse(hd_duration_format(ms, written, sizeof(written)), &again,
		                      NULL) != HD_OK ||
		    again != ms)
			abort();
	}
	free(text);
	return 0;
}
