insert into pg_temp.howdah_probe (canary) values ($1)
