import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '@podwright/base';
import type { KubeletOptions } from '@podwright/kubelet';
import { completeConfiguration, kubeletServerOptions } from '@podwright/kubelet-configuration';
import { kubeletOptions } from '../../kubelet/src/options.ts';
import { effectiveConfiguration } from './effective-configuration.ts';

type Shown = Record<string, unknown>;

function shown(given: Partial<KubeletOptions>, configured: Record<string, unknown> = {}): Shown {
  const needed = { manifestDir: '/m', runtimeEndpoint: '/r', nodeName: 'node', logger: silentLogger };
  const fields = new Map(Object.entries(configured).map(([name, value]) => [name, { value, place: 'test' }]));
  const configuration = fields.size === 0 ? undefined : completeConfiguration(fields);
  return effectiveConfiguration(kubeletOptions({ ...needed, ...given }), configuration) as Shown;
}

const MIB = 2 ** 20;
const reserved = { memoryBytes: 300 * MIB, pids: 1024, cpuMillis: 250, ephemeralStorageBytes: 0 };

test('image, log, reservation and server options are shown without a configuration file', () => {
  const { images, containerLog } = kubeletOptions({
    ...{ manifestDir: '', runtimeEndpoint: '', nodeName: '', logger: silentLogger },
  });
  const node = shown({
    images: { ...images, verification: { kind: 'NeverVerifyAllowlistedImages', allowlist: ['registry.example/*'] } },
    containerLog: { ...containerLog, maxSizeBytes: 3 * MIB },
    systemReserved: reserved,
    cgroupDriver: 'systemd',
    server: kubeletServerOptions({ port: 0, authentication: { anonymous: true } }),
  });
  assert.equal(node.imagePullCredentialsVerificationPolicy, 'NeverVerifyAllowlistedImages');
  assert.deepEqual(node.preloadedImagesVerificationAllowlist, ['registry.example/*']);
  assert.deepEqual(node.systemReserved, { cpu: '250m', memory: '300Mi', pid: '1024' });
  assert.deepEqual([node.containerLogMaxSize, node.cgroupDriver], ['3Mi', 'systemd']);
  assert.deepEqual([node.enableServer, node.failCgroupV1, node.oomScoreAdj], [false, false, undefined]);
  assert.equal((node.authorization as Shown).mode, 'AlwaysAllow');
});

test('configured quantities are shown as written in the file, and the two reservations separately', () => {
  const configured = {
    containerLogMaxSize: '10240Ki',
    systemReserved: { memory: '0.25Gi', cpu: '0.25' },
    kubeReserved: { memory: '44Mi' },
  };
  const node = shown({ systemReserved: { ...reserved, pids: 0 } }, configured);
  assert.deepEqual(node.systemReserved, { cpu: '0.25', memory: '0.25Gi' });
  assert.deepEqual([node.kubeReserved, node.containerLogMaxSize], [{ memory: '44Mi' }, '10240Ki']);
  assert.deepEqual([node.failCgroupV1, node.enableServer], [true, true]);
  const nothing = { memoryBytes: 0, pids: 0, cpuMillis: 0, ephemeralStorageBytes: 0 };
  assert.equal(shown({ systemReserved: nothing }).systemReserved, undefined);
});
