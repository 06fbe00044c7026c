/** A pod moves its files while they are being measured, from places not yet measured to places already measured. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { waitFor } from '@podwright/base';
import { cgroupDirectory, discoverCgroups, findProcesses, readProcessStart, runChecked } from '@podwright/host';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { exampleImage, NodePlace } from '../pods/node.fixture.ts';
import type { StartedProgram } from '../pods/started-program.ts';

const EVICTION_MS = 60_000;

let bundle: Bundle;
let place: NodePlace;
let node: StartedProgram;
const movers: ChildProcess[] = [];
before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.132.77.0/24');
  mkdirSync(place.path('root'));
  await runChecked('mount', ['-t', 'tmpfs', '-o', 'size=200m', 'tmpfs', place.path('root')]);
  node = await place.startDaemon('node');
  await place.loadImage();
});
after(async () => {
  for (const mover of movers) mover.kill('SIGKILL');
  await place.remove();
  bundle.remove();
});

/** A script that keeps moving small files between two directories. */
const busy = 'cd /data; mkdir a b; echo x >a/x; while :; do mv a/x b/x; mv b/x a/x; echo y >y; rm y; done';
/** Returns the `sleep` duration that identifies an idle pod's process on the host. */
const idleSeconds = (name: string) => `${process.pid}${Buffer.from(name).readUInt16BE()}`;
const idle = (name: string) => `exec sleep ${idleSeconds(name)}`;

const PROBE = { exec: { command: ['true'] }, periodSeconds: 1, timeoutSeconds: 1, failureThreshold: 1 };

function manifest(name: string, script: string, { limit = '', sizeLimit = '' } = {}): string {
  const container = {
    name: 'main',
    image: exampleImage,
    command: ['sh', '-c', script],
    volumeMounts: [{ name: 'data', mountPath: '/data' }],
    livenessProbe: PROBE,
    resources: limit === '' ? {} : { limits: { 'ephemeral-storage': limit } },
  };
  const volumes = [{ name: 'data', emptyDir: sizeLimit === '' ? {} : { sizeLimit } }];
  const spec = { terminationGracePeriodSeconds: 1, volumes, containers: [container] };
  return JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec });
}

const run = (name: string, text: string) => place.ok('run', '--detach', place.file(`${name}.yaml`, text));

/**
 * Runs an idle pod and, in its cgroups and on its volume, the program that moves files, which holds `amount` bytes, or as much as fits on
 * the disk.
 */
async function runMover(name: string, amount: string, limits = {}): Promise<void> {
  await run(name, manifest(name, idle(name), limits));
  const uid = (await place.pods()).find(({ metadata }) => metadata.name === name)!.metadata.uid;
  const [directory = assert.fail()] = globSync(join(place.path('root'), `**/pods/${uid}/volumes/*/data`));
  const isIdle = async (pid: number) => String(await readProcessStart(pid, 'cmdline')).includes(idleSeconds(name));
  const find = async () => (await findProcesses(isIdle)).at(0);
  const pid = await waitFor(find, { intervalMs: 50, signal: AbortSignal.timeout(10_000) });
  // the shell moves itself into the pod's cgroups, then execs the program that moves files
  const procs = await cgroupFiles(pid);
  const command = `for file in ${procs.join(' ')}; do echo $$ >$file; done; exec "$@"`;
  const child = [process.execPath, join(import.meta.dirname, 'move-files.child.ts'), directory, amount];
  const mover = spawn('sh', ['-c', command, 'sh', ...child], { stdio: ['ignore', 'pipe', 'inherit'] });
  movers.push(mover);
  const [started] = await Promise.race([once(mover.stdout, 'data'), once(mover, 'exit')]);
  assert.equal(String(started), 'moving\n');
}

/** Returns the files to which a PID must be written to move that process into another process's cgroups. */
async function cgroupFiles(pid: number): Promise<string[]> {
  const lines = readFileSync(`/proc/${pid}/cgroup`, 'utf8').trim().split('\n');
  const { trees } = await discoverCgroups();
  return lines.flatMap((line) => {
    const [, names = '', path = '/'] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    const tree = trees.find((one) =>
      names === '' ? one.version === 2 : one.controllers.includes(names.split(',')[0]!),
    );
    return tree === undefined || path === '/' ? [] : [join(cgroupDirectory(tree, path), 'cgroup.procs')];
  });
}

/** Waits until exactly these pods are evicted, and asserts that no container of any other pod was restarted. */
async function untilEvicted(...expected: string[]): Promise<void> {
  const evicted = async () =>
    (await place.pods()).filter(({ status }) => status?.reason === 'Evicted').map(({ metadata }) => metadata.name);
  const log = () => node.err.split('\n').filter((line) => /evict|missing|frozen|threshold/.test(line));
  await place
    .until(async () => (await evicted()).length >= expected.length, EVICTION_MS)
    .catch((error: Error) => {
      throw new Error(`${error.message}\n${log().slice(-10).join('\n')}`);
    });
  assert.deepEqual((await evicted()).toSorted(), expected.toSorted(), log().slice(-10).join('\n'));
  const others = (await place.pods()).filter(({ metadata }) => !expected.includes(metadata.name));
  for (const { metadata, status } of others)
    assert.equal(status?.containerStatuses?.[0]?.restartCount, 0, metadata.name);
}

test('a pod that moves its files away during measurements is evicted for its limits, and a busy pod is not', async () => {
  await run('busy', manifest('busy', busy, { limit: '10Mi', sizeLimit: '10Mi' }));
  await runMover('over-limit', '30000000', { limit: '20Mi' });
  await runMover('size-over', '30000000', { sizeLimit: '20Mi' });
  await untilEvicted('over-limit', 'size-over');
  for (const name of ['over-limit', 'size-over']) await place.ok('delete', name);
});

test('on a full disk the pod that moves its files is evicted, but neither a larger known pod nor a busy one is', async () => {
  await run('keep', manifest('keep', `head -c 30000000 /dev/zero >/kept; ${idle('keep')}`));
  await runMover('hider', 'all');
  await untilEvicted('hider');
});
