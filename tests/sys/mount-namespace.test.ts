import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { silentLogger } from '@podwright/base';
import { createCoveredNamespace, withMountNamespace } from '../../packages/system/src/mount-namespace.ts';
import { mountFlags } from '../../packages/system/src/mount-options.ts';
import { mountsBelow } from '../../packages/system/src/mountinfo.ts';
import { loadSystem } from '../../packages/system/src/system.ts';

const system = loadSystem();
const dependencies = { system, logger: silentLogger };
const modules = ['mount-namespace', 'system'].map((name) =>
  JSON.stringify(import.meta.resolve(`../../packages/system/src/${name}.ts`)),
);
let scratch: string;
let tree: string;

beforeEach(() => {
  scratch = mkdtempSync('/var/tmp/podwright-sys-');
  tree = join(scratch, 'tree');
  mkdirSync(tree);
  system.mount(tree, { source: 'tmpfs', type: 'tmpfs', flags: 0 });
  writeFileSync(join(tree, 'seen'), '');
});
afterEach(() => {
  for (const { mountPoint } of mountsBelow(scratch).reverse()) system.unmount(mountPoint);
  rmSync(scratch, { recursive: true });
});

/** Identifies this thread's mount namespace: its mounts under the scratch directory, its root, and its working directory. */
const place = () => [
  readlinkSync('/proc/thread-self/ns/mnt'),
  readlinkSync('/proc/thread-self/root'),
  readlinkSync('/proc/thread-self/cwd'),
  ...readFileSync('/proc/thread-self/mountinfo', 'utf8')
    .split('\n')
    .filter((line) => line.includes(scratch)),
];

test('a directory is covered only in the new namespace, even if its mount is shared', () => {
  const peer = join(scratch, 'peer');
  mkdirSync(peer);
  system.mount(tree, { flags: mountFlags.shared });
  system.mount(peer, { source: tree, flags: mountFlags.bind });
  const before = place();
  const namespace = createCoveredNamespace(dependencies, tree);
  assert.deepEqual(place(), before);
  withMountNamespace(dependencies, namespace, () => {
    assert.ok(!existsSync(join(tree, 'seen')));
    assert.ok(existsSync(join(peer, 'seen')));
    mkdirSync(join(tree, 'below'));
  });
  assert.deepEqual(place(), before);
  assert.ok(existsSync(join(tree, 'seen')) && !existsSync(join(tree, 'below')) && !existsSync(join(peer, 'below')));
  const program = ['--mount=/proc/self/fd/3', '--', 'ls', tree, peer];
  const listed = execFileSync('nsenter', program, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit', namespace],
  });
  assert.equal(listed, `${peer}:\nseen\n\n${tree}:\nbelow\n`);
  closeSync(namespace);
});

test('other threads stay in their namespace, including threads started later', async () => {
  const before = place();
  const ofThreads = async () => {
    const script = `import('node:fs').then((fs) => fs.readlinkSync('/proc/thread-self/ns/mnt'))
      .then((link) => require('node:worker_threads').parentPort.postMessage(link))`;
    const worker = new Worker(script, { eval: true });
    const own = await new Promise((resolve) => worker.once('message', resolve));
    const ofPool = await Promise.all(Array.from({ length: 8 }, () => readlink('/proc/thread-self/ns/mnt')));
    return new Set([own, ...ofPool]);
  };
  for (let round = 0; round < 3; round++) {
    const namespace = createCoveredNamespace(dependencies, tree);
    assert.deepEqual(await ofThreads(), new Set([before[0]]));
    withMountNamespace(dependencies, namespace, () => assert.notEqual(place()[0], before[0]));
    closeSync(namespace);
  }
  assert.deepEqual(place(), before);
});

test('the thread returns even after a failure, and leaves no descriptor open', () => {
  const before = place();
  const open = () => {
    const listed = execFileSync('ls', ['-l', `/proc/${process.pid}/fd`], { encoding: 'utf8' }).split('\n');
    const targets = listed.map((line) => line.split(' -> ')[1] ?? '');
    return targets.filter((target) => target.startsWith('mnt:') || target === '/' || target === process.cwd()).length;
  };
  assert.throws(() => createCoveredNamespace(dependencies, scratch), /invalid argument/);
  const namespace = createCoveredNamespace(dependencies, tree);
  const fail = () => {
    throw new Error('no');
  };
  assert.throws(() => withMountNamespace(dependencies, namespace, fail), /^Error: no$/);
  assert.throws(() => withMountNamespace(dependencies, namespace, async () => undefined), { code: 'internal' });
  closeSync(namespace);
  assert.deepEqual([place(), open()], [before, 0]);
});

/** Runs a script in a new process, with `system` and `logger` defined. */
const run = (script: string, program: string[] = []) => {
  const begin = `import { createCoveredNamespace } from ${modules[0]};
    import { loadSystem } from ${modules[1]};
    import { existsSync } from 'node:fs';
    const system = loadSystem();
    const logger = { error: (fields, message) => console.log(message, fields.error) };
    const tree = ${JSON.stringify(tree)};`;
  const command = [...program, process.execPath, '--input-type=module', '-e', `${begin}${script}`];
  return spawnSync(command[0]!, command.slice(1), { encoding: 'utf8', cwd: scratch });
};

test('a process that cannot return is aborted, and one that would be unable to return does not enter', () => {
  const broken = (calls: number) => `let calls = 0;
    const setNamespace = system.setNamespace.bind(system);
    system.setNamespace = (...call) => { if (calls++ === ${calls}) throw new Error('no way back'); setNamespace(...call); };
    try { createCoveredNamespace({ system, logger }, tree); } catch (error) { console.log(error.message); }
    console.log(existsSync(tree + '/seen'));`;
  assert.equal(run(broken(0)).stdout, 'no way back\ntrue\n');
  const { stdout, signal } = run(broken(1));
  assert.deepEqual([stdout, signal], ['cannot return to the mounts of the host, aborting no way back\n', 'SIGABRT']);
});

test('a process with a changed root keeps it along with its working directory', () => {
  const root = join(scratch, 'root');
  mkdirSync(root);
  system.mount(root, { source: '/', flags: mountFlags.bind | mountFlags.recursive });
  system.mount(root, { flags: mountFlags.private | mountFlags.recursive });
  system.mount(join(root, 'mnt'), { source: 'tmpfs', type: 'tmpfs', flags: 0 });
  writeFileSync(join(root, 'mnt/mark'), '');
  const look = `console.log(existsSync('/mnt/mark'), existsSync('mark'));`;
  const script = `process.chdir('/mnt'); ${look} createCoveredNamespace({ system, logger }, tree); ${look}`;
  const { stdout, stderr } = run(script, ['chroot', root]);
  assert.equal(stdout, 'true true\ntrue true\n', stderr);
});
