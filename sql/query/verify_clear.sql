-- Every process of a scratch role is dead: says so for the last term that led. $1 role
select howdah.leader_notice(l.role, l.owner, l.led_token, 'every node of howdah verify is dead')
  from howdah.leadership l
 where l.role = $1 and l.led_token > l.clear_token
