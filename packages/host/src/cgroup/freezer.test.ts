import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { waitFor } from '@podwright/base';
import { freezeCgroup, isFrozenCgroup, thawCgroup } from './freezer.ts';
import type { CgroupHierarchy } from './hierarchy.ts';

type Fake = { hierarchy: CgroupHierarchy; file: (path: string, name: string) => string };

/** Creates a fake freezer, for cgroup v1 or v2, with the cgroups /pods, /pods/one and /pods/one/inner. */
function fake(t: TestContext, version: 1 | 2): Fake {
  const mountPoint = mkdtempSync(join(tmpdir(), 'podwright-freezer-'));
  t.after(() => rmSync(mountPoint, { recursive: true }));
  const file = (path: string, name: string) => join(mountPoint, path, name);
  for (const path of ['pods', 'pods/one', 'pods/one/inner']) {
    mkdirSync(join(mountPoint, path));
    const files =
      version === 1
        ? { 'freezer.state': 'THAWED\n', 'freezer.self_freezing': '0\n' }
        : { 'cgroup.freeze': '0\n', 'cgroup.events': 'populated 1\nfrozen 1\n' };
    for (const [name, text] of Object.entries(files)) writeFileSync(file(path, name), text);
  }
  const mode = version === 1 ? 'v1' : 'v2';
  return { hierarchy: { mode, trees: [{ version, mountPoint, controllers: version === 1 ? ['freezer'] : [] }] }, file };
}

for (const [version, name, frozen, thawed] of [
  [1, 'freezer.state', 'FROZEN', 'THAWED'],
  [2, 'cgroup.freeze', '1', '0'],
] as const) {
  test(`v${version}: a cgroup is frozen until the result is disposed of`, async (t) => {
    const { hierarchy, file } = fake(t, version);
    const state = () => readFileSync(file('pods/one', name), 'utf8').slice(0, frozen.length);
    const beforeMs = Date.now();
    {
      await using found = await freezeCgroup(hierarchy, '/pods/one', { maxMs: 10_000 });
      assert.equal(state(), frozen);
      assert.ok(found !== undefined && found.frozenAtMs >= beforeMs && found.frozenAtMs < Date.now());
    }
    assert.equal(state(), thawed);
    assert.equal(await freezeCgroup(hierarchy, '/pods/missing', { maxMs: 10_000 }), undefined);
    await assert.rejects(freezeCgroup(hierarchy, '/', { maxMs: 10_000 }), { code: 'invalid_argument' });
  });

  test(`v${version}: a cgroup is thawed when the process that froze it is killed, or its time is over`, async (t) => {
    const { hierarchy, file } = fake(t, version);
    const state = () => readFileSync(file('pods/one', name), 'utf8').trim();
    const isThawed = () => state() === thawed || undefined;
    const late = await freezeCgroup(hierarchy, '/pods/one', { maxMs: 10 });
    await waitFor(isThawed, { intervalMs: 5, signal: AbortSignal.timeout(10_000) });
    await late![Symbol.asyncDispose]();
    const options = JSON.stringify([hierarchy, '/pods/one', { maxMs: 60_000 }]);
    const script = `import { freezeCgroup } from '${new URL('freezer.ts', import.meta.url)}';
      await freezeCgroup(...${options}); console.log('frozen'); setInterval(() => {}, 1000);`;
    const stdio = ['ignore', 'pipe', 'inherit'] as const;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: [...stdio] });
    await once(child.stdout!, 'data');
    assert.match(state(), new RegExp(`^${frozen}`));
    child.kill('SIGKILL');
    await waitFor(isThawed, { intervalMs: 5, signal: AbortSignal.timeout(10_000) });
  });

  test(`v${version}: a cgroup that was left frozen is thawed, and its descendants are frozen until then`, async (t) => {
    const { hierarchy, file } = fake(t, version);
    const frozenItself = file('pods/one', version === 1 ? 'freezer.self_freezing' : 'cgroup.freeze');
    assert.equal(thawCgroup(hierarchy, '/pods/one'), false);
    writeFileSync(frozenItself, '1\n');
    const frozenOnes = () => ['/pods', '/pods/one', '/pods/one/inner'].map((path) => isFrozenCgroup(hierarchy, path));
    assert.deepEqual(frozenOnes(), [false, true, true]);
    assert.equal(await freezeCgroup(hierarchy, '/pods/one', { maxMs: 10 }), undefined, 'another program froze it');
    assert.equal(thawCgroup(hierarchy, '/pods/one'), true);
    assert.match(readFileSync(file('pods/one', name), 'utf8'), new RegExp(`^${thawed}`));
    assert.equal(thawCgroup(hierarchy, '/pods/missing'), false);
  });
}

test('a cgroup is not frozen if no process could thaw it', async (t) => {
  const { hierarchy, file } = fake(t, 2);
  const start = () => ({ pid: undefined, exitCode: null, signalCode: null, stdio: [], on: () => start() }) as never;
  assert.equal(await freezeCgroup(hierarchy, '/pods/one', { maxMs: 10, start }), undefined);
  assert.equal(readFileSync(file('pods/one', 'cgroup.freeze'), 'utf8'), '0\n');
});
