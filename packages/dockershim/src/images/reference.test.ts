import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatReference, isMeant, parseReference } from './reference.ts';

const digest = `sha256:${'0a'.repeat(32)}`;

test('references are formatted as Docker lists them', () => {
  const check = (text: string, expected: string) => assert.equal(formatReference(parseReference(text)), expected, text);
  check('busybox', 'busybox:latest');
  check('docker.io/library/busybox:1.36', 'busybox:1.36');
  check('index.docker.io/library/busybox', 'busybox:latest');
  check('library/busybox', 'busybox:latest');
  check('docker.io/grafana/loki:3', 'grafana/loki:3');
  check('127.0.0.1:5000/a/b', '127.0.0.1:5000/a/b:latest');
  check('localhost/podwright/busybox:1', 'localhost/podwright/busybox:1');
  check('registry.k8s.io/pause:3.10', 'registry.k8s.io/pause:3.10');
  check(`busybox:1@${digest}`, `busybox@${digest}`);
});

test('a malformed reference is refused', () => {
  for (const text of ['', ':1', 'Busybox', 'a b', 'a//', 'busybox@sha256:xyz', '-a', 'a:b:c'])
    assert.throws(() => parseReference(text), { code: 'invalid_argument' }, text);
});

test('a short name does not match an image ID, although the Engine accepts it as a prefix', () => {
  const image = { Id: `sha256:cafe${'0'.repeat(60)}`, RepoTags: ['busybox:1'], RepoDigests: [`busybox@${digest}`] };
  const check = (text: string, expected: boolean) => assert.equal(isMeant(text, image), expected, text);
  check('cafe', false);
  check('cafe00000000', true);
  check(image.Id, true);
  check(image.Id.slice(7), true);
  check('busybox', false);
  check('docker.io/library/busybox:1', true);
  check(`busybox:9@${digest}`, true);
});
