import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { errorCode, waitFor } from '@podwright/base';
import {
  type CgroupHierarchy,
  cgroupDirectory,
  cgroupExists,
  cgroupPids,
  countCgroupProcesses,
  createCgroup,
  discoverCgroups,
  killCgroup,
  listChildCgroups,
  readCgroupFile,
  readCgroupStats,
  removeCgroup,
  setCgroupLimits,
  treeOf,
} from '@podwright/host';
import { freeze, moveToFreezer } from '../fixtures/freezer.ts';

describe('cgroups of this host', () => {
  const parent = `/cgroup-test-${randomBytes(4).toString('hex')}`;
  let cgroups: CgroupHierarchy;
  before(async () => {
    cgroups = await discoverCgroups();
  });
  after(() => removeCgroup(cgroups, parent));

  /** Starts a process in the cgroup, in all hierarchies. */
  async function enter(path: string, command: string[]): Promise<ChildProcess> {
    const child = spawn('sh', ['-c', 'read go; exec "$@"', 'sh', ...command], { stdio: ['pipe', 'ignore', 'ignore'] });
    for (const tree of cgroups.trees)
      writeFileSync(join(cgroupDirectory(tree, path), 'cgroup.procs'), String(child.pid));
    child.stdin!.end('\n');
    return child;
  }

  test('a cgroup is created in every hierarchy, even if it already exists, and is listed', async () => {
    await createCgroup(cgroups, `${parent}/a/b`);
    await createCgroup(cgroups, `${parent}/a/b`);
    assert.deepEqual(await listChildCgroups(cgroups, `${parent}/a`), ['b']);
    assert.ok(await cgroupExists(cgroups, `${parent}/a/b`));
    assert.ok(!(await cgroupExists(cgroups, `${parent}/c`)));
    await removeCgroup(cgroups, `${parent}/a`);
    await removeCgroup(cgroups, `${parent}/a`);
    assert.ok(!(await cgroupExists(cgroups, `${parent}/a`)));
    assert.ok(await cgroupExists(cgroups, parent));
  });

  test('processes in and under a cgroup are found and killed, and the cgroup is removed right away', async () => {
    await createCgroup(cgroups, `${parent}/kill/below`);
    const child = await enter(`${parent}/kill/below`, ['sleep', '1000']);
    const exited = once(child, 'exit');
    assert.deepEqual(await cgroupPids(cgroups, `${parent}/kill`, { recursive: true }), [child.pid]);
    assert.deepEqual(await cgroupPids(cgroups, `${parent}/kill`, { recursive: false }), []);
    await killCgroup(cgroups, `${parent}/kill`);
    assert.equal((await exited)[1], 'SIGKILL');
    await removeCgroup(cgroups, `${parent}/kill`);
    assert.ok(!(await cgroupExists(cgroups, `${parent}/kill`)));
  });

  test('processes in cgroups with non-UTF-8 names are found and killed, and the cgroups are removed', async () => {
    const path = `${parent}/odd`;
    await createCgroup(cgroups, path);
    const child = await enter(path, ['sleep', '1000']);
    for (const tree of cgroups.trees) {
      const odd = Buffer.from(`${cgroupDirectory(tree, path)}/caf\xe9`, 'latin1');
      const inner = Buffer.concat([odd, Buffer.from('/\xff', 'latin1')]);
      // a new cpuset rejects processes until it has CPUs and memory nodes
      if (tree.controllers.includes('cpuset'))
        writeFileSync(join(cgroupDirectory(tree, path), 'cgroup.clone_children'), '1');
      mkdirSync(inner, { recursive: true });
      writeFileSync(Buffer.concat([inner, Buffer.from('/cgroup.procs')]), String(child.pid));
    }
    const exited = once(child, 'exit');
    assert.deepEqual(await cgroupPids(cgroups, path, { recursive: true }), [child.pid]);
    assert.equal(countCgroupProcesses(cgroups, path), 1);
    await killCgroup(cgroups, path);
    assert.equal((await exited)[1], 'SIGKILL');
    await removeCgroup(cgroups, path);
    assert.ok(!(await cgroupExists(cgroups, path)));
  });

  test('frozen processes are killed, even in a frozen cgroup nested in a frozen one', async () => {
    const path = `${parent}/frozen`;
    await createCgroup(cgroups, path);
    const children = [await enter(path, ['sleep', '1000']), await enter(path, ['sleep', '1000'])];
    const exited = Promise.all(children.map((child) => once(child, 'exit')));
    moveToFreezer(cgroups, `${path}/below`, children[1]!.pid!);
    for (const each of [`${path}/below`, path]) await freeze(cgroups, each);
    await killCgroup(cgroups, path);
    assert.deepEqual(
      (await exited).map(([, signal]) => signal),
      ['SIGKILL', 'SIGKILL'],
    );
    await removeCgroup(cgroups, path);
  });

  test('a cgroup in use is not removed, and the root never is', async () => {
    await createCgroup(cgroups, `${parent}/busy`);
    const child = await enter(`${parent}/busy`, ['sleep', '1000']);
    await assert.rejects(
      removeCgroup(cgroups, `${parent}/busy`, 50),
      (error) => errorCode(error) === 'failed_precondition',
    );
    await killCgroup(cgroups, `${parent}/busy`);
    assert.equal(child.killed || child.signalCode !== undefined, true);
    for (const act of [killCgroup, removeCgroup])
      await assert.rejects(act(cgroups, '/'), (error) => errorCode(error) === 'invalid_argument');
  });

  test('limits are set, raised and lowered, and the usage is read', async () => {
    const path = `${parent}/limited`;
    await createCgroup(cgroups, path);
    const megabytes = (count: number) => count << 20;
    for (const size of [64, 128, 32])
      await setCgroupLimits(cgroups, path, {
        cpuShares: 512,
        cpuQuotaUs: 50_000,
        memoryLimitBytes: megabytes(size),
        memorySwapLimitBytes: megabytes(size),
        pidsLimit: 50,
      });
    const child = await enter(path, ['dd', 'if=/dev/zero', 'of=/dev/null', 'bs=8M']);
    const stats = await waitFor(
      async () => {
        const now = await readCgroupStats(cgroups, path);
        return (now.memory?.usageBytes ?? 0) > megabytes(4) ? now : undefined;
      },
      { intervalMs: 10, signal: AbortSignal.timeout(10_000) },
    );
    assert.equal(stats.memory?.limitBytes, megabytes(32));
    assert.deepEqual(stats.threads, { current: 1, limit: 50 });
    assert.equal(stats.processes, 1);
    assert.ok(stats.cpu !== undefined && stats.cpu.usageNanoseconds > 0);
    const cpu = treeOf(cgroups, 'cpu')!;
    const file = cpu.version === 1 ? 'cpu.shares' : 'cpu.weight';
    const text = await readCgroupFile(join(cgroupDirectory(cpu, path), file));
    assert.equal(text?.trim(), cpu.version === 1 ? '512' : '20');
    await assert.rejects(
      setCgroupLimits(cgroups, path, { cpuQuotaUs: 1 }),
      (error) => errorCode(error) === 'invalid_argument',
    );
    await killCgroup(cgroups, path);
    assert.ok(child.pid);
  });
});
