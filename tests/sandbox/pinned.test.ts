import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { test } from 'node:test';
import { PodwrightError } from '@podwright/base';
import { loadSystem, unmountTree } from '@podwright/system';
import { PinnedController } from '../../packages/runtime/src/sandbox/pinned-controller.ts';
import { sandboxOf, testSandboxController } from '../../packages/runtime/src/sandbox/sandbox.suite.ts';
import { SharedPidInit } from '../../packages/runtime/src/sandbox/shared-pid-init.ts';
import { makeInfraParts } from './place.fixture.ts';

await testSandboxController(async (state) => {
  const parts = await makeInfraParts(state);
  return { controller: new PinnedController({ ...parts, init: new SharedPidInit(parts) }), close: parts.close };
});

test('only a pod with a shared PID namespace has an init process, from the start; a pod also starts if the init program is missing', async (t) => {
  const state = mkdtempSync('/tmp/pwt-sandbox-');
  const parts = await makeInfraParts(state);
  const { signal } = new AbortController();
  t.after(async () => {
    await parts.close();
    unmountTree(loadSystem(), state);
    rmSync(state, { recursive: true });
  });
  const check = async (pid: 'pod' | 'container', roots: typeof parts.roots, expected: string) => {
    const controller = new PinnedController({ ...parts, init: new SharedPidInit({ ...parts, roots }) });
    const sandbox = sandboxOf({ pid });
    await controller.create(sandbox, signal);
    await controller.start(sandbox, signal);
    assert.equal((await parts.process.resume(sandbox.id)).status, expected);
    assert.deepEqual(await controller.status(sandbox), { alive: true });
    await controller.remove(sandbox.id);
  };
  await check('pod', parts.roots, 'running');
  await check('container', parts.roots, 'absent');
  const refuse = () => Promise.reject(new PodwrightError('failed_precondition', 'no init program found'));
  await check('pod', Object.assign(Object.create(parts.roots), { prepare: refuse }), 'absent');
});
