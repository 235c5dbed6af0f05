#!/bin/bash
# kill.t with the other way of election.
# shellcheck source-path=SCRIPTDIR source=kill.t
ELECTION=lease . "$(dirname "$0")/kill.t"
