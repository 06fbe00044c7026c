import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromBinary } from '@bufbuild/protobuf';
import { ContainerSchema, PodSandboxSchema } from '@podwright/nri';
import type { OciSpec } from '@podwright/oci';
import type { ContainerRecord, ContainerState } from '../records/container-record.ts';
import type { SandboxRecord } from '../records/sandbox-record.ts';
import { MessageEncoder } from './message-encoder.ts';
import { containerMessage, podMessage } from './messages.ts';

const spec = {
  process: { args: ['sleep', '1'], env: ['A=1'], oomScoreAdj: 5 },
  mounts: [{ destination: '/proc', type: 'proc', source: 'proc', options: ['nosuid'] }],
  linux: { resources: { memory: { limit: 1 << 20 } }, cgroupsPath: '/pods/c' },
} as unknown as OciSpec;

const containerRecord = (state: ContainerState, config: Partial<ContainerRecord['config']> = {}): ContainerRecord =>
  ({
    id: 'c',
    sandboxId: 's',
    image: { id: 'sha256:1', repoDigest: 'image@sha256:2', config: {} },
    config: {
      name: 'main',
      image: { reference: 'image' },
      labels: { a: '1' },
      annotations: { b: '2' },
      security: { seccomp: { type: 'runtime-default' } },
      ...config,
    },
    createdAtMs: 1,
    state,
  }) as ContainerRecord;

const STATES: ContainerState[] = [
  { phase: 'creating' },
  { phase: 'created' },
  { phase: 'starting' },
  { phase: 'running', pid: 7, startedAtMs: 2 },
  { phase: 'exited', startedAtMs: 2, finishedAtMs: 3, exitCode: 4, reason: 'Error', message: 'failed' },
];

test('an encoded container equals its message in every state, and its OCI spec is read once', () => {
  const encoder = new MessageEncoder();
  const first = containerRecord(STATES[0]!);
  let reads = 0;
  const readSpec = () => {
    reads++;
    return spec;
  };
  for (const state of STATES) {
    const record = { ...first, state };
    const pid = state.phase === 'starting' ? 7 : undefined;
    const encoded = encoder.container(record, { spec: readSpec, pid });
    assert.deepEqual(fromBinary(ContainerSchema, encoded), containerMessage(record, { spec, pid }));
  }
  assert.equal(reads, 1);
});

test('a container with a changed configuration is encoded again', () => {
  const encoder = new MessageEncoder();
  const record = containerRecord({ phase: 'created' });
  encoder.container(record, { spec: () => spec, pid: undefined });
  const changed = { ...spec, process: { ...spec.process, oomScoreAdj: 6 } };
  const updated = { ...record, config: { ...record.config } };
  const encoded = encoder.container(updated, { spec: () => changed, pid: undefined });
  assert.deepEqual(fromBinary(ContainerSchema, encoded), containerMessage(updated, { spec: changed }));
});

test('a pod is encoded once for each of its records', () => {
  const encoder = new MessageEncoder();
  const config = {
    podName: 'web',
    podUid: 'u',
    podNamespace: 'default',
    labels: {},
    annotations: {},
    cgroupParent: '/p',
  };
  const record = { id: 's', config, ips: ['10.0.0.2'], state: { phase: 'ready' } } as unknown as SandboxRecord;
  const namespaces = { network: '/ns/net' };
  const encoded = encoder.pod(record, () => namespaces);
  assert.deepEqual(fromBinary(PodSandboxSchema, encoded), podMessage(record, namespaces));
  assert.equal(
    encoder.pod(record, () => assert.fail('the pod is encoded again')),
    encoded,
  );
  const stopped = { ...record, ips: [] };
  assert.deepEqual(
    fromBinary(
      PodSandboxSchema,
      encoder.pod(stopped, () => ({})),
    ),
    podMessage(stopped, {}),
  );
});
