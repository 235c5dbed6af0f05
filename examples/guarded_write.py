#!/usr/bin/env python3
"""Writes that only the leader can make: howdah run --role R -- guarded_write.py

Each line of standard input becomes a row of the table `report`. The database is what PGHOST,
PGDATABASE and so on say. Needs psycopg 3.
"""
import os
import sys

import psycopg

ROLE = os.environ["HOWDAH_ROLE"]
TOKEN = int(os.environ["HOWDAH_TOKEN"])
STALE = "HD001"  # what assert_leader raises when this token no longer leads


def guarded_write(db, text):
    # One transaction: it commits whole, or leaves nothing. Keep it short: no take-over before its end.
    with db.transaction():
        db.execute("select howdah.assert_leader(%s, %s)", (ROLE, TOKEN))
        db.execute("insert into report (token, body) values (%s, %s)", (TOKEN, text))


def main():
    # A statement must not outlive the trust in this leader by much.
    with psycopg.connect(options="-c statement_timeout=5s", autocommit=True) as db:
        for line in sys.stdin:
            guarded_write(db, line.rstrip("\n"))
            print("wrote", line.rstrip("\n"), flush=True)


try:
    main()
except psycopg.Error as error:
    # Refused: another one leads, so stop at once; trying again with this token is of no use.
    # Anything else of the database: the write may or may not be there. Stop too; the next leader looks.
    refused = error.sqlstate == STALE
    print("refused:" if refused else "failed:", error, file=sys.stderr, flush=True)
    sys.exit(75 if refused else 1)
