/**
 * One pod floods the node with data through each channel ("door") from containers to the node, in the most expensive way. Meanwhile,
 * another pod is started, probed, runs a command and is stopped, all within time limits, and the daemon's memory stays bounded. Add new
 * channels to DOORS.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { connectCri } from '@podwright/cri';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { exampleImage, forever, NodePlace } from '../pods/node.fixture.ts';
import type { StartedProgram } from '../pods/started-program.ts';
import { peakBytes, resetPeak } from './memory-of.fixture.ts';

/** Timeout of each step of the other pod; on an idle host, a step takes less than a second. */
const STEP_MS = 20_000;
/** Minimum duration of a flood. */
const FLOOD_MS = 4_000;
/** Maximum growth of the daemon's memory, of which it uses 150 MiB when idle. */
const MAX_GROWN_BYTES = 150 << 20;

/** A channel from containers to the node, and how to flood it. */
type Door = {
  /** Script of the flooding pod's only container. */
  script: string;
  /** Additional manifest lines for the flooding pod's container. */
  container?: string;
  /** Additional manifest lines for the flooding pod's spec. */
  pod?: string;
  /** Shows that the flood has begun: a word in the pod's log, or a number of restarts. Default: the container has started. */
  begun?: string | number;
  /** Work that the node does during the flood. */
  meanwhile?: () => Promise<unknown>;
};

const byteByByte = 'while :; do printf x; done';
const inShell = (script: string) => JSON.stringify(['sh', '-c', script]);
/** Returns a command that creates a sparse 500 MB file. */
const huge = (path: string) => `dd if=/dev/zero of=${path} bs=1 count=1 seek=500000000 2>/dev/null`;
const probe = (script: string) =>
  `    readinessProbe: {periodSeconds: 1, timeoutSeconds: 20, exec: {command: ${inShell(script)}}}\n`;

const DOORS: Record<string, Door> = {
  'the output of a hook, byte by byte': {
    script: forever,
    container: `    lifecycle: {postStart: {exec: {command: ${inShell(byteByByte)}}}}\n`,
  },
  'the output of a probe, byte by byte': { script: forever, container: probe(`${byteByByte} >&2`) },
  'the output of probes, 16 MiB each': { script: forever, container: probe('yes | head -c 16000000') },
  'the output of a command that the client does not read': {
    script: `echo begun; ${forever}`,
    begun: 'begun',
    meanwhile: () => stalledExec(byteByByte),
  },
  'a log of partial lines': {
    script: `echo begun; ${byteByByte}`,
    begun: 'begun',
    meanwhile: () => place.ok('logs', 'flood', '--tail', '1'),
  },
  'the termination message of a container from a log of partial lines': {
    script: `timeout 2 sh -c '${byteByByte}'; exit 1`,
    container: '    terminationMessagePolicy: FallbackToLogsOnError\n',
    begun: 1,
  },
  'the termination message of a container from a huge file': {
    script: `${huge('/dev/termination-log')}; exit 1`,
    begun: 1,
  },
  'the hosts file': { script: `${huge('/etc/hosts')}; exit 1`, begun: 1 },
  'command lines': {
    script: `ulimit -s unlimited; set -- $(yes ab | head -n 500000)
for n in $(seq 25); do sh -c 'sleep 1000; :' "$@" & done; sleep 3; echo begun; wait`,
    begun: 'begun',
    meanwhile: failingStart,
  },
  'huge and deep directories': {
    script: `cd /v; for n in $(seq 300); do mkdir aaaaaaaaaa && cd aaaaaaaaaa; done
for dir in /v/many /many; do mkdir $dir; cd $dir; seq 125000 | xargs touch; done; echo begun; ${forever}`,
    pod: '  volumes: [{name: v, emptyDir: {sizeLimit: 10Gi}}]\n',
    container: '    volumeMounts: [{name: v, mountPath: /v}]\n',
    begun: 'begun',
    meanwhile: measureAll,
  },
};

let bundle: Bundle;
let place: NodePlace;
let daemon: StartedProgram;
let stalled: ChildProcess[] = [];
before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.99.143.0/24');
  daemon = await place.startDaemon();
  await place.loadImage();
  await otherPod(); // warms up the daemon
});
after(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.ended();
  await place.remove();
  bundle.remove();
});

for (const [name, door] of Object.entries(DOORS)) {
  test(`a flood through ${name} does not block other pods`, async () => {
    const pid = daemon.child.pid!;
    const beforeBytes = resetPeak(pid);
    flood(door);
    try {
      await place.until(() => hasBegun(door));
      const endMs = performance.now() + FLOOD_MS;
      const meanwhile = door.meanwhile?.();
      do await otherPod();
      while (performance.now() < endMs);
      await meanwhile;
      assert.equal(daemon.child.exitCode, null, daemon.err);
    } finally {
      await endFlood();
    }
    const grown = peakBytes(pid) - beforeBytes;
    assert.ok(grown < MAX_GROWN_BYTES, `the daemon has grown by ${grown >> 20} MiB`);
  });
}

const floodFile = () => place.path('root/manifests/flood.yaml');

/** Adds the flooding pod's manifest, without waiting for the pod to start. */
function flood({ script, container = '', pod = '' }: Door): void {
  const text = `apiVersion: v1
kind: Pod
metadata: {name: flood}
spec:
  terminationGracePeriodSeconds: 1
${pod}  containers:
  - name: main
    image: ${exampleImage}
    command: ${inShell(script)}
${container}`;
  writeFileSync(floodFile(), text);
}

async function endFlood(): Promise<void> {
  for (const client of stalled) {
    client.kill('SIGKILL');
    await once(client, 'exit');
  }
  stalled = [];
  rmSync(floodFile());
  const isGone = async () => !(await place.pods()).some(({ metadata }) => metadata.name.startsWith('flood'));
  await place.until(isGone, 3 * STEP_MS);
}

async function hasBegun({ begun }: Door): Promise<boolean> {
  if (typeof begun === 'string') return (await place.call('logs', 'flood', '--tail', '5')).out.includes(begun);
  // check the events, since a container is shown as ContainerCreating while its hook is running
  const { out } = await place.call('describe', 'flood');
  if (begun === undefined) return out.includes('Container started');
  const pod = (await place.pods()).find(({ metadata }) => metadata.name.startsWith('flood'));
  return (pod?.status?.containerStatuses?.[0]?.restartCount ?? 0) >= begun;
}

/** Starts another pod, waits until a probe makes it ready, runs a command, and stops it. */
async function otherPod(): Promise<void> {
  const manifest = `apiVersion: v1
kind: Pod
metadata: {name: other}
spec:
  terminationGracePeriodSeconds: 5
  containers:
  - name: main
    image: ${exampleImage}
    command: ${inShell(forever)}
    readinessProbe: {periodSeconds: 1, timeoutSeconds: 5, exec: {command: [sh, -c, echo ready]}}
`;
  await inTime('start and probe', () => place.ok('run', '--detach', place.file('other.yaml', manifest)));
  assert.equal(await inTime('exec', () => place.ok('exec', 'other', '--', 'echo', 'served')), 'served\n');
  await inTime('delete', () => place.ok('delete', 'other'));
}

async function inTime<T>(what: string, work: () => Promise<T>): Promise<T> {
  const startedMs = performance.now();
  const result = await work();
  const tookMs = performance.now() - startedMs;
  assert.ok(tookMs < STEP_MS, `${what}: ${Math.round(tookMs)} ms`);
  return result;
}

/** Runs a command in the flooding pod with a client that stops reading its output. */
async function stalledExec(script: string): Promise<void> {
  const [file, ...args] = place.command('exec', 'flood', '--', 'sh', '-c', script);
  const client = spawn(file!, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  stalled.push(client);
  await once(client.stdout, 'readable');
}

/** Runs a container that fails to start, which makes the runtime search for leftover processes. */
async function failingStart(): Promise<void> {
  const manifest = `apiVersion: v1
kind: Pod
metadata: {name: failing}
spec:
  restartPolicy: Never
  containers: [{name: main, image: "${exampleImage}", command: [/no/such/program]}]
`;
  await place.call('run', '--once', place.file('failing.yaml', manifest));
}

/** Makes the CRI calls of the kubelet's periodic measurements. */
async function measureAll(): Promise<void> {
  const cri = await connectCri({ runtimeEndpoint: place.path('state/cri.sock'), logger: silentLogger });
  try {
    const { stats } = await cri.runtime.listContainerStats({});
    assert.ok(stats.some(({ writableLayer }) => writableLayer!.inodesUsed!.value > 125_000n));
    await cri.image.imageFsInfo({});
  } finally {
    cri.close();
  }
}
