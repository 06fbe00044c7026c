import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseNetworkList } from './network-list.ts';
import { buildEnvironment, buildRequest } from './request.ts';

const list = parseNetworkList(
  JSON.stringify({
    name: 'net',
    cniVersion: '1.0.0',
    plugins: [
      {
        type: 'portmap',
        name: 'other',
        cniVersion: '0.3.0',
        snat: true,
        prevResult: {},
        'cni.dev/x': 1,
        capabilities: { portMappings: true },
      },
    ],
  }),
);
const plugin = list.plugins[0]!;

test('a request has the list’s name and version, preserves unknown fields, and has no reserved ones', () => {
  assert.deepEqual(buildRequest(list, plugin), { type: 'portmap', name: 'net', cniVersion: '1.0.0', snat: true });
});

test('a plugin receives only the values of its own capabilities', () => {
  const capabilityArgs = { portMappings: [{ hostPort: 80 }], bandwidth: { ingressRate: 1 } };
  const request = buildRequest(list, plugin, { capabilityArgs, prevResult: { ips: [] } });
  assert.deepEqual(request.runtimeConfig, { portMappings: [{ hostPort: 80 }] });
  assert.deepEqual(request.prevResult, { ips: [] });
});

test('arguments are joined by semicolons in order', () => {
  const environment = buildEnvironment('ADD', ['/a', '/b'], {
    containerId: 'c',
    ifName: 'eth0',
    netnsPath: '/run/netns/c',
    args: [
      ['IgnoreUnknown', '1'],
      ['K8S_POD_NAME', 'web'],
    ],
    capabilityArgs: {},
  });
  assert.equal(environment.CNI_ARGS, 'IgnoreUnknown=1;K8S_POD_NAME=web');
  assert.equal(environment.CNI_PATH, '/a:/b');
});
