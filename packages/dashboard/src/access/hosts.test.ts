import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { test } from 'node:test';
import { isOwnHost } from './hosts.ts';

const check = (listenHost: string, header: string, expected: boolean) =>
  assert.equal(isOwnHost(header, listenHost), expected, `${header} at ${listenHost}`);

test('loopback is accepted with any port, as ssh may forward another one', () => {
  for (const host of ['localhost', 'LOCALHOST', '127.0.0.1', '[::1]'])
    for (const port of ['', ':1', ':8080', ':65535']) check('127.0.0.1', host + port, true);
});

test('names that another site controls are refused', () => {
  for (const header of [
    'attacker.example',
    'attacker.example:8080',
    'localhost.attacker.example',
    '127.0.0.1.attacker.example',
    'localhost@attacker.example',
    'localhost:8080@attacker.example',
    'localhost:8080/x',
    'localhost,attacker.example',
    'localhost attacker.example',
    '127.0.0.2',
    '10.0.0.1',
    '2130706433',
    '0x7f000001',
    '[::ffff:127.0.0.1]',
    '[::1',
    '[localhost]',
    '[::1]x',
    '::1',
    ':8080',
    '',
    hostname(),
  ])
    check('127.0.0.1', header, header === 'localhost');
});

test('the server’s own listening address is accepted, and no other', () => {
  check('192.0.2.1', '192.0.2.1:80', true);
  check('192.0.2.1', '192.0.2.2:80', false);
  check('2001:db8::1', '[2001:DB8::1]:80', true);
  check('192.0.2.1', 'localhost', true);
});

test('a server listening on all addresses accepts any address and its own name, but no other name', () => {
  for (const wildcard of ['0.0.0.0', '::']) {
    check(wildcard, '192.0.2.7:80', true);
    check(wildcard, '[2001:db8::7]', true);
    check(wildcard, hostname(), true);
    check(wildcard, 'attacker.example', false);
  }
});
