select howdah.leader_resume($1, $2)
