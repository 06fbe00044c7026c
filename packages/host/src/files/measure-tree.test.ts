import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  opendirSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { waitFor } from '@podwright/base';
import { type MeasureTreeOptions, measureTree } from './measure-tree.ts';
import { makeDeepTree, makeOddTree } from './odd-names.fixture.ts';
import type { TreeMeasure } from './tree-count.ts';

const MI = 1 << 20;
const signal = AbortSignal.timeout(120_000);

/** Creates a scratch directory, by default on a tmpfs, because removing thousands of directories is slow on a busy disk. */
function scratch(t: TestContext, parent = '/dev/shm'): string {
  const directory = mkdtempSync(`${parent}/podwright-measure-`);
  t.after(() => execFileSync('rm', ['-rf', directory]));
  return directory;
}

function measure(directory: string, options: Partial<MeasureTreeOptions> = {}): Promise<TreeMeasure> {
  return measureTree(directory, { signal, ...options });
}

function du(directory: string): { sizeBytes: number; inodes: number } {
  const count = (option: string) =>
    Number(execFileSync('du', ['-s', '-x', option, directory], { encoding: 'utf8' }).split('\t')[0]);
  return { sizeBytes: count('--block-size=1'), inodes: count('--inodes') };
}

async function assertAsByDu(directory: string): Promise<void> {
  const { usage, isPartial } = await measure(directory);
  assert.deepEqual({ usage, isPartial }, { usage: du(directory), isPartial: false });
}

/** Runs a script in `directory` until the returned object is disposed of. Resolves once the script has printed its first line. */
async function keepRunning(directory: string, script: string): Promise<AsyncDisposable> {
  const child = spawn(process.execPath, ['-e', script], { cwd: directory, stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return {
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

test('a tree is measured like du: hard links once, holes not at all, symlinks not followed, arbitrary bytes in names', async (t) => {
  const directory = scratch(t, '/tmp');
  mkdirSync(join(directory, 'a/b'), { recursive: true });
  writeFileSync(join(directory, 'a/file'), 'x'.repeat(100_000));
  linkSync(join(directory, 'a/file'), join(directory, 'a/b/same'));
  symlinkSync('/usr', join(directory, 'a/usr'));
  execFileSync('truncate', ['-s', '1G', join(directory, 'holes')]);
  execFileSync('mkfifo', [join(directory, 'fifo')]);
  makeOddTree(join(directory, 'odd'));
  await assertAsByDu(directory);
});

test('a directory with very many subdirectories is measured like du', async (t) => {
  const directory = scratch(t);
  execFileSync('sh', ['-c', 'seq 3000 | xargs mkdir && seq 3000 | sed s,$,/x, | xargs mkdir'], { cwd: directory });
  await assertAsByDu(directory);
});

test('other file systems are excluded', async () => {
  const { usage, isPartial } = await measure('/dev');
  assert.ok(!isPartial);
  assert.ok(usage.inodes < Number(execFileSync('sh', ['-c', 'find /dev | wc -l'], { encoding: 'utf8' })));
});

test('a file is measured, and a missing path is an error', async (t) => {
  const directory = scratch(t);
  writeFileSync(join(directory, 'file'), 'x');
  assert.deepEqual((await measure(join(directory, 'file'))).usage, du(join(directory, 'file')));
  await assert.rejects(measure(join(directory, 'missing')), { code: 'ENOENT' });
});

test('each hard link counts as a name, and holes count as content', async (t) => {
  const directory = scratch(t);
  writeFileSync(join(directory, 'file'), 'x'.repeat(1000));
  linkSync(join(directory, 'file'), join(directory, 'same'));
  symlinkSync('/usr', join(directory, 'usr'));
  execFileSync('truncate', ['-s', '1M', join(directory, 'holes')]);
  const { names, contentBytes } = await measure(directory);
  assert.deepEqual({ names, contentBytes }, { names: 5, contentBytes: 1000 + MI });
});

test('directories deeper than PATH_MAX are measured as well, at a cost independent of the depth', async (t) => {
  const directory = join(scratch(t), 'deep');
  makeDeepTree(directory, 3000);
  const deepest = `process.chdir('${directory}'); for (let n = 0; n < 3000; n++) process.chdir('a'.repeat(15));`;
  execFileSync(process.execPath, ['-e', `${deepest} for (let n = 0; n < 9000; n++) fs.mkdirSync(String(n))`]);
  const before = process.cpuUsage();
  await assertAsByDu(directory);
  const { user, system } = process.cpuUsage(before);
  assert.ok(user + system < 3_000_000, `${(user + system) / 1000} ms of CPU time`);
});

test('a tree that branches at too many levels is measured up to there, and the result is partial', async (t) => {
  const directory = scratch(t);
  const branch = `for (const name of 'adz') fs.mkdirSync(name); process.chdir('d');`;
  execFileSync(process.execPath, ['-e', `for (let n = 0; n < 2500; n++) { ${branch} }`], { cwd: directory });
  const { usage, isPartial } = await measure(directory);
  assert.ok(isPartial);
  assert.ok(usage.inodes > 2000 && usage.inodes < 7501, `${usage.inodes} inodes`);
});

for (const [what, files, isFile] of [
  ['a directory', 10, false],
  ['a directory among many files', 3000, false],
  ['a file among many', 3000, true],
] as const) {
  test(`${what} that is renamed all the time is counted, or the measure is partial`, async (t) => {
    const directory = scratch(t);
    execFileSync('sh', ['-c', `seq ${files} | xargs touch; mkdir a b c x0; head -c 1M /dev/zero >x0/big`], {
      cwd: directory,
    });
    if (isFile) execFileSync('sh', ['-c', 'mv x0/big x0.big; rmdir x0; mv x0.big x0'], { cwd: directory });
    const move = `let n = 0; setInterval(() => fs.renameSync('x' + n, 'x' + ++n), 2); console.log('ready')`;
    await using _mover = await keepRunning(directory, move);
    let counted = 0;
    for (let round = 0; round < 50; round++) {
      const { usage, isPartial } = await measure(directory);
      if (usage.sizeBytes >= MI) counted++;
      assert.ok(usage.inodes <= files + 6, `round ${round}: ${usage.inodes} inodes`);
      assert.ok(usage.sizeBytes >= MI || isPartial, `round ${round}: ${usage.sizeBytes} bytes`);
    }
    assert.ok(counted > 5, `counted in ${counted} rounds`);
  });
}

/**
 * Creates three directories for a walk. The one visited last has a directory `x` with a 1 MiB file (`home`); the one visited first is
 * empty, and tests move `x` there (`hide`).
 */
function makeMovingTree(directory: string): { hide: string; home: string } {
  execFileSync('sh', ['-c', 'mkdir a b c'], { cwd: directory });
  const listed = opendirSync(directory);
  const names = [listed.readSync(), listed.readSync(), listed.readSync()].map((entry) => entry!.name);
  listed.closeSync();
  const [home, middle, hide] = names.map((name) => join(directory, name)) as [string, string, string];
  execFileSync('sh', ['-c', 'seq 6000 | xargs mkdir'], { cwd: middle });
  execFileSync('sh', ['-c', 'mkdir x; head -c 1M /dev/zero >x/big'], { cwd: home });
  return { home: join(home, 'x'), hide: join(hide, 'x') };
}

test('a directory moved from an unlisted directory to an already listed one is counted', async (t) => {
  const directory = scratch(t);
  const { home, hide } = makeMovingTree(directory);
  const onYield = async () => {
    if (existsSync(home)) renameSync(home, hide);
  };
  const { usage, isPartial } = await measure(directory, { onYield });
  assert.ok(existsSync(hide));
  assert.deepEqual({ usage, isPartial }, { usage: du(directory), isPartial: false });
});

test('a directory moved during each pause of the walk is counted, or the result is partial', async (t) => {
  const directory = scratch(t);
  const { home, hide } = makeMovingTree(directory);
  const onYield = async () => {
    if (existsSync(home)) renameSync(home, hide);
    else renameSync(hide, home);
  };
  for (let round = 0; round < 6; round++) {
    if (existsSync(hide)) renameSync(hide, home);
    const { usage, isPartial } = await measure(directory, { onYield });
    assert.ok(usage.sizeBytes >= MI || isPartial, `round ${round}: ${usage.sizeBytes} bytes`);
  }
});

test('a directory with constantly replaced files is counted completely', async (t) => {
  const directory = scratch(t);
  execFileSync('sh', ['-c', 'mkdir -p a/b; seq 3000 | (cd a; xargs mkdir)'], { cwd: directory });
  const replace = `let n = 0; setInterval(() => { fs.writeFileSync('a/b/' + ++n, ''); fs.rmSync('a/b/' + n) }, 1)`;
  await using _replacer = await keepRunning(directory, `${replace}; console.log('ready')`);
  let complete = 0;
  for (let round = 0; round < 20; round++) if (!(await measure(directory)).isPartial) complete++;
  assert.ok(complete > 10, `${complete} complete measures`);
});

test('at its timeout, the walk ends with a partial result', async (t) => {
  const directory = scratch(t);
  execFileSync('sh', ['-c', 'mkdir d; cd d; seq 20000 | xargs touch'], { cwd: directory });
  const soFar: TreeMeasure[] = [];
  const onYield = async (count: () => TreeMeasure) => void soFar.push(count());
  const { usage, isPartial } = await measure(directory, { timeoutMs: 5, onYield });
  assert.ok(isPartial);
  assert.ok(usage.inodes > 2 && usage.inodes < 20_002, `${usage.inodes} inodes`);
  assert.ok(soFar[0]!.usage.inodes <= usage.inodes);
});

test('a walk that times out between two directories is partial', async (t) => {
  const directory = scratch(t);
  mkdirSync(join(directory, 'a/b'), { recursive: true });
  const { usage, isPartial } = await measure(directory, { timeoutMs: 0 });
  assert.deepEqual([usage.inodes < 3, isPartial], [true, true]);
});

test('an aborted walk rejects, and closes its directories', async (t) => {
  const directory = scratch(t);
  execFileSync('sh', ['-c', 'seq 3000 | xargs mkdir'], { cwd: directory });
  const stop = new AbortController();
  const onYield = async () => stop.abort(new Error('enough'));
  await assert.rejects(measure(directory, { signal: stop.signal, onYield }), /enough/);
  const descriptors = execFileSync('ls', ['-l', `/proc/${process.pid}/fd`], { encoding: 'utf8' });
  assert.ok(!descriptors.includes(directory), descriptors);
});

test('measuring a directory with very many files does not block the event loop', async (t) => {
  const directory = scratch(t);
  execFileSync('sh', ['-c', 'seq 20000 | xargs touch'], { cwd: directory });
  let longestMs = 0;
  let lastMs = performance.now();
  const timer = setInterval(() => {
    longestMs = Math.max(longestMs, performance.now() - lastMs);
    lastMs = performance.now();
  }, 1);
  const { usage } = await measure(directory);
  clearInterval(timer);
  assert.equal(usage.inodes, 20_001);
  assert.ok(longestMs < 250, `the event loop was blocked for ${longestMs} ms`);
});

/** Waits until recent changes are so old that a walk started now does not count them as changes during the walk. */
async function settled(): Promise<void> {
  const changedAtMs = Date.now();
  const isOld = () => Date.now() - changedAtMs > 110 || undefined;
  await waitFor(isOld, { intervalMs: 10, signal });
}

test('a measurement reports what changed in the tree since the walk started, or since the given time', async (t) => {
  const directory = scratch(t);
  const [home, hide] = [join(directory, 'a/x'), join(directory, 'b/x')];
  execFileSync('sh', ['-c', 'mkdir a b; touch a/x b/y'], { cwd: directory });
  assert.equal((await measure(directory)).changes, 'directories');
  assert.equal((await measure(directory, { changedSinceMs: Date.now() + 1 })).changes, 'none');
  await settled();
  assert.equal((await measure(directory)).changes, 'none');
  writeFileSync(home, 'x');
  assert.equal((await measure(directory)).changes, 'files');
  renameSync(home, hide);
  assert.equal((await measure(directory)).changes, 'directories');
  assert.equal((await measure(directory, { changedSinceMs: Date.now() + 1 })).changes, 'none');
});

/**
 * Creates two directories with 3000 subdirectories each, and returns the path of a file `big` in each. `hide` is in the directory that is
 * visited first.
 */
function makeTwins(directory: string): { home: string; hide: string } {
  execFileSync('sh', ['-c', 'mkdir a b; for d in a b; do (cd $d; seq 3000 | xargs mkdir); done'], { cwd: directory });
  const listed = opendirSync(directory);
  const names = [listed.readSync(), listed.readSync()].map((entry) => entry!.name);
  listed.closeSync();
  // a walk visits directories in reverse order, so the second one listed is visited first
  const [home, hide] = names.map((name) => join(directory, name, 'big')) as [string, string];
  return { home, hide };
}

for (const [how, move] of [
  ['moved', (home: string, hide: string) => renameSync(home, hide)],
  [
    'written in the place of another',
    (home: string, hide: string) => {
      writeFileSync(hide, Buffer.alloc(MI));
      writeFileSync(home, '');
    },
  ],
] as const)
  test(`a file that is ${how} during the walk is counted, or the measure reports changes`, async (t) => {
    const directory = scratch(t);
    const { home, hide } = makeTwins(directory);
    for (let round = 0; round < 4; round++) {
      writeFileSync(home, Buffer.alloc(MI));
      if (how !== 'moved') writeFileSync(hide, '');
      await settled();
      let count = 0;
      const { usage, isPartial, changes } = await measure(directory, {
        onYield: async () => {
          if (count++ === round) move(home, hide);
        },
      });
      assert.ok(isPartial || changes !== 'none' || usage.sizeBytes >= MI, `round ${round}: ${usage.sizeBytes} bytes`);
    }
  });
