-- Away with a scratch role, and with those that a killed verify left behind. $1 role
select l.role, howdah.leader_scrap(l.role)
  from howdah.leadership l
 where l.role = $1
    or (l.role ~ '^howdah-verify-[0-9a-f]{8}$' and l.seen_at < clock_timestamp() - interval '1 hour')
 order by l.role = $1 desc
