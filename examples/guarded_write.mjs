#!/usr/bin/env node
// Writes that only the leader can make: howdah run --role R -- node guarded_write.mjs
//
// Each line of standard input becomes a row of the table `report`. The database is what PGHOST,
// PGDATABASE and so on say. Needs the package pg.
import { createInterface } from 'node:readline'
import pg from 'pg'

const role = process.env.HOWDAH_ROLE
const token = process.env.HOWDAH_TOKEN
const stale = 'HD001' // what assert_leader raises when this token no longer leads

// One transaction: it commits whole, or leaves nothing. Keep it short: no take-over before its end.
// All of it on one client: a query of a pool may go to another session.
async function guardedWrite(db, text) {
  await db.query('begin')
  await db.query('select howdah.assert_leader($1, $2)', [role, token])
  await db.query('insert into report (token, body) values ($1, $2)', [token, text])
  await db.query('commit')
}

// A statement must not outlive the trust in this leader by much.
const db = new pg.Client({ statement_timeout: 5000 })
try {
  await db.connect()
  for await (const line of createInterface({ input: process.stdin })) {
    await guardedWrite(db, line)
    console.log('wrote', line)
  }
  await db.end()
} catch (error) {
  // Refused: another one leads, so stop at once; trying again with this token is of no use.
  // Anything else of the database: the write may or may not be there. Stop too; the next leader looks.
  // The end of the session rolls back what was begun.
  console.error(error.code === stale ? 'refused:' : 'failed:', error.message)
  process.exit(error.code === stale ? 75 : 1)
}
