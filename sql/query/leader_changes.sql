-- What changed behind a line of the history; without one, only the newest line. $1 role  $2 id or null
select h.id, h.event, h.token, h.node, l.address,
       to_char(h.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at
  from howdah.leadership_history h
  left join howdah.leadership l on l.role = h.role and l.token = h.token
 where h.role = $1
   and h.id > coalesce($2::bigint, (select max(m.id) - 1 from howdah.leadership_history m where m.role = $1))
 order by h.id
