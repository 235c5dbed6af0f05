#!/bin/bash
# partition.t with the other way of election.
# shellcheck source-path=SCRIPTDIR source=partition.t
ELECTION=lease . "$(dirname "$0")/partition.t"
