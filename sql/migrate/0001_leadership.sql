-- The schema itself, its record of migrations, and leadership.

create table howdah.migration (
  version     int primary key,
  name        text not null,
  sha256      text not null,
  applied_at  timestamptz not null default clock_timestamp(),
  applied_by  text not null default session_user,
  program     text
);
comment on table howdah.migration is 'Migrations applied by howdah init, in order; never edited.';

-- One row: which set of server functions is in place.
create table howdah.function_set (
  only_row    boolean primary key default true check (only_row),
  sha256      text not null,
  applied_at  timestamptz not null default clock_timestamp(),
  program     text
);
comment on table howdah.function_set is 'Checksum of the server functions that howdah init put in place.';

create table howdah.leadership (
  role          text primary key
                check (role ~ '^[A-Za-z0-9_.-]{1,63}$'),

  -- The registration: a deployment API. Null after "leader forget".
  key           bigint unique,
  mode          text check (mode in ('advisory', 'lease')),

  -- The present holder, or the last one. Null owner: nobody claims the role.
  token         bigint not null default 0,
  owner         text,
  node          text,
  address       text,
  state         text check (state in ('waiting', 'leading')),
  lease_ms      int,
  beat          bigint not null default 0,
  seen_at       timestamptz,
  acquired_at   timestamptz,
  expires_at    timestamptz,
  closing       boolean not null default true,

  -- The last term whose command may have run. Written only by the statement that ends a wait, so that a
  -- node that waits and dies can't hide how dangerous its predecessor is.
  led_token     bigint not null default 0,
  led_mode      text,
  led_system    bigint,
  led_timeline  int,
  led_started   timestamptz,
  led_lease_ms  int,
  led_wait_ms   int,
  led_pinned    boolean,
  led_verdict   text,
  led_at        timestamptz,

  -- Every holder up to this token is known to be dead. It only grows.
  clear_token   bigint not null default 0,

  resign_token  bigint,
  paused_at     timestamptz,
  paused_by     text,
  pause_reason  text,

  check ((key is null) = (mode is null)),
  -- A change of the token must be a key update: then it waits for the transactions that hold FOR KEY
  -- SHARE on the row (assert_leader), while renewals, which change no key, pass them.
  unique (role, token)
) with (fillfactor = 50);
comment on table howdah.leadership is 'One row a role: who leads it, and what a successor must know. Rows are never deleted: tokens only grow.';
comment on column howdah.leadership.token is 'Fencing token of the present or last holder; below 2^53.';
comment on column howdah.leadership.beat is 'Grows with each heartbeat and each change of hands.';
comment on column howdah.leadership.closing is 'A take-over is under way or the role is free: assert_leader refuses.';
comment on column howdah.leadership.expires_at is 'For people, by the clock of the application; nothing compares it.';
comment on column howdah.leadership.led_wait_ms is 'How long after a loss that is known to both sides its command may still run.';
comment on column howdah.leadership.led_pinned is 'The keepalives of that session could not free the lock before its lease ended.';
comment on column howdah.leadership.resign_token is 'The holder with this token is asked to hand over.';

create table howdah.leadership_history (
  id      bigint generated always as identity,
  role    text not null,
  at      timestamptz not null default clock_timestamp(),
  event   text not null,
  token   bigint,
  node    text,
  reason  text,
  by_user text not null default session_user,
  primary key (role, id)
);
comment on table howdah.leadership_history is 'Every change of a role with its reason; the last 1000 of each.';
