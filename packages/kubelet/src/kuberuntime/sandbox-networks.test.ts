import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CriClient, PodSandboxStatus } from '@podwright/cri';
import { SandboxNetworks } from './sandbox-networks.ts';

test('a pod has at most one address per family, with the node’s primary family first', () => {
  const others = ['nothing', '10.0.0.2', '10.0.0.3', 'fd00::3'].map((ip) => ({ ip }));
  const status = { id: 's', network: { ip: 'fd00::2', additionalIps: others } } as unknown as PodSandboxStatus;
  const ipsOn = (...hostIps: string[]) => new SandboxNetworks({} as CriClient, hostIps).note(status).ips;
  assert.deepEqual(ipsOn('192.0.2.1', '2001:db8::1'), ['10.0.0.2', 'fd00::2']);
  assert.deepEqual(ipsOn('2001:db8::1'), ['fd00::2', '10.0.0.2']);
  assert.deepEqual(ipsOn(), ['10.0.0.2', 'fd00::2']);
});
