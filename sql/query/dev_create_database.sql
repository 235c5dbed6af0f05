-- The database of `--db dev`; run on the embedded server only.
create database howdah
