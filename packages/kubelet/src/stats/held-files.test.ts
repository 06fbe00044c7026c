import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import fileSystem from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { WorkBudget, waitFor } from '@podwright/base';
import type { MountEntry } from '@podwright/system/mountinfo';
import { BoundedReads, ReadsOfProcess } from '@podwright/system/open-files';
import {
  type DiskDirectories,
  type HeldFiles,
  HeldFilesOfPods,
  heldFiles,
  NOTHING_HELD,
  type PlaceOptions,
  placesOf,
} from './held-files.ts';

const directory = mkdtempSync(join(tmpdir(), 'podwright-held-'));
after(() => execFileSync('rm', ['-rf', directory])); // paths in it are longer than rmSync supports
const noDisks = { kubelet: '', layers: '' };
const reads = new BoundedReads();
const anywhere = { placeOf: () => ({ directory: 'layers' as const }), disks: noDisks, reads };
const enough = () => new WorkBudget(60_000);

/** Searches a pod whose set of processes does not change. */
const search = (pids: number[], ...rest: [PlaceOptions, WorkBudget?]) => heldFiles(async () => pids, ...rest);

/** Opens a file of this size, and deletes it if `deleted`. */
function opened(name: string, sizeBytes: number, { deleted = true } = {}): number {
  const path = join(directory, name);
  writeFileSync(path, Buffer.alloc(sizeBytes, 'x'));
  const file = openSync(path, 'r');
  if (deleted) rmSync(path);
  return file;
}

test('each deleted file held by a process counts once, and no other files count', async (context) => {
  const before = await search([process.pid], anywhere);
  const files = [opened('a', 100_000), opened('b', 200_000), opened('c', 400_000, { deleted: false })];
  files.push(openSync(`/proc/self/fd/${files[0]}`, 'r'));
  files.push(opened('d (deleted)', 800_000, { deleted: false }));
  context.after(() => {
    for (const file of files) closeSync(file);
  });
  const { layers, kubelet, emptyDirs } = await search([process.pid, process.pid], anywhere);
  const bytes = layers.bytes - before.layers.bytes;
  assert.ok(bytes >= 300_000 && bytes < 400_000, `${bytes} bytes`);
  assert.equal(layers.inodes - before.layers.inodes, 2);
  assert.deepEqual([kubelet, emptyDirs], [{ bytes: 0, inodes: 0 }, new Map()]);
});

test('searching many processes’ files does not block the event loop', async () => {
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  const pids = Array.from({ length: 15_000 }, (_, index) => 2 ** 30 + index);
  await search(pids, anywhere, enough());
  clearInterval(timer);
  assert.ok(turns > 3, `${turns} turns`);
});

test('an exited process holds no files open', async () => {
  const { layers } = await search([2 ** 30], anywhere);
  assert.deepEqual(layers, { bytes: 0, inodes: 0 });
});

/** Starts a process in another mount namespace that inherits these descriptors, numbered from 3. */
async function elsewhere(context: TestContext, descriptors: number[]): Promise<ChildProcess & { pid: number }> {
  const stdio: StdioOptions = ['ignore', 'pipe', 'ignore', ...descriptors];
  const script = 'echo ready; exec sleep 60 >/dev/null';
  const child = spawn('unshare', ['--map-root-user', '--mount', 'sh', '-c', script], { stdio });
  context.after(() => child.kill('SIGKILL'));
  const [begin] = await Promise.race([once(child.stdout!, 'data'), once(child, 'exit')]);
  assert.equal(String(begin), 'ready\n');
  return Object.assign(child, { pid: child.pid! });
}

const bytesOf = ({ layers, kubelet }: HeldFiles) => [layers, kubelet].map(({ bytes }) => Math.floor(bytes / 100_000));

test('a deleted file counts for a process that received its descriptor from another mount namespace', async (context) => {
  const files = [opened('passed', 100_000), opened('open', 400_000, { deleted: false })];
  const { pid } = await elsewhere(context, files);
  for (const file of files) closeSync(file);
  const placeOf = ({ mountPoint }: MountEntry) =>
    mountPoint.length > 0 ? { directory: 'kubelet' as const, emptyDir: 'data' } : undefined;
  const byMount = await search([pid, process.pid], { placeOf, disks: noDisks, reads });
  assert.deepEqual(bytesOf(byMount), [0, 1]);
  assert.equal(byMount.emptyDirs.get('data')?.inodes, 1);
  const of = async (disks: Partial<DiskDirectories>) =>
    bytesOf(await search([pid], { placeOf, disks: { ...noDisks, ...disks }, reads }));
  assert.deepEqual(await of({ kubelet: directory }), [0, 1], 'on the disk of the kubelet');
  assert.deepEqual(await of({ layers: directory }), [1, 0], 'on the disk of layers');
  assert.deepEqual(await of({ layers: '/proc', kubelet: '/does/not/exist' }), [0, 0], 'on another disk');
  const notOwn = { placeOf: () => undefined, disks: { kubelet: directory, layers: directory }, reads };
  assert.deepEqual(bytesOf(await search([pid, process.pid], notOwn)), [0, 0], 'a directory of the host');
});

test('an in-memory file from another mount namespace is on no disk', async (context) => {
  const file = openSync('/dev/shm', constants.O_RDWR | 0o20000000 | constants.O_DIRECTORY, 0o600); // O_TMPFILE
  writeFileSync(file, Buffer.alloc(100_000, 'x'));
  const { pid } = await elsewhere(context, [file]);
  closeSync(file);
  const disks = { kubelet: directory, layers: directory };
  assert.deepEqual(bytesOf(await search([pid], { placeOf: () => undefined, disks, reads })), [0, 0]);
});

/** Runs a Python program with the test's directory as its argument. Resolves when the program has printed `ready`. */
async function python(context: TestContext, program: string): Promise<number> {
  const child = spawn('python3', ['-c', program, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
  context.after(() => child.kill('SIGKILL'));
  const [output] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
  assert.match(String(output), /^ready/);
  outputs.set(child.pid!, String(output));
  return child.pid!;
}

/** First output of each program, by pid. */
const outputs = new Map<number, string>();

const HOLDER_OF_ONE = `
import os, sys, time
os.chdir(sys.argv[1])
file = os.open('f', os.O_RDWR | os.O_CREAT)
os.unlink('f')
os.write(file, b'x' * 100000)
print('ready', flush=True)
time.sleep(60)`;

/** Mocks stat(2) for the files that the process `pid` holds. */
function replaceStat(
  context: TestContext,
  pid: number,
  replacement: (real: () => Promise<unknown>) => Promise<unknown>,
) {
  const real = fileSystem.stat as (path: string) => Promise<unknown>;
  const of = (path: string) => (path.startsWith(`/proc/${pid}/`) ? replacement(() => real(path)) : real(path));
  context.mock.method(fileSystem, 'stat', of);
  syncBuiltinESMExports();
  context.after(() => {
    context.mock.restoreAll();
    syncBuiltinESMExports();
  });
}

test('files are read one at a time, and the first read that hangs ends the search', async (context) => {
  const files = Array.from({ length: 5 }, (_, index) => opened(`slow${index}`, 1000));
  const { pid } = await elsewhere(context, files);
  for (const file of files) closeSync(file);
  let calls = 0;
  replaceStat(context, pid, () => {
    calls++;
    return new Promise<never>(() => undefined);
  });
  const { isPartial } = await search([pid], { ...anywhere, reads: new BoundedReads() });
  assert.deepEqual([isPartial, calls], [true, 1]);
});

test('a deleted file counts even if its path is longer than the kernel shows', async (context) => {
  const pid = await python(
    context,
    `
import os, sys, time
os.chdir(sys.argv[1])
for _ in range(25):
    os.mkdir('d' * 200)
    os.chdir('d' * 200)
file = os.open('f', os.O_RDWR | os.O_CREAT)
os.unlink('f')
os.write(file, b'x' * 100000)
print('ready', flush=True)
time.sleep(60)`,
  );
  assert.deepEqual(bytesOf(await search([pid], anywhere)), [1, 0]);
});

test('a deleted file counts for a process whose main thread has exited', async (context) => {
  const pid = await python(
    context,
    `
import ctypes, os, sys, threading, time
os.chdir(sys.argv[1])
file = os.open('f', os.O_RDWR | os.O_CREAT)
os.unlink('f')
os.write(file, b'x' * 100000)
threading.Thread(target=time.sleep, args=[60]).start()
print('ready', flush=True)
ctypes.CDLL(None).pthread_exit(None)`,
  );
  const hasNoMainThread = () => readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ') || undefined;
  await waitFor(hasNoMainThread, { intervalMs: 10, signal: AbortSignal.timeout(5000) });
  assert.deepEqual(bytesOf(await search([pid], anywhere)), [1, 0]);
});

/** Python code that holds 100 kB or 100 inodes without an open file, in a directory `d` that is removed. */
const HOLDERS: Record<string, { program: string; inodes?: number }> = {
  'a mapping, at an address that is padded in maps': {
    program: `
file = os.open('low', os.O_RDWR | os.O_CREAT)
os.write(file, b'x' * 100000)
libc = ctypes.CDLL(None)
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mmap.restype = ctypes.c_void_p
assert libc.mmap(0x200000, 4096, 1, 0x11, file, 0) == 0x200000
os.unlink('low')
os.close(file)`,
  },
  'a program that is not mapped': {
    program: `
if not os.readlink('/proc/self/exe').endswith('/p'):
    with open('p', 'wb') as copy:
        copy.write(open(sys.executable, 'rb').read() + b'x' * 100000)
    os.chmod('p', 0o755)
    os.execv('p', ['p', *sys.orig_argv[1:]])
os.unlink('p')
libc = ctypes.CDLL(None)
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mremap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p]
libc.mmap.restype = libc.mremap.restype = ctypes.c_void_p
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
for line in [line for line in open('/proc/self/maps') if line.endswith('/p (deleted)\\n')]:
    addresses, permissions = line.split()[:2]
    start, end = [int(one, 16) for one in addresses.split('-')]
    size, protection = end - start, sum(bit for bit, one in zip([1, 2, 4], permissions) if one != '-')
    copy = libc.mmap(None, size, 3, 0x22, -1, 0)
    ctypes.memmove(copy, start, size)
    libc.mprotect(copy, size, protection)
    assert libc.mremap(copy, size, size, 3, start) == start
assert '(deleted)' not in open('/proc/self/maps').read()`,
  },
  'a working directory': {
    inodes: 1,
    program: `
os.mkdir('d')
os.chdir('d')
os.rmdir('../d')`,
  },
  FIFOs: {
    inodes: 100,
    program: `
for index in range(100):
    os.mkfifo(f'f{index}')
    os.open(f'f{index}', os.O_PATH)
    os.unlink(f'f{index}')`,
  },
  sockets: {
    inodes: 100,
    program: `
for index in range(100):
    os.mknod(f's{index}', stat.S_IFSOCK | 0o600)
    os.open(f's{index}', os.O_PATH)
    os.unlink(f's{index}')`,
  },
  'symbolic links': {
    inodes: 100,
    program: `
for index in range(100):
    os.symlink('/', f'l{index}')
    os.open(f'l{index}', os.O_PATH | os.O_NOFOLLOW)
    os.unlink(f'l{index}')`,
  },
  directories: {
    inodes: 100,
    program: `
for index in range(100):
    os.mkdir(f'd{index}')
    os.open(f'd{index}', os.O_PATH)
    os.rmdir(f'd{index}')`,
  },
};

for (const [what, { program, inodes }] of Object.entries(HOLDERS)) {
  test(`deleted files count that a pod holds by ${what}`, async (context) => {
    const imports = 'import ctypes, os, stat, sys, time';
    const pid = await python(
      context,
      `${imports}\nos.chdir(sys.argv[1])${program}\nprint('ready', flush=True)\ntime.sleep(60)`,
    );
    const { layers, isPartial } = await search([pid], anywhere, enough());
    assert.equal(isPartial, false);
    if (inodes !== undefined) assert.equal(layers.inodes, inodes);
    else assert.ok(layers.bytes >= 100_000 && layers.bytes < 20_000_000, String(layers.bytes));
  });
}

test('a pod that holds the deepest of many removed directories, which is uncountable, is partial', async (context) => {
  const pid = await python(
    context,
    `
import os, sys, time
os.chdir(sys.argv[1])
for _ in range(30):
    os.mkdir('d')
    os.chdir('d')
for depth in range(30):
    os.rmdir('../' * (depth + 1) + 'd')
print('ready', flush=True)
time.sleep(60)`,
  );
  assert.equal((await search([pid], anywhere)).isPartial, true);
});

test('a search includes processes that start meanwhile, and is partial if they keep appearing', async (context) => {
  const heir = await python(context, HOLDER_OF_ONE);
  let count = 0;
  const passedOn = async () => (count++ === 0 ? [2 ** 30] : [heir]);
  const found = await heldFiles(passedOn, anywhere, enough());
  assert.deepEqual([bytesOf(found), found.isPartial], [[1, 0], false]);
  const endless = await heldFiles(async () => [2 ** 30 + count++], anywhere, enough());
  assert.equal(endless.isPartial, true);
});

test('mappings that a process splits during a search are searched again', async (context) => {
  const { program } = HOLDERS['a mapping, at an address that is padded in maps']!;
  const imports = 'import ctypes, os, sys, time';
  const rest = `print('ready', flush=True)\ntime.sleep(60)`;
  const pid = await python(context, `${imports}\nos.chdir(sys.argv[1])${program}\n${rest}`);
  let splits = 1;
  const missing = Object.assign(new Error('split'), { code: 'ENOENT' });
  replaceStat(context, pid, (real) => (splits-- > 0 ? Promise.reject(missing) : real()));
  const found = await search([pid], anywhere, enough());
  assert.deepEqual([bytesOf(found), found.isPartial], [[1, 0], false]);
  splits = Number.POSITIVE_INFINITY;
  assert.equal((await search([pid], anywhere, enough())).isPartial, true);
});

/** Whether this process has any file in /proc/PID open. */
function hasFileOf(pid: number): boolean {
  return readdirSync('/proc/self/fd').some((number) => {
    try {
      return readlinkSync(`/proc/self/fd/${number}`).startsWith(`/proc/${pid}/`);
    } catch {
      return false; // is the descriptor of the directory
    }
  });
}

test('a search that ends early closes the mapping list', async (context) => {
  const { program } = HOLDERS['a mapping, at an address that is padded in maps']!;
  const imports = 'import ctypes, os, sys, time';
  const rest = `print('ready', flush=True)\ntime.sleep(60)`;
  const pid = await python(context, `${imports}\nos.chdir(sys.argv[1])${program}\n${rest}`);
  replaceStat(context, pid, () => new Promise<never>(() => undefined));
  const { isPartial } = await search([pid], { ...anywhere, reads: new BoundedReads() }, enough());
  assert.equal(isPartial, true);
  const isClosed = () => !hasFileOf(pid) || undefined;
  await waitFor(isClosed, { intervalMs: 10, signal: AbortSignal.timeout(2000) });
});

test('a pod that holds too many files to search is partial, and does not delay the other pods in the round', async (context) => {
  const few = await python(context, HOLDER_OF_ONE);
  const many = await python(
    context,
    `
import ctypes, os, resource, signal, sys
limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
null = os.open('/dev/null', os.O_RDONLY)
for number in range(10, min(limit, 10000)):
    os.dup2(null, number)
os.memfd_create('x')
libc = ctypes.CDLL(None)
pids = []
for _ in range(100):
    pid = libc.syscall(56 if os.uname().machine == 'x86_64' else 220, 0x400 | signal.SIGCHLD, 0, 0, 0, 0)
    if pid == 0:
        libc.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        while True:
            signal.pause()
    assert pid > 0, pid
    pids.append(pid)
print(' '.join(map(str, ['ready', *pids])), flush=True)
signal.pause()`,
  );
  const pids = [many, ...outputs.get(many)!.split(' ').slice(1).map(Number)];
  const holders = new Map(
    ['a', 'b', 'c', 'few', 'd'].map((key) => [key, { ...anywhere, pids: async () => (key === 'few' ? [few] : pids) }]),
  );
  const beganMs = performance.now();
  const turns = setInterval(() => undefined, 1);
  const found = await new HeldFilesOfPods<string>().measure(holders);
  clearInterval(turns);
  const tookMs = performance.now() - beganMs;
  assert.deepEqual(
    [...found].filter(([, { isPartial }]) => !isPartial).map(([key]) => key),
    ['few'],
  );
  assert.deepEqual(bytesOf(found.get('few')!), [1, 0]);
  assert.ok(tookMs < 10_000, `${tookMs} ms`);
});

/** A fake `heldFiles` that spends `needMs` of its time budget on each pod. Instead of process IDs, `pids` returns just the pod's number. */
function searchOf(needMs: (pod: number) => number): typeof heldFiles {
  return async (pids, _options, budget = enough()) => {
    const [pod] = await pids();
    const endMs = performance.now() + needMs(pod!);
    while (performance.now() < endMs && !budget.isSpent);
    const isPartial = performance.now() < endMs;
    await budget.wait(Promise.resolve());
    return { ...NOTHING_HELD, isPartial, isInterrupted: false };
  };
}

test('pods that need more than their share split the remaining time equally, however many there are', async () => {
  const pods = Array.from({ length: 50 }, (_, index) => index);
  // in the first pass, each pod may use 20 ms; the rest of the round's budget is about 80 ms for each pod that needs more
  const search = searchOf((pod) => (pod < 8 ? 60_000 : pod === 8 ? 40 : 0));
  const holders = new Map(pods.map((pod) => [pod, { ...anywhere, pids: async () => [pod] }]));
  const found = await new HeldFilesOfPods<number>({ search }).measure(holders);
  assert.deepEqual(
    pods.filter((pod) => found.get(pod)!.isPartial),
    [0, 1, 2, 3, 4, 5, 6, 7],
  );
});

test('a pod hides files if one of its own reads hangs, but not if reads of two other pods do', async (context) => {
  const all = new ReadsOfProcess();
  const [pid, reads] = [await python(context, HOLDER_OF_ONE), new BoundedReads(all)];
  const of = async (reads: BoundedReads) => {
    const { isPartial, isInterrupted } = await search([pid], { ...anywhere, reads }, enough());
    return { isPartial, isInterrupted };
  };
  await assert.rejects(reads.take(() => new Promise<never>(() => undefined)));
  assert.deepEqual(await of(reads), { isPartial: true, isInterrupted: false });
  assert.deepEqual(await of(new BoundedReads(all)), { isPartial: false, isInterrupted: false });
  all.hung = 2;
  assert.deepEqual(await of(new BoundedReads(all)), { isPartial: false, isInterrupted: true });
});

test('a round ends at its deadline, and pods that it did not reach do not count as hiding files', async (context) => {
  const pid = await python(context, HOLDER_OF_ONE);
  const slow = (real: typeof heldFiles): typeof heldFiles => {
    return async (pids, options, budget = enough()) => {
      if (await budget.mayContinue()) await budget.wait(sleep(30));
      return await real(pids, options, budget);
    };
  };
  const holders = new Map(Array.from({ length: 50 }, (_, index) => [index, { ...anywhere, pids: async () => [pid] }]));
  const pods = new HeldFilesOfPods<number>({ search: slow(heldFiles), roundMs: 1000 });
  const beganMs = performance.now();
  const found = [...(await pods.measure(holders)).values()];
  assert.ok(performance.now() - beganMs < 2500);
  const reached = found.filter(({ layers }) => layers.inodes === 1).length;
  assert.ok(reached > 0 && reached < 50, `${reached} pods`);
  assert.ok(found.every(({ isPartial }) => !isPartial));
});

test('a slow pod does not use up the time of other pods that need more than their share', async () => {
  const searched = new Set<number>();
  const search: typeof heldFiles = async (pids, _options, budget = enough()) => {
    const [pod] = await pids();
    const isFirst = !searched.has(pod!);
    searched.add(pod!);
    while (!isFirst && pod === 0 && (await budget.mayContinue())) await budget.wait(sleep(5));
    return { ...NOTHING_HELD, isPartial: isFirst, isInterrupted: budget.isLate };
  };
  const holders = new Map([0, 1].map((pod) => [pod, { ...anywhere, pids: async () => [pod] }]));
  const found = await new HeldFilesOfPods<number>({ search, roundMs: 1000 }).measure(holders);
  assert.deepEqual([found.get(0)!.isPartial, found.get(1)!.isPartial], [true, false]);
});

test('a pod whose search is interrupted keeps its last complete result', async () => {
  const files = (bytes: number, ending = {}) => ({
    ...NOTHING_HELD,
    layers: { bytes, inodes: 1 },
    isInterrupted: false,
    ...ending,
  });
  const interrupted = { isInterrupted: true };
  let next = files(0);
  const pods = new HeldFilesOfPods<string>({ search: async () => next });
  const check = async (result: typeof next, expected: number, isPartial = false) => {
    next = result;
    const found = (await pods.measure(new Map([['a', { ...anywhere, pids: async () => [] }]]))).get('a')!;
    assert.deepEqual([found.layers.bytes, found.isPartial], [expected, isPartial]);
  };
  await check(files(1, interrupted), 1);
  await check(files(2), 2);
  await check(files(3, { isPartial: true }), 3, true);
  await check(files(4, interrupted), 2);
  await check(files(5, interrupted), 2);
  await check(files(6), 6);
  await check(files(7, interrupted), 6);
});

test('a file with many locks and descriptors does not block the event loop', async (context) => {
  const pid = await python(
    context,
    `
import fcntl, os, struct, sys, time
os.chdir(sys.argv[1])
file = os.open('locked', os.O_RDWR | os.O_CREAT)
os.write(file, b'x' * 100000)
os.unlink('locked')
for index in range(8000, 0, -1):
    fcntl.fcntl(file, fcntl.F_SETLK, struct.pack('hhqqi', fcntl.F_WRLCK, 0, 2 * index, 1, 0))
for _ in range(900):
    os.dup(file)
print('ready', flush=True)
time.sleep(60)`,
  );
  const budget = new WorkBudget(10_000);
  assert.deepEqual(bytesOf(await search([pid], anywhere, budget)), [1, 0]);
  assert.ok(budget.spentMs < 2000, `${budget.spentMs} ms`);
});

test('a held file belongs to a pod’s layers, to its kubelet directory, or to no pod', () => {
  const placeOf = placesOf({ podUid: 'uid', containerIds: ['c1', 'c2'] });
  const check = (mount: { root?: string; type?: string; mountPoint?: string }, ...expected: (string | undefined)[]) => {
    const place = placeOf({ root: '/', type: 'ext4', mountPoint: '/data', ...mount } as MountEntry);
    assert.deepEqual([place?.directory, place?.emptyDir].slice(0, expected.length), expected);
  };
  check({ root: '/var/lib/kubelet/pods/uid/volumes/kubernetes.io~empty-dir/data' }, 'kubelet', 'data');
  check({ root: '/pods/uid/volumes/kubernetes.io~configmap/data' }, 'kubelet', undefined);
  check({ root: '/pods/uid/etc-hosts', mountPoint: '/etc/hosts' }, 'kubelet');
  check({ root: '/runtime/containers/c2/volume-0' }, 'layers');
  check({ type: 'overlay', mountPoint: '/' }, 'layers');
  check({ root: '/snapshots/7/fs', mountPoint: '/' }, 'layers');
  check({ root: '/srv/data' }, undefined); // a hostPath
  check({ root: '/kubelet/pods/another/volumes/kubernetes.io~empty-dir/data' }, undefined);
  check({ type: 'tmpfs', mountPoint: '/dev/shm' }, undefined);
});
