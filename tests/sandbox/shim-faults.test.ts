import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { sandboxOf } from '../../packages/runtime/src/sandbox/sandbox.suite.ts';
import { socketPath } from '../../packages/shim/src/shim-endpoint.ts';
import { unmountTree } from '../../packages/system/src/mountinfo.ts';
import { loadSystem } from '../../packages/system/src/system.ts';
import { makeSandboxParts } from './place.fixture.ts';
import { openShimController } from './shim.fixture.ts';

const state = mkdtempSync('/tmp/pwt-sandbox-');
chmodSync(state, 0o711);
const signal = new AbortController().signal;
let opened: Awaited<ReturnType<typeof openShimController>>;
before(async () => {
  opened = await openShimController(state, { graceMs: 500 });
});
after(async () => {
  await opened.close();
  unmountTree(loadSystem(), state);
  rmSync(state, { recursive: true });
});

async function make(mood = '') {
  const sandbox = sandboxOf({ annotations: { 'test.podwright/shim': mood } });
  await opened.controller.create(sandbox, signal);
  await opened.controller.start(sandbox, signal);
  return sandbox;
}

/** Returns the PIDs of processes whose command line contains these arguments. */
function processesWith(...wanted: string[]): number[] {
  const commandOf = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    } catch {
      return []; // the process has exited
    }
  };
  const has = (pid: string) => wanted.every((argument) => commandOf(pid).includes(argument));
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && has(name))
    .map(Number);
}

/** Removes the sandbox, and asserts that its shim and its process are gone. */
async function removeAll(id: string, pid: unknown): Promise<void> {
  await opened.controller.remove(id);
  assert.deepEqual(await opened.controller.list(), []);
  assert.deepEqual(processesWith(id), []);
  assert.ok(!processesWith('catatonit').includes(Number(pid)));
}

test('a shim that does not stop its sandbox is killed, and its binary performs the cleanup', async () => {
  const sandbox = await make('hangs');
  const { pid } = await opened.controller.describe!(sandbox);
  assert.ok(processesWith('catatonit').includes(Number(pid)));
  await opened.controller.stop(sandbox.id);
  await removeAll(sandbox.id, pid);
});

test('the death of a shim is reported, and its sandbox is removed without it', async () => {
  const sandbox = await make();
  const { pid } = await opened.controller.describe!(sandbox);
  const lost = new Promise<string>((resolve) => {
    opened.controller.onLost((id, reason) => id === sandbox.id && resolve(reason));
  });
  const [shim] = processesWith(sandbox.id, 'serve');
  process.kill(shim!, 'SIGKILL');
  assert.match(await lost, /shim/);
  assert.equal((await opened.controller.status(sandbox)).alive, false);
  await removeAll(sandbox.id, pid);
});

test('a sandbox without a process, such as those of containerd 1.7 for runc, is alive until it is stopped', async () => {
  const lost: string[] = [];
  opened.controller.onLost((id) => lost.push(id));
  const sandbox = await make('empty');
  assert.deepEqual(await opened.controller.status(sandbox), { alive: true });
  await assert.rejects(opened.controller.sharedPidNamespace(sandbox), { code: 'failed_precondition' });
  assert.deepEqual(lost, []);
  await opened.controller.stop(sandbox.id);
  assert.equal((await opened.controller.status(sandbox)).alive, false);
  assert.deepEqual(lost, []);
  await removeAll(sandbox.id, undefined);
});

for (const when of ['earlier', 'meanwhile'])
  test(`the socket of a shim that died ${when} is removed also if its binary fails to clean up`, async () => {
    const sandbox = await make('empty');
    const lost = new Promise<void>((resolve) => {
      opened.controller.onLost((id) => id === sandbox.id && resolve());
    });
    const { shim } = (await opened.controller.describe!(sandbox)) as { shim: { address: string } };
    const socket = socketPath(shim.address);
    assert.ok(existsSync(socket));
    mkdirSync(join(state, 'shims/bundles', sandbox.id, 'sandbox.pid')); // where the binary expects a file
    const [pid] = processesWith(sandbox.id, 'serve');
    process.kill(pid!, 'SIGKILL');
    if (when === 'earlier') await lost;
    await removeAll(sandbox.id, undefined);
    assert.ok(!existsSync(socket));
  });

test('a sandbox rejected by its shim leaves no shim behind', async () => {
  const sandbox = sandboxOf({ annotations: { 'test.podwright/shim': 'refuses' } });
  await opened.controller.create(sandbox, signal);
  await assert.rejects(opened.controller.start(sandbox, signal), { code: 'resource_exhausted' });
  await removeAll(sandbox.id, undefined);
});

test('a damaged sandbox record is an error with its path, and the sandbox keeps running', async () => {
  const sandbox = await make();
  const path = join(state, 'shims/bundles', sandbox.id, 'sandbox.json');
  const record = readFileSync(path);
  writeFileSync(path, '{"version":1,"program":');
  assert.deepEqual(await opened.controller.status(sandbox), { alive: true });
  await assert.rejects(opened.controller.stop(sandbox.id), { code: 'data_loss', message: new RegExp(path) });
  const { version, ...before } = JSON.parse(record.toString());
  assert.equal(version, 1);
  writeFileSync(path, JSON.stringify(before)); // in the earlier format, without a version
  const { pid } = await opened.controller.describe!(sandbox);
  await removeAll(sandbox.id, pid);
});

test('a sandbox whose shim cannot be found because of a damaged record is not alive, and can be removed completely', async () => {
  const sandbox = await make('empty');
  const path = join(state, 'shims/bundles', sandbox.id, 'shim.json');
  writeFileSync(path, 'damaged');
  const status = await opened.controller.status(sandbox);
  assert.ok(!status.alive && status.reason.includes(path));
  await removeAll(sandbox.id, undefined);
});

test('a sandbox of which only the shim is left after removal by another controller is listed, and can be removed completely', async () => {
  const sandbox = await make();
  const { pid } = await opened.controller.describe!(sandbox);
  const { namespaces, directories } = makeSandboxParts(state);
  namespaces.release(sandbox.id);
  directories.remove(sandbox.id);
  assert.deepEqual(await opened.controller.list(), [sandbox.id]);
  await removeAll(sandbox.id, pid);
});
