#!/bin/bash
# promote_cut.t with the other way of election.
# shellcheck source-path=SCRIPTDIR source=promote_cut.t
ELECTION=lease . "$(dirname "$0")/promote_cut.t"
