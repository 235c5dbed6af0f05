select howdah.leader_forget($1)
