-- The newest $2 changes of the role $1, oldest first, as a log reads.
select to_char(n.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at,
       n.event, n.token, n.node, n.by_user as by, n.reason
  from (select h.* from howdah.leadership_history h
         where h.role = $1 order by h.id desc limit $2::bigint) n
 order by n.id
