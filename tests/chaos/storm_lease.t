#!/bin/bash
# storm.t with the other way of election.
# shellcheck source-path=SCRIPTDIR source=storm.t
ELECTION=lease . "$(dirname "$0")/storm.t"
