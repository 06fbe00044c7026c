import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { newId } from '../metadata/ids.ts';
import type { SandboxController } from './sandbox-controller.ts';
import type { SandboxConfig, SandboxRecord } from './sandbox-record.ts';

/** A controller under test; `close` takes down what it needs. */
export type SandboxControllerUnderTest = { controller: SandboxController; close(): Promise<void> };

const signal = new AbortController().signal;

const plain: SandboxConfig = {
  podName: 'web',
  podUid: 'uid',
  podNamespace: 'default',
  attempt: 0,
  hostname: 'web',
  logDirectory: '',
  dns: { servers: ['10.0.0.10'], searches: [], options: [] },
  portMappings: [],
  labels: {},
  annotations: {},
  cgroupParent: '',
  network: 'pod',
  ipc: 'pod',
  pid: 'container',
  sysctls: {},
  privileged: false,
  runtimeHandler: '',
};

function sandboxOf(config: Partial<SandboxConfig> = {}): SandboxRecord {
  const state = { phase: 'creating' } as const;
  return { id: newId(), name: 'web', config: { ...plain, ...config }, state, createdAtMs: 0, ips: [] };
}

/** What every sandbox controller must do; see the contract. Needs root. */
export async function testSandboxController(open: () => Promise<SandboxControllerUnderTest>): Promise<void> {
  const { controller, close } = await open();
  after(close);
  const make = async (sandbox: SandboxRecord) => {
    await controller.create(sandbox, signal);
    await controller.start(sandbox, signal);
    await controller.setAddresses(sandbox, ['10.0.0.2']);
    return controller.environment(sandbox);
  };

  test('a sandbox is alive until it is stopped, and is not listed once it is removed', async () => {
    const sandbox = sandboxOf();
    const { files } = await make(sandbox);
    assert.equal(controller.environment(sandbox).namespaces.network, controller.netnsPath(sandbox));
    assert.deepEqual(await controller.status(sandbox), { alive: true });
    assert.equal(readFileSync(files.hostname, 'utf8'), 'web\n');
    assert.equal(readFileSync(files.resolvConf, 'utf8'), 'nameserver 10.0.0.10\n');
    assert.match(readFileSync(files.hosts, 'utf8'), /^10\.0\.0\.2\tweb$/m);
    assert.deepEqual(await controller.list(), [sandbox.id]);
    await controller.stop(sandbox.id);
    assert.equal((await controller.status(sandbox)).alive, false);
    await controller.remove(sandbox.id);
    assert.deepEqual(await controller.list(), []);
  });

  test('stop and remove may be called any number of times, and for what never was', async () => {
    const sandbox = sandboxOf();
    await make(sandbox);
    for (const id of [sandbox.id, newId()]) {
      await controller.stop(id);
      await controller.stop(id);
      await controller.remove(id);
      await controller.remove(id);
    }
    assert.deepEqual(await controller.list(), []);
  });

  test('what was only begun is removed as well', async () => {
    const sandbox = sandboxOf();
    await controller.create(sandbox, signal);
    await controller.remove(sandbox.id);
    assert.deepEqual(await controller.list(), []);
  });

  test('a sandbox in the namespaces of the machine has none of its own', async () => {
    const sandbox = sandboxOf({ network: 'node', ipc: 'node' });
    const { namespaces, shm } = await make(sandbox);
    assert.deepEqual(namespaces, { network: undefined, ipc: undefined, uts: undefined });
    assert.equal(shm, '/dev/shm');
    assert.deepEqual(await controller.status(sandbox), { alive: true });
    await controller.remove(sandbox.id);
  });

  test('a sysctl of the machine is refused, and leaves nothing', async () => {
    const sandbox = sandboxOf({ sysctls: { 'vm.swappiness': '1' } });
    await assert.rejects(make(sandbox), { code: 'invalid_argument' });
    await controller.remove(sandbox.id);
    assert.deepEqual(await controller.list(), []);
  });
}
