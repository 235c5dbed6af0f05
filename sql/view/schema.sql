-- What init put in place, compared with what this program knows: $1 its newest migration, $2 the checksum
-- of its server functions.
select max(m.version) as version,
       $1::int as known,
       case when max(m.version) > $1 then 'newer' when max(m.version) = $1 then 'current' else 'older' end as state,
       (select case when f.sha256 = $2::text then 'current' else 'different' end
          from howdah.function_set f) as functions,
       to_char(max(m.applied_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as applied,
       (array_agg(m.program order by m.version desc))[1] as program,
       (select f.program from howdah.function_set f) as functions_program
  from howdah.migration m
