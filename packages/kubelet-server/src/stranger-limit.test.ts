import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ALL_STRANGERS_RATE,
  KNOWN_CALLER_MS,
  NETWORK_STRANGERS_RATE,
  NEWCOMERS_RATE,
  STRANGER_RATE,
} from './limits.ts';
import { StrangerLimit } from './stranger-limit.ts';

const MANY = 1000;

/** Returns a connection limit with a test clock. `allowed` returns how many of MANY connections from an address are allowed. */
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

test('an unauthenticated address is limited to a burst, then to a rate', () => {
  const { clock, allowed } = limit();
  assert.equal(allowed('192.0.2.1'), STRANGER_RATE.burst);
  assert.equal(allowed('198.51.100.1'), STRANGER_RATE.burst, 'another address has its own burst');
  clock.nowMs = 1000;
  assert.equal(allowed('192.0.2.1'), STRANGER_RATE.perSecond);
});

test('callers in a remote network share a limit, and so do all remote callers', () => {
  const { clock, allowed } = limit();
  const sumOf = (prefix: string, first: number) => {
    let sum = 0;
    for (let host = first; host < first + 100; host++) sum += allowed(prefix + host);
    return sum;
  };
  assert.equal(sumOf('192.0.2.', 1), NETWORK_STRANGERS_RATE.burst + NEWCOMERS_RATE.burst);
  assert.equal(sumOf('198.51.100.', 1), ALL_STRANGERS_RATE.burst - NETWORK_STRANGERS_RATE.burst);
  assert.equal(sumOf('203.0.113.', 1), 0);
  clock.nowMs = 1000;
  assert.equal(sumOf('192.0.2.', 1), NETWORK_STRANGERS_RATE.perSecond);
  assert.equal(
    sumOf('192.0.2.', 101),
    NEWCOMERS_RATE.perSecond,
    'callers without an earlier connection have a reserve',
  );
});

test('an authenticated caller has no limit for an hour, and then only its own for a month', () => {
  const { clock, allowed, markAuthenticated } = limit();
  const flood = () => {
    for (let network = 0; network < 4; network++)
      for (let host = 1; host < 20; host++) allowed(`192.0.${network}.${host}`);
    assert.equal(allowed('192.0.0.1'), 0);
  };
  flood();
  markAuthenticated('198.51.100.1');
  assert.equal(allowed('198.51.100.1'), MANY);
  clock.nowMs = KNOWN_CALLER_MS;
  flood();
  assert.equal(allowed('198.51.100.1'), STRANGER_RATE.burst, 'the exemption expires');
  clock.nowMs += 1000;
  flood();
  assert.equal(allowed('198.51.100.1'), STRANGER_RATE.perSecond);
});

test('however many local users connect, remote callers, root and new local users are still served', () => {
  const users: Record<string, number> = Object.fromEntries(
    Array.from({ length: 300 }, (_, uid) => [`127.0.1.${uid}`, 100_000 + uid]),
  );
  const { clock, allowed } = limit({ ...users, '127.0.0.1': 0, '127.0.0.2': 3456 });
  let sum = 0;
  for (const address of Object.keys(users)) sum += allowed(address);
  assert.equal(sum, ALL_STRANGERS_RATE.burst + NEWCOMERS_RATE.burst);
  assert.equal(allowed('192.0.2.1'), STRANGER_RATE.burst);
  assert.equal(allowed('127.0.0.1'), STRANGER_RATE.burst);
  clock.nowMs = 1000;
  for (const address of Object.keys(users)) allowed(address);
  assert.ok(allowed('127.0.0.2') >= 1);
});

test('a local client that has closed its end does not count as a remote caller', () => {
  const limited = new StrangerLimit({ now: () => 0, peerUser: () => undefined });
  const own = (host: number) => {
    const address = `192.0.2.${host}`;
    return { localAddress: address, localPort: 1, remoteAddress: address, remotePort: 2 };
  };
  let count = 0;
  for (let tries = 0; tries < MANY; tries++) if (limited.allows(own(tries % 200))) count++;
  assert.equal(count, STRANGER_RATE.burst);
});

test('all addresses of a caller share one limit', () => {
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
  for (const address of ['2001:db8::1', '2001:db8:0:1::1', '2001:db8:1::']) assert.ok(allowed(address) > 0, address);
});

test('local users are distinguished, whatever their addresses', () => {
  const { allowed, markAuthenticated } = limit({ '127.0.0.1': 0, '192.0.2.1': 0, '127.0.0.2': 65534 });
  markAuthenticated('127.0.0.1');
  assert.equal(allowed('127.0.0.2'), STRANGER_RATE.burst);
  assert.equal(allowed('192.0.2.1'), MANY);
  markAuthenticated('127.0.0.3'); // its user is unknown
  assert.equal(allowed('127.0.0.3'), STRANGER_RATE.burst);
});
