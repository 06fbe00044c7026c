import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { waitFor } from '@podwright/base';
import {
  type CgroupHierarchy,
  cgroupDirectory,
  discoverCgroups,
  freezeCgroup,
  killCgroup,
  measureTree,
  removeCgroup,
  thawCgroup,
} from '@podwright/host';

const found = await discoverCgroups();
/** The cgroup hierarchies on this host that can freeze processes. */
const trees = found.trees.filter(({ version, controllers }) => version === 2 || controllers.includes('freezer'));
const bound = () => AbortSignal.timeout(20_000);

type Running = { hierarchy: CgroupHierarchy; path: string; directory: string };

/** Runs a shell script in a scratch directory, in a nested cgroup created for it in the given hierarchy only. */
async function running(t: TestContext, tree: CgroupHierarchy['trees'][number], script: string): Promise<Running> {
  const hierarchy: CgroupHierarchy = { mode: tree.version === 1 ? 'v1' : 'v2', trees: [tree] };
  const path = `/pwt-freezer-${process.pid}`;
  const inner = `${path}/inner`;
  mkdirSync(cgroupDirectory(tree, inner), { recursive: true });
  const directory = mkdtempSync('/dev/shm/pwt-freezer-');
  const command = `echo $$ >"$1/cgroup.procs"; ${script}`;
  const child: ChildProcess = spawn('sh', ['-c', command, 'sh', cgroupDirectory(tree, inner)], {
    cwd: directory,
    stdio: 'ignore',
  });
  t.after(async () => {
    await killCgroup(hierarchy, path);
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    await removeCgroup(hierarchy, path);
    rmSync(directory, { recursive: true });
  });
  await waitFor(() => hasFile(join(directory, 'ready')), { intervalMs: 5, signal: bound() });
  return { hierarchy, path, directory };
}

function hasFile(path: string): true | undefined {
  try {
    readFileSync(path);
    return true;
  } catch {
    return undefined;
  }
}

const count = 'i=0; while :; do i=$((i+1)); echo $i >count; [ $i = 50 ] && touch ready; done';
/** A script with four chains of processes; each process starts the next one and exits. */
const fork =
  'f() { echo x >>count; sleep 0.0$(($$ % 9)); f & }; f & f & f & f & sleep 0.2; touch ready; wait; sleep 1000';

for (const tree of trees)
  for (const [what, script] of [
    ['the loops of a busy process', count],
    ['processes that fork all the time', fork],
  ] as const)
    test(`v${tree.version}: ${what} cannot change anything while the cgroup is frozen, and continue then`, async (t) => {
      const { hierarchy, path, directory } = await running(t, tree, script);
      const counted = () => readFileSync(join(directory, 'count'), 'utf8');
      {
        await using frozen = await freezeCgroup(hierarchy, path, { maxMs: 2000 });
        assert.ok(frozen);
        const before = counted();
        const { changes } = await measureTree(directory, { signal: bound(), changedSinceMs: frozen.frozenAtMs + 1 });
        assert.equal(changes, 'none');
        await new Promise((resolve) => setTimeout(resolve, 200));
        assert.equal(counted(), before);
      }
      const before = counted();
      await waitFor(() => counted() !== before || undefined, { intervalMs: 5, signal: bound() });
    });

for (const tree of trees)
  test(`v${tree.version}: a cgroup is thawed when the process that froze it is killed, or at the next start`, async (t) => {
    const { hierarchy, path, directory } = await running(t, tree, count);
    const counted = () => readFileSync(join(directory, 'count'), 'utf8');
    const isCounting = async () => {
      const before = counted();
      await new Promise((resolve) => setTimeout(resolve, 50));
      return counted() !== before || undefined;
    };
    const script = `import { freezeCgroup } from '@podwright/host';
      await freezeCgroup(...${JSON.stringify([hierarchy, path, { maxMs: 60_000 }])}); console.log('frozen');
      setInterval(() => {}, 1000);`;
    const stdio: ('ignore' | 'pipe' | 'inherit')[] = ['ignore', 'pipe', 'inherit'];
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio, cwd: import.meta.dirname });
    await once(child.stdout!, 'data');
    assert.equal(await isCounting(), undefined);
    child.kill('SIGKILL');
    await waitFor(isCounting, { intervalMs: 5, signal: bound() });
    const file = join(cgroupDirectory(tree, path), tree.version === 1 ? 'freezer.state' : 'cgroup.freeze');
    writeFileSync(file, tree.version === 1 ? 'FROZEN' : '1');
    assert.equal(thawCgroup(hierarchy, path), true);
    await waitFor(isCounting, { intervalMs: 5, signal: bound() });
    assert.equal(thawCgroup(hierarchy, path), false);
  });
