import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorMessage } from '@podwright/base';
import { parseNetworkList, parseSinglePlugin } from './network-list.ts';

const plugins = [{ type: 'bridge', ipam: { type: 'host-local' }, capabilities: { portMappings: true, mac: false } }];

test('a network list is parsed with its versions, flags and plugins', () => {
  const list = parseNetworkList(
    JSON.stringify({
      name: 'net',
      cniVersion: '0.4.0',
      cniVersions: ['1.0.0', '9.0.0'],
      disableCheck: 'True',
      plugins,
    }),
  );
  assert.equal(list.cniVersion, '1.0.0');
  assert.deepEqual(list.cniVersions, ['1.0.0', '9.0.0', '0.4.0']);
  assert.equal(list.disableCheck, true);
  assert.equal(list.disableGC, false);
  assert.deepEqual(list.plugins[0]?.capabilities, ['portMappings']);
  assert.equal(list.plugins[0]?.ipamType, 'host-local');
});

test('a configuration without a version defaults to 0.1.0', () => {
  assert.equal(parseSinglePlugin('{"name":"net","type":"bridge"}').cniVersion, '0.1.0');
});

function checkRejected(parse: (text: string) => unknown, value: unknown, reason: RegExp) {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  assert.throws(
    () => parse(text),
    (error) => reason.test(errorMessage(error)),
    text.slice(0, 100),
  );
}

test('an invalid network list is rejected with its reason', () => {
  const table: [unknown, RegExp][] = [
    ['', /not JSON/],
    ['[]', /not a JSON object/],
    [`{"a":${'['.repeat(100)}${']'.repeat(100)}}`, /nested more than 64 deep/],
    [{ plugins }, /'name' is missing/],
    [{ name: '../etc', plugins }, /'name' may have/],
    [{ name: 'net', plugins: [] }, /'plugins' is empty/],
    [{ name: 'net', plugins: {} }, /'plugins' is not a list/],
    [{ name: 'net', plugins: [{}] }, /plugins\[0\]: 'type' is missing/],
    [{ name: 'net', plugins: [{ type: '../sh' }] }, /not a file name/],
    [{ name: 'net', plugins: [{ type: 'a', ipam: { type: 'b/c' } }] }, /'ipam.type'/],
    [{ name: 'net', plugins: Array(65).fill({ type: 'a' }) }, /more than 64/],
    [{ name: 'net', plugins, cniVersion: '2.0.0' }, /newer than 1.1.0/],
    [{ name: 'net', plugins, cniVersion: 1 }, /not a version/],
    [{ name: 'net', plugins, cniVersions: '1.0.0' }, /not a list/],
    [{ name: 'net', plugins, disableGC: 'yes' }, /'disableGC' is neither/],
    [{ name: 'net', loadOnlyInlinedPlugins: true }, /no 'plugins'/],
    [{ name: 'net', type: 'bridge' }, /belongs in a .conf/],
  ];
  for (const [value, reason] of table) checkRejected(parseNetworkList, value, reason);
});

test('an invalid single plugin is rejected with its reason', () => {
  checkRejected(parseSinglePlugin, { name: 'net' }, /'type' is missing/);
  checkRejected(parseSinglePlugin, { name: 'net', plugins }, /belongs in a .conflist/);
});
