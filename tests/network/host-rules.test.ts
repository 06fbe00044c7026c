import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { NetworkRequest } from '../../packages/runtime/src/network/network.ts';
import { inside, NetworkFixture } from './network.fixture.ts';

const subnets = '10.241.41.0/24,fd00:241:41::/64';

/** Lets the code under test make or remove the rules in a namespace that plays the host. */
function apply(host: NetworkRequest, command: 'ensure' | 'remove', path = process.env.PATH ?? '') {
  const script = join(import.meta.dirname, 'host-rules.inside.ts');
  inside(host, 'env', [`PATH=${path}`, process.execPath, script, command, 'pwt-rules0', subnets]);
}

const iptables = (host: NetworkRequest) => inside(host, 'iptables-save', []) + inside(host, 'ip6tables-save', []);
const ruleset = (host: NetworkRequest) => inside(host, 'nft', ['list', 'ruleset']);

test('a host that filters nothing gets one nft table, the same one however often it is made', async () => {
  await using fixture = new NetworkFixture('pwt-rules0', subnets);
  const host = fixture.pod('rules-nft');
  apply(host, 'ensure');
  const first = ruleset(host);
  assert.match(first, /table inet podwright_pwt-rules0/);
  assert.doesNotMatch(iptables(host), /PODWRIGHT/);
  apply(host, 'ensure');
  assert.equal(ruleset(host), first);
  apply(host, 'remove');
  assert.doesNotMatch(ruleset(host), /podwright/);
  apply(host, 'remove');
});

test('a host that drops what it forwards gets rules that accept the subnets', async () => {
  await using fixture = new NetworkFixture('pwt-rules0', subnets);
  const host = fixture.pod('rules-drop');
  inside(host, 'iptables', ['-w', '-P', 'FORWARD', 'DROP']);
  inside(host, 'ip6tables', ['-w', '-A', 'FORWARD', '-j', 'REJECT']);
  const before = ruleset(host);
  apply(host, 'ensure');
  const first = iptables(host);
  assert.match(first, /-A PODWRIGHT-pwt-rules0 -s 10\.241\.41\.0\/24 -j ACCEPT/);
  assert.match(first, /-A FORWARD -j PODWRIGHT-pwt-rules0\n-A FORWARD -j REJECT/);
  apply(host, 'ensure');
  assert.equal(withoutDates(iptables(host)), withoutDates(first));
  apply(host, 'remove');
  assert.equal(ruleset(host), before);
});

test('iptables masquerades and keeps pods from loopback addresses where nft does not work', async () => {
  await using fixture = new NetworkFixture('pwt-rules0', subnets);
  const host = fixture.pod('rules-iptables');
  const programs = join(fixture.directory, 'bin');
  mkdirSync(programs);
  writeFileSync(join(programs, 'nft'), '#!/bin/sh\nexit 1\n');
  chmodSync(join(programs, 'nft'), 0o755);
  const path = `${programs}:${process.env.PATH}`;
  apply(host, 'ensure', path);
  apply(host, 'ensure', path);
  const rules = iptables(host);
  assert.equal(rules.match(/-A POSTROUTING -j PODWRIGHT-pwt-rules0/g)?.length, 2);
  assert.match(rules, /-A PODWRIGHT-pwt-rules0 -s 10\.241\.41\.0\/24 -j MASQUERADE/);
  assert.match(rules, /-A PODWRIGHT-pwt-rules0 -s fd00:241:41::\/64 -j MASQUERADE/);
  assert.equal(rules.match(/-A INPUT -j PODWRIGHT-IN-pwt-rules0/g)?.length, 1);
  assert.match(rules, /-A PODWRIGHT-IN-pwt-rules0 -d 127\.0\.0\.0\/8 -i pwt-rules0 .*DNAT -j DROP/);
  apply(host, 'remove');
  assert.doesNotMatch(iptables(host), /PODWRIGHT/);
});

const withoutDates = (text: string): string => text.replace(/^#.*$/gm, '').replace(/\[\d+:\d+\]/g, '');
