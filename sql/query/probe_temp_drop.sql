drop table if exists pg_temp.howdah_probe
