/** The single executable, alone in a directory, on a host without Node.js. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { DAEMON_FLAGS } from '../../packages/cli/src/daemon/daemon-flags.ts';
import { writeExampleArchive } from '../../scripts/example-image.ts';
import { becomeDaemon } from '../../scripts/release/executable/become-daemon.ts';
import { freePort, helloManifest, NodePlace, podManifest } from '../pods/node.fixture.ts';
import { StartedProgram } from '../pods/started-program.ts';
import { buildRelease, type Release, unpackArchive } from './release.fixture.ts';

/** Programs called by a node or by the tests, which are still found when Node.js is hidden. */
const PROGRAMS = [
  'crun',
  'runc',
  'conmon',
  'catatonit',
  'nsenter',
  'busybox',
  'tar',
  'gzip',
  'ip',
  'nft',
  'umount',
  'mount',
  'rmdir',
];

let release: Release;
const directory = mkdtempSync('/tmp/pwr-');
const program = join(directory, 'alone/podwright');
const image = join(directory, 'image.tar');
const { PATH } = process.env;

before(async () => {
  release = await buildRelease();
  const unpacked = unpackArchive(release);
  mkdirSync(join(directory, 'alone'));
  copyFileSync(join(unpacked, 'podwright'), program);
  rmSync(unpacked, { recursive: true });
  await writeExampleArchive(image);
  hideNode();
});
after(() => {
  process.env.PATH = PATH;
  release.remove();
  rmSync(directory, { recursive: true });
});

/** Reduces PATH to these programs, so that Node.js is not found. */
function hideNode(): void {
  const bin = join(directory, 'bin');
  mkdirSync(bin);
  for (const name of PROGRAMS) {
    const [path] = globSync(`{/usr,}/{s,}bin/${name}`);
    if (path !== undefined) symlinkSync(path, join(bin, name));
  }
  process.env.PATH = bin;
}

async function makePlace(context: TestContext, number: number): Promise<NodePlace> {
  const bundle = { program, isExecutable: true, image, remove: () => undefined };
  const place = new NodePlace(bundle, `10.97.${number}.0/24`);
  context.after(() => place.remove());
  await place.loadImage();
  return place;
}

test('it runs, execs into, logs and stops the example pods', async (context) => {
  const place = await makePlace(context, 1);
  const port = await freePort();
  await place.ok('run', '--detach', place.file('hello.yaml', helloManifest(port)));
  assert.match(await place.ok('exec', 'web', '--', 'cat', '/www/index.html'), /Hello from Podwright/);
  assert.match(await place.ok('logs', 'web', 'server'), /serving \/index.html/);
  const response = await fetch(`http://localhost:${port}/`, { signal: AbortSignal.timeout(10_000) });
  assert.match(await response.text(), /Hello from Podwright/);
  await place.ok('stop', '--delete');
  assert.deepEqual(place.leftovers(), []);
  assert.deepEqual(readdirSync(join(directory, 'alone')), ['podwright'], 'it wrote files next to itself');
});

test('its pods go on when its node is killed, and the next node takes them over', async (context) => {
  const place = await makePlace(context, 2);
  const manifest = podManifest('steady', 'while sleep 0.2; do cat /proc/sys/kernel/random/uuid; done');
  await place.ok('run', '--detach', place.file('steady.yaml', manifest));
  const [before] = await place.pods();
  const { pid } = await place.json<{ pid: number }>('status');
  process.kill(pid, 'SIGKILL');
  await place.until(async () => (await place.call('ps')).code === 1);
  const daemon = await place.startDaemon();
  await place.until(async () => (await place.pods())[0]?.status?.phase === 'Running');
  const [now] = await place.pods();
  const containers = (pod: typeof now) =>
    pod?.status?.containerStatuses?.map(({ containerID, restartCount }) => ({ containerID, restartCount }));
  assert.deepEqual(containers(now), containers(before));
  assert.match(await place.ok('exec', 'steady', '--', 'echo', 'alive'), /alive/);
  await place.ok('stop', '--delete');
  assert.equal((await daemon.ended()).code, 0);
});

test('a daemon has the same flags as one from the checkout', async (context) => {
  const place = await makePlace(context, 3);
  await place.ok('stop');
  const daemon = await place.startDaemon();
  const environment = readFileSync(`/proc/${daemon.child.pid}/environ`, 'utf8').split('\0');
  assert.ok(environment.includes('MALLOC_ARENA_MAX=1'), environment.join('\n'));
  assert.ok(environment.some((line) => /^NODE_OPTIONS=.*--max-semi-space-size=4 --expose-gc$/.test(line)));
  daemon.child.kill('SIGUSR1'); // opens the inspector of Node.js without one of the flags
  await place.ok('stop');
  assert.doesNotMatch((await daemon.ended()).err, /Debugger/);
});

test('native modules load even if /run is mounted noexec, and leave no files behind', async (context) => {
  const place = await makePlace(context, 4);
  await place.ok('stop');
  const leftover = '/var/lib/podwright-native-killed';
  mkdirSync(leftover);
  utimesSync(leftover, 0, 0);
  const script = 'mount -t tmpfs -o noexec none /run && exec "$@"';
  const command = ['/usr/bin/unshare', '--mount', '/bin/sh', '-c', script, '--', ...place.command('node')];
  const daemon = new StartedProgram(command);
  context.after(() => daemon.child.kill('SIGKILL'));
  await place.until(async () => daemon.child.exitCode !== null || (await place.call('ps')).code === 0);
  assert.equal(daemon.child.exitCode, null, daemon.err);
  const maps = readFileSync(`/proc/${daemon.child.pid}/maps`, 'utf8');
  assert.match(maps, / \/var\/lib\/podwright-native-\w+\/koffi\.node \(deleted\)$/m);
  assert.deepEqual(globSync('{/run,/var/lib,/dev/shm,/tmp,/var/tmp}/podwright-native-*'), []);
  await place.ok('stop');
});

test('a trial fails on a host whose C library is too old for a native module', () => {
  const newer = join(directory, 'newer');
  const content = readFileSync(program, 'latin1').replaceAll('GLIBC_2.34', 'GLIBC_2.99');
  writeFileSync(newer, content, { encoding: 'latin1', mode: 0o700 });
  const version = ['--state', '/nonexistent', 'version', '-o', 'json'];
  execFileSync(newer, version);
  execFileSync(program, [...version, '--trial']);
  assert.throws(() => execFileSync(newer, [...version, '--trial'], { stdio: 'pipe' }), /`GLIBC_2\.99' not found/);
});

test('a daemon that lacks its flags a second time does not keep restarting itself', () => {
  const options = process.env.NODE_OPTIONS;
  process.env.NODE_OPTIONS = DAEMON_FLAGS.filter((flag) => flag !== '--no-short-builtin-calls').join(' ');
  try {
    assert.throws(() => becomeDaemon(['node'], DAEMON_FLAGS), /Node\.js ignores NODE_OPTIONS/);
  } finally {
    if (options === undefined) delete process.env.NODE_OPTIONS;
    else process.env.NODE_OPTIONS = options;
  }
});

test('a truncated executable reports that it is truncated', () => {
  const cut = join(directory, 'cut');
  const content = readFileSync(program);
  writeFileSync(cut, content.subarray(0, content.length - 1000), { mode: 0o700 });
  assert.throws(() => execFileSync(cut, ['ps'], { stdio: 'pipe' }), /the end of the executable is missing/);
});
