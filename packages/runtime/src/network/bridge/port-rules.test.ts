import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PortMapping } from '../network.ts';
import { portRules, requestedRules } from './port-rules.ts';

const mapping = (hostPort: number, hostIp = ''): PortMapping => ({
  ...{ protocol: 'tcp', containerPort: 80 },
  hostPort,
  hostIp,
});
const dual = ['10.88.0.2', 'fd00:88::2'];

/** Formats the rules for the requested ports as `IP-VERSION HOST-ADDRESS:PORT>POD`. */
const short = (...requested: ReturnType<typeof requestedRules>[]) =>
  portRules(requested).map(({ version, hostIp = '*', hostPort, ip }) => `${version} ${hostIp}:${hostPort}>${ip}`);

test('a port leads to the first pod address of each IP version that the host address covers', () => {
  const table: [string[], PortMapping, string[]][] = [
    [dual, mapping(1), ['4 *:1>10.88.0.2', '6 *:1>fd00:88::2']],
    [[...dual, '10.88.0.3'], mapping(1, '0.0.0.0'), ['4 *:1>10.88.0.2']],
    [dual, mapping(1, '::'), ['6 *:1>fd00:88::2']],
    [dual, mapping(1, '192.0.2.1'), ['4 192.0.2.1:1>10.88.0.2']],
    [dual, mapping(1, '2001:db8::1'), ['6 2001:db8::1:1>fd00:88::2']],
    [['10.88.0.2'], mapping(1, '2001:db8::1'), []],
    [dual, mapping(0), []],
    [[], mapping(1), []],
  ];
  for (const [ips, requested, expected] of table)
    assert.deepEqual(
      short(requestedRules('a', { ips, mappings: [requested] })),
      expected,
      JSON.stringify([ips, requested]),
    );
});

test('the first of several requests for a port wins, and a later one for all addresses gets the remaining ones', () => {
  const of = (id: string, ip: string, ...mappings: PortMapping[]) => requestedRules(id, { ips: [ip], mappings });
  const every = of('a', '10.88.0.2', mapping(1));
  const everyToo = of('b', '10.88.0.3', mapping(1), mapping(2));
  const one = of('c', '10.88.0.4', mapping(1, '127.0.0.1'));
  assert.deepEqual(short(every, everyToo), ['4 *:1>10.88.0.2', '4 *:2>10.88.0.3']);
  assert.deepEqual(short(everyToo, every), ['4 *:1>10.88.0.3', '4 *:2>10.88.0.3']);
  assert.deepEqual(short(every, one), ['4 *:1>10.88.0.2']);
  assert.deepEqual(short(one, every), ['4 127.0.0.1:1>10.88.0.4', '4 *:1>10.88.0.2']);
  const udp = requestedRules('d', { ips: ['10.88.0.5'], mappings: [{ ...mapping(1), protocol: 'udp' }] });
  assert.equal(short(every, udp).length, 2);
});

test('an invalid host address is rejected', () => {
  const mappings = [mapping(1, 'localhost')];
  assert.throws(() => requestedRules('a', { ips: dual, mappings }), { code: 'invalid_argument' });
});
