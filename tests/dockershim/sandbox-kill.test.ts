import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { PodSandboxState } from '@podwright/cri';
import { recoverSandboxes } from '../../packages/dockershim/src/sandbox/recover-sandboxes.ts';
import { openShim, podConfig, remains, startPlace } from './sandbox-place.fixture.ts';

const CHILD = fileURLToPath(new URL('./sandbox-child.ts', import.meta.url));
const SOURCE = fileURLToPath(new URL('../../packages/dockershim/src/sandbox', import.meta.url));

/** Returns all stages (failpoints) found in the source code, so that new ones are tested automatically. */
function stagesInCode(): string[] {
  const texts = readdirSync(SOURCE).map((name) => readFileSync(join(SOURCE, name), 'utf8'));
  return texts.flatMap((text) => [...text.matchAll(/failpoint\('([a-z-]+\/[a-z-]+)'\)/g)].map(([, stage]) => stage!));
}

let started: Awaited<ReturnType<typeof startPlace>>;
before(async () => {
  started = await startPlace();
});
after(() => started.end());

test('each call that changes a sandbox has stages', () => {
  const verbs = new Set(stagesInCode().map((stage) => stage.split('/')[0]));
  assert.deepEqual([...verbs].sort(), ['sandbox-remove', 'sandbox-run', 'sandbox-stop']);
});

for (const stage of stagesInCode()) {
  test(`killed at ${stage}, the next start cleans up the sandbox, and a retry succeeds`, async () => {
    const { place } = started;
    const child = spawn(process.execPath, [CHILD, JSON.stringify(place), stage], { stdio: 'inherit' });
    assert.deepEqual(await once(child, 'exit'), [null, 'SIGKILL']);
    const shim = await openShim(place);
    try {
      await recoverSandboxes(shim.dependencies, AbortSignal.timeout(60_000));
      const left = await shim.list();
      // startup rolls back incomplete sandboxes; complete ones and those being removed are left to the client
      const isWhole =
        ['sandbox-run/network-up', 'sandbox-stop/stopped'].includes(stage) || stage.startsWith('sandbox-remove');
      if (!isWhole) assert.deepEqual(left, []);
      for (const { id, state } of left) {
        const isReady = state === PodSandboxState.SANDBOX_READY;
        assert.equal(isReady, stage === 'sandbox-run/network-up');
        await shim.stop(id);
        await shim.remove(id);
      }
      const id = await shim.run(podConfig('victim'));
      await shim.stop(id);
      await shim.remove(id);
      assert.deepEqual(await remains(place), []);
    } finally {
      shim.close();
    }
  });
}
