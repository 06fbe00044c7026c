/**
 * Repeatedly fills and empties a cluster node: no pod leaves anything behind on the host or at the API server, and the node's memory does
 * not grow. TEST_PODS is the number of concurrent pods (20), TEST_ROUNDS the number of rounds (3).
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { sleep } from '@podwright/base';
import { valueAt } from '@podwright/kube-kinds';
import { DAEMON_FLAGS } from '../../packages/cli/src/daemon/daemon-flags.ts';
import { EXAMPLE_IMAGE_NAME } from '../../scripts/example-image.ts';
import { fastPaths } from '../fixtures/fast-paths.ts';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { freePort, NodePlace } from '../pods/node.fixture.ts';
import { type ApiObject, type Cluster, collectionOf, startCluster } from './cluster.fixture.ts';

const NODE = 'filled';
const PODS = Number(process.env.TEST_PODS ?? 20);
const ROUNDS = Number(process.env.TEST_ROUNDS ?? 3);
/** Same value as in bin/podwright. */
process.env.MALLOC_ARENA_MAX ??= '1';
/**
 * Allowance for compiled code and bounded caches, measured at 13 KiB per pod. Without fast paths, an idle daemon does not collect garbage,
 * so the heap stays at the size V8 has let it reach: 34 MiB more, both after the second and after the third round.
 */
const RSS_SLACK_MIB = fastPaths ? Math.min(15, 0.02 * PODS * ROUNDS) : 50;
/** An idle daemon collects deleted pods' garbage within two checks, which run every 5 s. */
const COLLECTED_MS = 30_000;
/** Generous timeout, to allow for a busy host. */
const PATIENCE_MS = 30_000 + PODS * 1500;

let bundle: Bundle;
let cluster: Cluster;
let place: NodePlace;
before(async () => {
  [bundle, cluster] = await Promise.all([buildBundle(), startCluster()]);
  place = new NodePlace(bundle, '10.129.208.0/23');
});
after(async () => {
  await place?.remove();
  await cluster?.[Symbol.asyncDispose]();
  bundle?.remove();
});

const object = (kind: string, name: string) => ({ apiVersion: 'v1', kind, metadata: { name, namespace: 'default' } });

/** Returns a pod with a ConfigMap, a Secret and a service account token. */
const podNamed = (name: string): ApiObject => ({
  ...object('Pod', name),
  spec: {
    nodeName: NODE,
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 30,
    volumes: [
      {
        name: 'needs',
        projected: {
          sources: [
            { serviceAccountToken: { path: 'token' } },
            { configMap: { name: 'settings' } },
            { secret: { name: 'password' } },
          ],
        },
      },
      { name: 'scratch', emptyDir: {} },
    ],
    containers: [
      {
        ...{ name: 'main', image: EXAMPLE_IMAGE_NAME, imagePullPolicy: 'Never' },
        // a shell that is PID 1 ignores signals it does not trap
        command: [
          'sh',
          '-c',
          'test -s /needs/token -a -s /needs/key -a -s /needs/word && trap exit TERM; sleep 3600 & wait',
        ],
        volumeMounts: ['needs', 'scratch'].map((volume) => ({ name: volume, mountPath: `/${volume}` })),
      },
    ],
  },
});

/** Calls `work` for each pod, ten at a time. */
async function forEach(names: string[], work: (name: string) => Promise<unknown>): Promise<void> {
  for (let index = 0; index < names.length; index += 10) await Promise.all(names.slice(index, index + 10).map(work));
}

async function podsThere(): Promise<ApiObject[]> {
  return (await cluster.admin.get(collectionOf(object('Pod', '')))).body.items;
}

/**
 * Returns the processes, mounts, cgroups, links, rules and files that the node has on the host, without their IDs. If there are no pods,
 * they belong to the node itself and its ready sandboxes.
 */
const onHost = () =>
  place
    .leftovers()
    .map((line) => line.replaceAll(/[\da-f]{64}|\d+\.\d+\.\d+\.\d+|veth[\da-f]+|^processes: \d+/g, '*'))
    .sort();
const OF_PODS = /\/kubelet\/(pods|trash|pod-statuses)\/|\/pod[\da-f]{8}-/;

/** Returns what `onHost` returns once this has not changed for a second, so that old sandboxes are gone and new ones are ready. */
async function atRest(): Promise<string[]> {
  let seen = onHost();
  await place.until(async () => {
    const before = seen.join();
    await sleep(1000);
    seen = onHost();
    return seen.join() === before;
  }, PATIENCE_MS);
  return seen;
}

function residentMib(pid: number): number {
  return Number(/^Rss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))![1]) / 1024;
}

test(`${PODS} pods that are created and deleted ${ROUNDS} times leave nothing, and the node does not grow`, async (context) => {
  await cluster.apply(
    { ...object('ConfigMap', 'settings'), data: { key: 'value' } },
    { ...object('Secret', 'password'), data: { word: Buffer.from('open').toString('base64') } },
  );
  const kubeconfig = place.file('kubeconfig', cluster.kubeconfig(cluster.nodeCredential(NODE)));
  const lines = [
    `node_name = "${NODE}"`,
    '[cluster]',
    `kubeconfig = "${kubeconfig}"`,
    `[kubelet.server]\nport = ${await freePort()}\nhealthz_port = 0\n[kubelet.eviction]\nhard = {}\n`,
  ];
  const [node = '', ...command] = place.command('--config', place.file('config.toml', lines.join('\n')), 'node');
  const daemon = place.startProgram(node, ...DAEMON_FLAGS, ...command);
  await place.until(async () => (await place.call('ps')).code === 0);
  await place.loadImage();
  await cluster.until({ apiVersion: 'v1', kind: 'Node', metadata: { name: NODE } }, (node) =>
    JSON.stringify(valueAt(node, 'status', 'conditions') ?? '').includes('"KubeletReady"'),
  );
  const pid = daemon.child.pid!;
  const atFirst = residentMib(pid);
  const names = Array.from({ length: PODS }, (_, index) => `pod-${index}`);
  const sizes: number[] = [];
  let empty: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await forEach(names, (name) => cluster.apply(podNamed(name)));
    const isRunning = (pod: ApiObject) => valueAt(pod, 'status', 'phase') === 'Running';
    await place.until(async () => (await podsThere()).filter(isRunning).length === PODS, PATIENCE_MS);
    await forEach(names, (name) => cluster.delete(object('Pod', name)));
    await place.until(async () => (await podsThere()).length === 0, PATIENCE_MS);
    await place.until(() => onHost().every((line) => !OF_PODS.test(line)), PATIENCE_MS);
    if (round === 0) empty = await atRest();
    let left: string[] = [];
    const isAsBefore = () => {
      left = onHost();
      return left.length <= empty.length && left.every((line) => empty.includes(line));
    };
    await place.until(isAsBefore, PATIENCE_MS).catch(() => assert.deepEqual(left, empty));
    sizes.push(residentMib(pid));
  }
  let atLast = Number.POSITIVE_INFINITY;
  const isSmall = () => {
    atLast = residentMib(pid);
    return atLast < atFirst + RSS_SLACK_MIB;
  };
  await place.until(isSmall, COLLECTED_MS).catch(() => undefined);
  const all = [atFirst, ...sizes, atLast].map((size) => `${size.toFixed(0)} MiB`).join(', ');
  context.diagnostic(`resident at first, after each round, at last: ${all}`);
  assert.ok(atLast < atFirst + RSS_SLACK_MIB, `memory grows: ${all}`);
});
