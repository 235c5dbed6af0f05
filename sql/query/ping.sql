-- Is the session alive?
select 1
