import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isProxyable, proxyableAddress } from './proxyable-address.ts';

const PROXYABLE = ['10.0.0.1', '192.168.1.1', '172.16.0.9', '1.1.1.1', '240.0.0.1', 'fd00::1', '2001:db8::1'];
const REFUSED = [
  ...['127.0.0.1', '127.255.255.255', '0.0.0.0', '255.255.255.255', '169.254.169.254', '224.0.0.1', '239.255.255.255'],
  ...['::', '::1', 'fe80::1', 'febf::1', 'ff02::1', '::ffff:127.0.0.1', '::ffff:a9fe:a9fe', '::ffff:0.0.0.0'],
  ...['', 'host', '10.0.0', '010.0.0.1', '0x7f.1', '2130706433', '10.0.0.1/8', 'fe80::1%lo', '10.0.0.1%lo', '[::1]'],
];

test('refuses loopback, link-local, multicast and unspecified addresses in any notation', () => {
  for (const address of PROXYABLE) assert.equal(isProxyable(address), true, address);
  for (const address of REFUSED) assert.equal(isProxyable(address), false, address);
});

test('resolves names, and refuses those that resolve to refused addresses', async () => {
  assert.equal(await proxyableAddress('10.1.2.3'), '10.1.2.3');
  await assert.rejects(proxyableAddress('localhost'), /^ApiError: address not allowed$/);
  await assert.rejects(proxyableAddress('::1'), /address not allowed/);
  await assert.rejects(
    proxyableAddress('no-such-host.invalid'),
    /^ApiError: lookup no-such-host\.invalid: no such host$/,
  );
});
