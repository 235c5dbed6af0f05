#include "core/gate.h"

#include <howdah/gate.h>
#include <stdlib.h>

bool hd_gate_enabled(const char *name)
{
	return hd_gate_opens(getenv("HOWDAH_WORKERS"), name);
}
