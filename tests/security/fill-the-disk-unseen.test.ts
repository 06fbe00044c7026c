/** A pod fills the node's disk with files outside of its volumes, so that other pods are evicted instead. */
import assert from 'node:assert/strict';
import { mkdirSync, statfsSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { runChecked } from '@podwright/host';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { exampleImage, NodePlace } from '../pods/node.fixture.ts';
import type { StartedProgram } from '../pods/started-program.ts';

/**
 * After an eviction, the node waits up to 30 s for the pod to end, 30 s for its space to be freed, and 8 s for measurements, before it
 * evicts another pod.
 */
const EVICTION_MS = 120_000;

let bundle: Bundle;
let place: NodePlace;
let node: StartedProgram;
before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.132.61.0/24');
  mkdirSync(place.path('root'));
  await runChecked('mount', ['-t', 'tmpfs', '-o', 'size=200m', 'tmpfs', place.path('root')]);
  node = await place.startDaemon('node');
  await place.loadImage();
});
after(async () => {
  await place.remove();
  bundle.remove();
});

const hold = 'trap exit TERM; sleep 1000 & wait';
const write = (path: string) => `head -c 3000000 /dev/zero > ${path}; ${hold}`;
const deleted = (path: string) => `exec 3> ${path}; rm ${path}; head -c 3000000 /dev/zero >&3; ${hold}`;

/** Scripts that write 3 MB to places that are not found by walking the pod's layers, logs and volumes. */
const WRITERS = {
  hosts: write('/etc/hosts'),
  'resolv-conf': write('/etc/resolv.conf'),
  hostname: write('/etc/hostname'),
  'termination-log': write('/dev/termination-log'),
  deleted: deleted('/tmp/file'),
  'deleted-in-a-volume': deleted('/data/file'),
  'deleted-program': `cp /bin/busybox /data/sleep; head -c 3000000 /dev/zero >> /data/sleep; /data/sleep 1000 & sleep 0.5; rm /data/sleep; ${hold}`,
  'deleted-out-of-the-root': `exec 3> /file; rm /file; head -c 3000000 /dev/zero >&3; cp /bin/busybox /data; exec chroot /data /busybox sleep 1000`,
};

/** A shell snippet that waits for the other container's main process, and sets OTHER to the process's root directory. */
const findOther =
  'until P=$(grep -l "^sleep.1234" /proc/[0-9]*/cmdline | grep -o "[0-9]*"); do sleep 0.1; done; OTHER=/proc/$P/root';
const deletedOfOther = (path: string) =>
  `${findOther}; exec 3> $OTHER/${path}; rm $OTHER/${path}; head -c 3000000 /dev/zero >&3`;

/** Like WRITERS, for pods that have a second container and a shared process namespace. */
const WRITERS_BY_ANOTHER_CONTAINER = {
  'of-another': `${deletedOfOther('file')}; ${hold}`,
  'of-another-in-a-volume': `${deletedOfOther('data/file')}; ${hold}`,
  'of-another-that-exited': `${deletedOfOther('file')}; kill -9 $P; ${hold}`,
};

/**
 * A script that creates more links to files than the node will search: some 400 processes with 900 file descriptors each, only two of which
 * hold the deleted file open.
 */
const HIDE = [
  'i=20; while [ $i -lt 900 ]; do eval "exec $i</dev/null"; i=$((i+1)); done',
  'i=0; while [ $i -lt 400 ]; do sleep 1000 & i=$((i+1)); done',
].join('; ');
const FILL_UNSEEN = `exec 9> /file; rm /file; dd if=/dev/zero bs=64k >&9; ${hold}`;

const FILL = `dd if=/dev/zero of=/etc/resolv.conf bs=64k; ${hold}`;

function manifest(
  name: string,
  script: string,
  { init = 'true', limit = '1Mi', volumeLimit = '', other = '' } = {},
): string {
  const container = (script: string, name = 'main') =>
    JSON.stringify({
      name,
      image: exampleImage,
      command: ['sh', '-c', script],
      volumeMounts: [{ name: 'data', mountPath: '/data' }],
      resources: limit === '' ? {} : { limits: { 'ephemeral-storage': limit } },
    });
  return `apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  terminationGracePeriodSeconds: 1
  restartPolicy: Never
  shareProcessNamespace: ${other !== ''}
  volumes: [{name: data, emptyDir: {${volumeLimit && `sizeLimit: ${volumeLimit}`}}}]
  initContainers: [${container(init, 'init')}]
  containers: [${[container(script), ...(other ? [container(other, 'other')] : [])].join(', ')}]
`;
}

const run = (name: string, text: string) => place.ok('run', '--detach', place.file(`${name}.yaml`, text));
const hasSpace = () => {
  const { bavail, bsize } = statfsSync(place.path('root'));
  return bavail * bsize > 50_000_000;
};

/** Returns the last eviction-related lines of the node's log. */
const logOfEvictions = () =>
  node.err
    .split('\n')
    .filter((line) => /evict|missing|measured|threshold/.test(line))
    .slice(-10)
    .join('\n');

const reasonOf = async (name: string) =>
  (await place.pods()).find(({ metadata }) => metadata.name === name)?.status?.reason;
const evicted = async (names: string[]) => {
  const reasons = await Promise.all(names.map(reasonOf));
  return names.filter((_, index) => reasons[index] === 'Evicted');
};

test('a pod that exceeds its limit with files in none of its volumes is evicted', async () => {
  await run('keep', manifest('keep', hold));
  for (const [name, script] of Object.entries(WRITERS)) await run(name, manifest(name, script));
  // these pods are applied rather than run, because `run` fails if the other container has already been killed
  for (const [name, script] of Object.entries(WRITERS_BY_ANOTHER_CONTAINER))
    await place.ok('apply', place.file(`${name}.yaml`, manifest(name, script, { other: 'exec sleep 1234' })));
  await run('by-init', manifest('by-init', hold, { init: 'head -c 3000000 /dev/zero > /file' }));
  await run('over-size', manifest('over-size', deleted('/data/file'), { limit: '', volumeLimit: '1Mi' }));
  const all = [...Object.keys(WRITERS), ...Object.keys(WRITERS_BY_ANOTHER_CONTAINER), 'by-init', 'over-size'];
  await place
    .until(async () => (await evicted(all)).length === all.length)
    .catch(async () => {
      assert.deepEqual(await evicted(all), all);
    });
  assert.deepEqual(await evicted(['keep']), []);
  for (const name of all) await place.ok('delete', name);
});

test('on a full disk only the pods that filled it are evicted, even one holding too many files to search', async () => {
  const names = ['keep1', 'keep2', 'filler', 'hider'];
  const afterGo = (script: string) => `until [ -e /go ]; do sleep 0.1; done; ${script}`;
  for (const name of names.slice(0, 3))
    await run(name, manifest(name, `head -c 15000000 /dev/zero > /kept; ${afterGo(FILL)}`, { limit: '' }));
  await run('hider', manifest('hider', `${HIDE}; touch /ready; ${afterGo(FILL_UNSEEN)}`, { limit: '' }));
  await place.until(() =>
    place.ok('exec', 'hider', '--', 'test', '-e', '/ready').then(
      () => true,
      () => false,
    ),
  );
  for (const [name, expected] of [
    ['hider', ['hider']],
    ['filler', ['filler', 'hider']],
  ] as const) {
    // a pod is reported as evicted before its files are deleted, and `dd` exits on the first write that finds no space
    await place.until(hasSpace);
    await place.ok('exec', name, '--', 'touch', '/go');
    await place
      .until(async () => (await evicted(names)).length >= expected.length, EVICTION_MS)
      .catch((error: Error) => {
        throw new Error(`${name}: ${error.message}\n${logOfEvictions()}`);
      });
    assert.deepEqual(await evicted(names), expected);
  }
});
