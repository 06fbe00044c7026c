import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import { test } from 'node:test';
import { errorCode } from '@podwright/base';
import { fuzz } from '../../base/src/fuzz.fixture.ts';
import { parseNetworkList, parsePlugin, parseSinglePlugin } from './network-list.ts';
import { decodeResult } from './result.ts';

const json = (value: unknown) => Buffer.from(JSON.stringify(value));

const results = [
  json({
    cniVersion: '1.0.0',
    interfaces: [{ name: 'eth0', mac: '02:00:00:00:00:01', sandbox: '/var/run/netns/x' }],
    ips: [{ address: '10.1.2.3/24', gateway: '10.1.2.1', interface: 0 }, { address: 'fd00::3/64' }],
    routes: [{ dst: '0.0.0.0/0', gw: '10.1.2.1' }],
    dns: { nameservers: ['10.1.2.1'], domain: 'x', search: ['x'], options: ['ndots:5'] },
  }),
  json({ cniVersion: '0.2.0', ip4: { ip: '10.1.2.3/24', gateway: '10.1.2.1', routes: [{ dst: '0.0.0.0/0' }] } }),
];

test('any plugin output is a result with valid addresses, or an error from the plugin', async () => {
  await fuzz({ samples: results, rounds: 5000 }, (input, random) => {
    try {
      const { ips, interfaces, routes } = decodeResult(input.toString(), random(2) === 0 ? '1.0.0' : '0.2.0');
      for (const { address, prefixLength, gateway, interfaceIndex } of ips) {
        assert.ok(isIP(address) !== 0 && prefixLength <= (isIP(address) === 4 ? 32 : 128), address);
        assert.ok(gateway === undefined || isIP(gateway) !== 0, gateway);
        assert.ok(interfaceIndex === undefined || interfaces[interfaceIndex] !== undefined, `${interfaceIndex}`);
      }
      for (const { dst } of routes) assert.ok(isIP(dst.split('/')[0]!) !== 0, dst);
    } catch (error) {
      assert.match(errorCode(error), /^(internal|invalid_argument)$/, String(error));
    }
  });
});

const networks = [
  json({
    cniVersion: '1.0.0',
    cniVersions: ['0.4.0', '1.0.0'],
    name: 'pods',
    disableCheck: 'true',
    plugins: [
      { type: 'bridge', bridge: 'b0', ipam: { type: 'host-local', ranges: [[{ subnet: '10.1.0.0/24' }]] } },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  }),
  json({ name: 'one', type: 'bridge', ipam: { type: 'host-local' } }),
];

test('any network configuration is rejected or has only safe names', async () => {
  const isFileName = (name: string) => name !== '' && name !== '.' && name !== '..' && !/[/\0]/.test(name);
  await fuzz({ samples: networks, rounds: 5000 }, (input) => {
    for (const parse of [parseNetworkList, parseSinglePlugin]) {
      try {
        const { name, plugins } = parse(input.toString());
        assert.ok(isFileName(name), name);
        for (const { type, ipamType } of plugins) assert.ok(isFileName(type) && isFileName(ipamType ?? 'x'), type);
      } catch (error) {
        assert.equal(errorCode(error), 'invalid_argument', String(error));
      }
    }
  });
});

test('unbounded nesting and numbers are rejected', () => {
  const deep = `{"type":"x","a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  assert.throws(() => parsePlugin(deep), { code: 'invalid_argument' });
  assert.throws(() => decodeResult(deep, '1.0.0'));
  assert.throws(() => decodeResult('{"ips":[{"address":"10.0.0.1/24","interface":1e999}]}', '1.0.0'));
});
