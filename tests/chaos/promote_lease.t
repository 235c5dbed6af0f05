#!/bin/bash
# promote.t with the other way of election.
# shellcheck source-path=SCRIPTDIR source=promote.t
ELECTION=lease . "$(dirname "$0")/promote.t"
