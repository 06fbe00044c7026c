import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import { parseAddresses, parseForwardedPort } from './forwarded-ports.ts';

const pod = {
  metadata: { name: 'web' },
  spec: {
    containers: [{ name: 'a', image: 'x', ports: [{ name: 'http', containerPort: 80 }, { containerPort: 81 }] }],
  },
} as unknown as Pod;

test('ports are in kubectl’s format', () => {
  const check = (text: string, local: number, remote: number) =>
    assert.deepEqual(parseForwardedPort(text, pod), { local, remote }, text);
  check('80', 80, 80);
  check('8080:80', 8080, 80);
  check(':80', 0, 80);
  check('0:80', 0, 80);
  check('http', 80, 80);
  check('8080:http', 8080, 80);
  for (const wrong of ['', ':', '80:', '0', '65536', '70000:80', '80:90:100', '8080:https', '-1', 'a:80', '1.5']) {
    assert.throws(
      () => parseForwardedPort(wrong, pod),
      { code: 'invalid_argument', message: /^port-forward: "/ },
      wrong,
    );
  }
});

test('localhost means both of its addresses, IPv6 only if available, and no address is used twice', () => {
  const local = [
    { address: '127.0.0.1', optional: false },
    { address: '::1', optional: true },
  ];
  assert.deepEqual(parseAddresses('localhost'), local);
  assert.deepEqual(parseAddresses('localhost,10.0.0.1'), [...local, { address: '10.0.0.1', optional: false }]);
  assert.deepEqual(parseAddresses('0.0.0.0,localhost,10.0.0.1,0.0.0.0'), [
    { address: '0.0.0.0', optional: false },
    { address: '::1', optional: true },
  ]);
  assert.deepEqual(parseAddresses('localhost,::'), [{ address: '::', optional: false }]);
  assert.throws(() => parseAddresses('example.com'), { code: 'invalid_argument' });
});
