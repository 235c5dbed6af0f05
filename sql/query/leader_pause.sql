select howdah.leader_pause($1, $2)
