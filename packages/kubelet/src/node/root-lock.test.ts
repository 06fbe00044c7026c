import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { waitFor } from '@podwright/base';
import { lockRoot } from './root-lock.ts';

function scratch(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'pwk-root-'));
  t.after(() => rmSync(directory, { recursive: true }));
  return directory;
}

test('if several kubelets start on the same root directory at once, only one gets the lock', async (t) => {
  const directory = scratch(t);
  const [root, link] = [join(directory, 'root'), join(directory, 'link')];
  symlinkSync(root, link);
  const unlock = await lockRoot(root);
  const message = `start the kubelet: another kubelet uses the root directory ${link}; stop it, or choose another directory with --root`;
  await assert.rejects(lockRoot(link), { code: 'already_exists', message });
  await unlock();
  assert.deepEqual(readdirSync(root), []);
  const tries = await Promise.allSettled([root, link, root, link].map((path) => lockRoot(path)));
  const held = tries.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  assert.equal(held.length, 1);
  await held[0]!();
});

test('a root directory with a path too long for a socket can be locked, and errors name the directory', async (t) => {
  const root = join(scratch(t), 'r'.repeat(200));
  const unlock = await lockRoot(root);
  await assert.rejects(lockRoot(root), { code: 'already_exists' });
  await unlock();
  assert.deepEqual(readdirSync(root), []);
  mkdirSync(join(root, 'kubelet.lock'));
  await assert.rejects(lockRoot(root), {
    message: `lock the root directory ${root}: listen on ${root}/kubelet.lock: it is not a socket; remove it or use another path; or choose another directory with --root`,
  });
});

async function lockingProcess(root: string): Promise<ChildProcess> {
  const code = `const { lockRoot } = await import(${JSON.stringify(import.meta.resolve('./root-lock.ts'))});
await lockRoot(${JSON.stringify(root)});
console.log('locked');
setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return child;
}

test('the lock of a killed kubelet is free, and only one of several kubelets gets it', async (t) => {
  const root = join(scratch(t), 'r'.repeat(200));
  const child = await lockingProcess(root);
  await assert.rejects(lockRoot(root), { code: 'already_exists' });
  child.kill('SIGKILL');
  await once(child, 'exit');
  const tries = await Promise.allSettled([1, 2, 3, 4].map(() => lockRoot(root)));
  const held = tries.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  assert.equal(held.length, 1);
  await held[0]!();
});

test('a starting kubelet removes the locks of killed kubelets, but not of running ones', async (t) => {
  const directory = scratch(t);
  const roots = ['killed', 'running', 'own'].map((name) => join(directory, name));
  for (const root of roots) mkdirSync(root); // at once: no inode is used twice
  const [killed, running, own] = roots.map((root) => {
    const { dev, ino } = statSync(root, { bigint: true });
    return `/run/podwright-kubelets/${dev}-${ino}.lock`;
  });
  const children = [await lockingProcess(roots[0]!), await lockingProcess(roots[1]!)];
  t.after(() => children[1]!.kill('SIGKILL'));
  children[0]!.kill('SIGKILL');
  await once(children[0]!, 'exit');
  rmSync(roots[0]!, { recursive: true });
  const unlock = await lockRoot(roots[2]!);
  const bound = { intervalMs: 10, signal: AbortSignal.timeout(10_000) };
  await waitFor(() => !existsSync(killed!) || undefined, bound);
  assert.deepEqual([existsSync(running!), existsSync(own!)], [true, true]);
  await unlock();
});
