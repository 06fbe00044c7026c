import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALL_STRANGERS_RATE, KNOWN_CALLER_MS, STRANGER_RATE } from './limits.ts';
import { StrangerLimit } from './stranger-limit.ts';

const MANY = 1000;

/** A limit with a test clock; `allowed` returns how many of MANY connections it allows from an address. */
function limit(users?: Record<string, number>) {
  const clock = { nowMs: 0 };
  const limited = new StrangerLimit({
    now: () => clock.nowMs,
    peerUser: users && ((ends) => users[ends.remoteAddress!]),
  });
  const from = (remoteAddress: string) => ({ localAddress: '::', localPort: 1, remoteAddress, remotePort: 2 });
  const allowed = (address: string) => {
    let count = 0;
    for (let tries = 0; tries < MANY; tries++) if (limited.allows(from(address))) count++;
    return count;
  };
  const markAuthenticated = (address: string) => limited.markAuthenticated(from(address));
  return { clock, allowed, markAuthenticated };
}

test('an unauthenticated address has its burst, then its rate', () => {
  const { clock, allowed } = limit();
  assert.equal(allowed('192.0.2.1'), STRANGER_RATE.burst);
  assert.equal(allowed('192.0.2.2'), STRANGER_RATE.burst, 'another address has its own burst');
  clock.nowMs = 1000;
  assert.equal(allowed('192.0.2.1'), STRANGER_RATE.perSecond);
});

test('all unauthenticated callers share a limit, and authenticated callers have none', () => {
  const { clock, allowed, markAuthenticated } = limit();
  let sum = 0;
  for (let host = 1; host < 200; host++) sum += allowed(`192.0.2.${host}`);
  assert.equal(sum, ALL_STRANGERS_RATE.burst);
  assert.equal(allowed('198.51.100.1'), 0);
  markAuthenticated('198.51.100.1');
  assert.equal(allowed('198.51.100.1'), MANY);
  clock.nowMs = KNOWN_CALLER_MS;
  assert.equal(allowed('198.51.100.1'), STRANGER_RATE.burst, 'the exemption expires');
});

test('the addresses of one caller have one limit', () => {
  for (const [one, other] of [
    ['127.0.0.1', '127.3.2.1'],
    ['127.0.0.1', '::1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8::1', '2001:db8:0:0:ff::1'],
    ['fe80::1%eth0', 'fe80::2'],
  ] as const) {
    const { allowed } = limit();
    assert.equal(allowed(one), STRANGER_RATE.burst);
    assert.equal(allowed(other), 0, `${other} after ${one}`);
  }
  const { allowed } = limit();
  for (const address of ['2001:db8::1', '2001:db8:0:1::1', '2001:db8:1::'])
    assert.equal(allowed(address), STRANGER_RATE.burst, address);
});

test('users of this host are distinguished, whatever their addresses', () => {
  const { allowed, markAuthenticated } = limit({ '127.0.0.1': 0, '192.0.2.1': 0, '127.0.0.2': 65534 });
  markAuthenticated('127.0.0.1');
  assert.equal(allowed('127.0.0.2'), STRANGER_RATE.burst);
  assert.equal(allowed('192.0.2.1'), MANY);
  markAuthenticated('127.0.0.3'); // its user is unknown
  assert.equal(allowed('127.0.0.3'), STRANGER_RATE.burst);
});
