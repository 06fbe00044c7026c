import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostsFile, resolvConf } from './sandbox-files.ts';

test('resolv.conf contains the DNS configuration, and is empty if that is', () => {
  const dns = { servers: ['10.0.0.10', '8.8.8.8'], searches: ['a.local', 'b.local'], options: ['ndots:5'] };
  assert.equal(resolvConf(dns), 'search a.local b.local\nnameserver 10.0.0.10\nnameserver 8.8.8.8\noptions ndots:5\n');
  assert.equal(resolvConf({ servers: [], searches: [], options: [] }), '');
});

test('the hosts file lists localhost and each pod address', () => {
  const lines = hostsFile('web', ['10.1.0.5', 'fd00::5']).split('\n');
  assert.equal(lines[0], '127.0.0.1\tlocalhost');
  assert.deepEqual(lines.slice(-3), ['10.1.0.5\tweb', 'fd00::5\tweb', '']);
});
