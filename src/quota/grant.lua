-- One link's hits of one month, counted for all instances: `granted` to them so far, of which `used`
-- are known to be served, since the counter was `born`. Beside these, what each instance asked last
-- and got, so that a question that arrives twice is answered twice and counted once.
-- src/ledger/counter.rs does the same in Rust; a test compares the two.
local first, after = tonumber(ARGV[1]), tonumber(ARGV[2])
local limit, seed = tonumber(ARGV[3]), tonumber(ARGV[4])
local instance, number, known = ARGV[5], tonumber(ARGV[6]), tonumber(ARGV[7])
local served, back, debt = tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10])
local need, want, peers = tonumber(ARGV[11]), tonumber(ARGV[12]), tonumber(ARGV[13])

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if now < first or now >= after then
    return {2, 0, 0, 0, 0, 0, now}
end
local kept = redis.call('HMGET', KEYS[1], 'granted', 'used', 'born', instance)
local granted, used, born = tonumber(kept[1]), tonumber(kept[2]), tonumber(kept[3])
if not granted then
    if seed < 0 then
        return {1, 0, 0, 0, 0, 0, now}
    end
    granted, used, born = seed, seed, now
end
local grant = 0
local last, given = string.match(kept[4] or '', '^(%d+):(%d+)$')
last = tonumber(last) or 0
if number == last then
    grant = tonumber(given)
elseif number > last then
    if known == 0 or known == born then
        used = used + served
        granted = granted - back
    end
    used = used + debt
    granted = granted + debt
    local left = math.max(0, limit - granted)
    local part = math.floor(left / (2 * peers))
    grant = math.min(left, math.max(need, math.min(want, part)))
    granted = granted + grant
    redis.call('HSET', KEYS[1], 'granted', string.format('%.0f', granted),
        'used', string.format('%.0f', used), 'born', string.format('%.0f', born),
        instance, string.format('%.0f:%.0f', number, grant))
    redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', after + 86400000))
end
return {0, grant, math.max(0, limit - granted), granted, used, born, now}
