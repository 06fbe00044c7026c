import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { noFailpoint, silentLogger } from '@podwright/base';
import { create, RunPodSandboxRequestSchema, StopPodSandboxRequestSchema } from '@podwright/cri';
import { CheckpointStore } from '../checkpoints/checkpoint-store.ts';
import type { ContainerSpec } from '../engine/engine-types.ts';
import type { DockershimServices } from '../services.ts';
import { sandboxDependencies } from './sandbox-dependencies.ts';
import { sandboxRun } from './sandbox-run.ts';
import { sandboxStop } from './sandbox-stop.ts';

const ID = 'a'.repeat(64);
const context = { signal: AbortSignal.timeout(30_000), service: '', method: '' };

/** A fake Engine with a single container, which is always running. */
function engineOf() {
  let made: { Name: string; Config: ContainerSpec } | undefined;
  const containers = {
    create: async (Name: string, Config: ContainerSpec) => {
      made = { Name, Config };
      return ID;
    },
    inspect: async () => ({ Id: ID, ...made, State: { Running: true, Pid: 1 }, HostConfig: { NetworkMode: 'none' } }),
    list: async () => [],
    start: async () => undefined,
    kill: async () => undefined,
  };
  return { containers };
}

test('a network that comes up after a stop removed it is removed by the next stop', async () => {
  const root = mkdtempSync(join(tmpdir(), 'pwd-stop-'));
  let isAttached = false;
  const network = {
    name: 'cni',
    dockerNetworkMode: 'none',
    setUpPod: async () => {
      await stop(); // a client whose call timed out stops the sandbox meanwhile
      isAttached = true;
      return { ips: ['10.88.0.2'] };
    },
    tearDownPod: async () => {
      isAttached = false;
    },
  };
  const options = { sandboxImage: 'pause' };
  const services = { engine: engineOf(), network, options, logger: silentLogger, failpoint: noFailpoint };
  const dependencies = sandboxDependencies({
    services: services as unknown as DockershimServices,
    checkpoints: new CheckpointStore(root, silentLogger),
    ensureImage: async () => undefined,
    removeContainer: async () => undefined,
  });
  const stop = () => sandboxStop(dependencies)(create(StopPodSandboxRequestSchema, { podSandboxId: ID }), context);
  const metadata = { name: 'web', namespace: 'default', uid: 'u', attempt: 0 };
  try {
    await sandboxRun(dependencies)(create(RunPodSandboxRequestSchema, { config: { metadata } }), context);
    assert.equal(isAttached, true);
    await stop();
    assert.equal(isAttached, false);
  } finally {
    rmSync(root, { recursive: true });
  }
});
