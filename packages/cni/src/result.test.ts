import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorMessage, PodwrightError } from '@podwright/base';
import { decodeResult } from './result.ts';

const modern = {
  cniVersion: '1.0.0',
  interfaces: [
    { name: 'cni0', mac: '00:11:22:33:44:55' },
    { name: 'eth0', mac: '99:88:77:66:55:44', sandbox: '/run/netns/blue' },
  ],
  ips: [
    { address: '10.1.0.5/16', gateway: '10.1.0.1', interface: 1 },
    { address: 'fd00::5/64', interface: 1 },
  ],
  routes: [{ dst: '0.0.0.0/0' }],
  dns: { nameservers: ['10.1.0.1'] },
};

test('a result of version 0.3.0 or later is decoded', () => {
  const result = decodeResult(JSON.stringify(modern), '1.0.0');
  assert.deepEqual(
    result.ips.map(({ address, prefixLength, gateway, interfaceIndex }) => [
      address,
      prefixLength,
      gateway,
      interfaceIndex,
    ]),
    [
      ['10.1.0.5', 16, '10.1.0.1', 1],
      ['fd00::5', 64, undefined, 1],
    ],
  );
  assert.deepEqual(
    result.interfaces.map(({ sandbox }) => sandbox),
    ['', '/run/netns/blue'],
  );
  assert.deepEqual(result.dns.nameservers, ['10.1.0.1']);
});

test('a result of version 0.1.0 or 0.2.0 is decoded', () => {
  const answer = {
    ip4: { ip: '10.1.0.5/16', gateway: '10.1.0.1', routes: [{ dst: '0.0.0.0/0' }] },
    ip6: { ip: 'fd00::5/64' },
  };
  const result = decodeResult(JSON.stringify(answer), '0.2.0');
  assert.deepEqual(
    result.ips.map(({ address }) => address),
    ['10.1.0.5', 'fd00::5'],
  );
  assert.equal(result.routes.length, 1);
});

test('a result without a version is assumed to have the requested one, and unknown fields are preserved', () => {
  const result = decodeResult('{"ips":[],"later":true}', '0.3.1');
  assert.deepEqual(result.raw, { ips: [], later: true, cniVersion: '0.3.1' });
});

test('an unusable result is rejected with its reason', () => {
  const table: [unknown, RegExp][] = [
    ['', /not JSON/],
    ['null', /not a JSON object/],
    ['{"ips":[{"address":"10.0.0.1"}]}', /prefix length/],
    ['{"ips":[{"address":"10.0.0.1/33"}]}', /ips.0.address/],
    ['{"ips":[{"address":"fe80::1%eth0/64"}]}', /ips.0.address/],
    ['{"ips":[{"address":"10.0.0.1/24","gateway":"x"}]}', /ips.0.gateway/],
    ['{"ips":[{"address":"10.0.0.1/24","interface":0}]}', /has 0 interfaces/],
    ['{"ips":[{"address":"10.0.0.1/24","interface":1.5}]}', /ips.0.interface/],
    ['{"ips":{}}', /ips/],
    [{ ips: Array(257).fill({ address: '10.0.0.1/24' }) }, /ips/],
    ['{"routes":[{"dst":"all"}]}', /routes.0.dst/],
    ['{"cniVersion":"0.2.0","ip4":{"ip":"10.0.0.1/24"}}', /requested was 1.0.0/],
    ['{"cniVersion":"2.0.0"}', /requested was 1.0.0/],
    ['{"cniVersion":[]}', /not a version/],
    ['{"dns":{"nameservers":["resolver"]}}', /dns.nameservers.0/],
  ];
  for (const [value, reason] of table) {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    assert.throws(
      () => decodeResult(text, '1.0.0'),
      (error) => reason.test(errorMessage(error)),
      text,
    );
  }
  assert.throws(() => decodeResult('{"ip4":{"ip":"fd00::1/64"}}', '0.2.0'), /not an IPv4/);
});

test('decoding any plugin output returns a usable result or throws a PodwrightError', () => {
  const random = seeded(20261);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const strange = ['null', '[]', '{}', '-1', '1e999', '"\\u0000"', '"10.0.0.1/24"', 'true', '{"__proto__":{"ips":[]}}'];
  const text = JSON.stringify(modern);
  for (let round = 0; round < 2000; round++) {
    let mutant = text;
    for (let change = 0; change < 1 + Math.floor(random() * 4); change++) {
      const at = Math.floor(random() * mutant.length);
      const length = Math.floor(random() * 8);
      mutant = mutant.slice(0, at) + pick(['', pick(strange), pick([...text])]) + mutant.slice(at + length);
    }
    checkDecodes(mutant, pick(['0.2.0', '0.4.0', '1.0.0']));
    checkDecodes(JSON.stringify(modern).replace(/"[^"]*"(?=[,}\]])/, pick(strange)), '1.0.0');
  }
});

function checkDecodes(text: string, version: string) {
  try {
    const result = decodeResult(text, version);
    JSON.stringify(result.raw);
    for (const { interfaceIndex } of result.ips) {
      assert.ok(interfaceIndex === undefined || result.interfaces[interfaceIndex] !== undefined);
    }
  } catch (error) {
    assert.ok(error instanceof PodwrightError, `${text}: ${error}`);
  }
}

/** A seeded generator of numbers in [0, 1) (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
