import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Endpoint, formatEndpoint, parseEndpoint } from './endpoint.ts';

test('endpoints are parsed in the formats accepted by the kubelet’s flags', () => {
  const check = (text: string, expected: Endpoint) => assert.deepEqual(parseEndpoint(text), expected);
  check('unix:///run/containerd/containerd.sock', { kind: 'unix', path: '/run/containerd/containerd.sock' });
  check('/run/crio/crio.sock', { kind: 'unix', path: '/run/crio/crio.sock' });
  check('unix:/run/x.sock', { kind: 'unix', path: '/run/x.sock' });
  check('unix:////run//x.sock', { kind: 'unix', path: '/run/x.sock' });
  check('tcp://localhost:10250', { kind: 'tcp', host: 'localhost', port: 10_250 });
  check('tcp://[::1]:80', { kind: 'tcp', host: '::1', port: 80 });
});

test('invalid endpoints are rejected with the accepted formats', () => {
  const check = (text: string, words: RegExp) =>
    assert.throws(() => parseEndpoint(text), { code: 'invalid_argument', message: words });
  check('npipe:////./pipe/containerd', /named pipes exist on Windows only/);
  check('', /expected unix:/);
  check('containerd.sock', /expected unix:/);
  check('http://localhost', /expected unix:/);
  check('unix://relative.sock', /must be absolute/);
  check('tcp://localhost', /expected tcp:\/\/host:port/);
  check('tcp://localhost:0', /expected tcp:\/\/host:port/);
  check('tcp://localhost:65536', /expected tcp:\/\/host:port/);
  check(`/${'x'.repeat(107)}`, /108 bytes; Linux allows 107/);
});

test('endpoints are formatted as URLs', () => {
  assert.equal(formatEndpoint(parseEndpoint('/run/x.sock')), 'unix:///run/x.sock');
  assert.equal(formatEndpoint(parseEndpoint('tcp://[::1]:80')), 'tcp://[::1]:80');
});
