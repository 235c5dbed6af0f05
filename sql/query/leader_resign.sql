select howdah.leader_resign($1, $2)
