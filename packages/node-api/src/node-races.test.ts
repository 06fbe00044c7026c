/**
 * Runs every pair of verbs concurrently on one pod. The results and the final state must equal those of a sequential execution, in either
 * order. `TEST_RACES=1000` sets the number of rounds.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { errorMessage, Limiter, silentLogger, waitFor, withTimeout } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import { type FakeKubelet, startFakeKubelet } from '@podwright/kubelet/testing';
import { AppliedObjects } from './applied-objects.ts';
import { LocalNode } from './local-node.ts';
import { ephemeralChange, metadataChange, resizeChange } from './sent-patch.ts';

const ROUNDS = Number(process.env.TEST_RACES ?? 2);
const AT_ONCE = 16;
const PATIENCE_MS = 20_000;

/**
 * A pod's observable state; `undefined` if there is no pod. `isNew`: the pod is not the one that the round started with, but its
 * replacement.
 */
type Seen = {
  image: string;
  cpu: string;
  /** Labels and annotations patched by clients. */
  labels: Record<string, string>;
  /** Names of the ephemeral containers added by clients. */
  added: string[];
  conditions: string[];
  isNew: boolean;
};
type State = Seen | undefined;
type Result = { ok: boolean; action?: string };

/** A call, and a model of its results and the next state in a sequential execution. */
type Verb = {
  call: (name: string) => Promise<{ action?: string } | undefined>;
  model: (state: State) => { state: State; answers: Result[] };
};

const directory = mkdtempSync(join(tmpdir(), 'podwright-races-'));
let fake: FakeKubelet;
let node: LocalNode;
let applied: AppliedObjects;

before(async () => {
  const manifestDir = join(directory, 'manifests');
  const quick = { maxPods: 10_000, relist: { periodMs: 20, eventedPeriodMs: 1000 } };
  fake = await startFakeKubelet({ ...quick, manifestDir, readsDirectory: true });
  applied = new AppliedObjects(manifestDir, fake.handle);
  const info = { name: 'node', version: '1', manifestDir, podLogsDir: '' };
  node = new LocalNode({ kubelet: fake.handle, applied, info, stop: () => undefined, logger: silentLogger });
});

after(async () => {
  await fake.close();
  rmSync(directory, { recursive: true });
});

const BASE = { image: 'busybox:1', cpu: '1m' };
const manifest = (name: string, image: string) =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'main', image, resources: { requests: { cpu: BASE.cpu } } }],
    },
  });
const podName = (name: string) => ({ namespace: 'default', name });
const objectName = (name: string) => ({ kind: 'Pod' as const, ...podName(name) });
const NEW: Seen = { ...BASE, labels: {}, added: [], conditions: [], isNew: true };
const OK = { ok: true };
const FAILED = { ok: false };

function apply(image: string): Verb {
  const done = (state: State, action: string) => ({ state, answers: [{ ok: true, action }] });
  return {
    call: async (name) => (await node.apply(manifest(name, image), {})).objects[0],
    model: (state) => {
      if (state === undefined) return done({ ...NEW, image }, 'created');
      if (state.image !== image) return done({ ...NEW, image, labels: state.labels }, 'replaced');
      return state.cpu === BASE.cpu ? done(state, 'unchanged') : done({ ...state, cpu: BASE.cpu }, 'resized');
    },
  };
}

/** A verb that changes an existing pod; rejected if `alter` returns `undefined`. */
function change(call: (name: string) => Promise<unknown>, alter: (state: Seen) => Seen | undefined): Verb {
  return {
    call: async (name) => void (await call(name)),
    model: (state) => {
      const altered = state && alter(state);
      return altered === undefined ? { state, answers: [FAILED] } : { state: altered, answers: [OK] };
    },
  };
}

const label = (value: string) =>
  change(
    (name) => node.patch(objectName(name), () => ({ labels: { k: value } })),
    (state) => ({ ...state, labels: { ...state.labels, k: value } }),
  );
const debug = (container: string) =>
  change(
    (name) =>
      node.addEphemeralContainers(podName(name), () => ({
        kind: 'merge-by-name',
        containers: [{ name: container, image: 'busybox:1' }],
      })),
    (state) => ({ ...state, added: [...new Set([...state.added, container])].toSorted() }),
  );

/** A JSON patch that tests for one value and sets another. */
const swap = (path: string, from: unknown, to: unknown) =>
  JSON.stringify([
    { op: 'test', path, value: from },
    { op: 'add', path, value: to },
  ]);
const VERBS: Record<string, Verb> = {
  apply: apply(BASE.image),
  'apply another image': apply('busybox:2'),
  delete: {
    call: async (name) => void (await node.remove(objectName(name), undefined)),
    // deleting a pod that is still terminating is not an error
    model: (state) => ({ state: undefined, answers: state === undefined ? [OK, FAILED] : [OK] }),
  },
  label: label('one'),
  'label otherwise': label('two'),
  annotate: change(
    (name) => node.patch(objectName(name), () => ({ annotations: { 'example.com/a': 'b' } })),
    (state) => ({ ...state, labels: { ...state.labels, annotated: 'b' } }),
  ),
  resize: change(
    (name) => node.resize(podName(name), () => ({ containers: new Map([['main', { requests: { cpu: '2m' } }]]) })),
    (state) => ({ ...state, cpu: '2m' }),
  ),
  debug: debug('one'),
  'debug again': debug('two'),
  'set the first label by a JSON patch': change(
    (name) => node.patch(objectName(name), metadataChange('json', swap('/metadata/labels', null, { k: 'three' }))),
    ({ labels: { annotated, k }, ...state }) =>
      k === undefined ? { ...state, labels: { ...(annotated && { annotated }), k: 'three' } } : undefined,
  ),
  'resize by a JSON patch': change(
    (name) => {
      const patch = swap('/spec/containers/0/resources/requests/cpu', BASE.cpu, '3m');
      return node.resize(podName(name), resizeChange('json', patch));
    },
    (state) => (state.cpu === BASE.cpu ? { ...state, cpu: '3m' } : undefined),
  ),
  'debug by a JSON patch': change(
    (name) => {
      const value = [{ name: 'three', image: 'busybox:1' }];
      const patch = JSON.stringify([{ op: 'add', path: '/spec/ephemeralContainers', value }]);
      return node.addEphemeralContainers(podName(name), ephemeralChange('json', patch));
    },
    // a list of ephemeral containers that lacks existing ones is rejected
    (state) => (state.added.every((one) => one === 'three') ? { ...state, added: ['three'] } : undefined),
  ),
  // a restart also fails if the pod has just been replaced and the new pod's container is not running yet
  restart: {
    call: async (name) => void node.restart(podName(name), undefined),
    model: (state) => ({ state, answers: state === undefined || state.isNew ? [OK, FAILED] : [OK] }),
  },
  'patch the status': change(
    async (name) =>
      node.patchStatus(podName(name), { set: [{ type: 'example.com/c', status: 'True' }], remove: [], replace: false }),
    (state) => ({ ...state, conditions: ['example.com/c'] }),
  ),
};

const CASES = Object.keys(VERBS).flatMap((first, index, all) =>
  all.slice(index).map((second) => [first, second] as const),
);

test('two concurrent calls for one pod are equivalent to a sequential execution', async () => {
  const limiter = new Limiter(AT_ONCE);
  const deleted: string[] = [];
  const rounds = Array.from({ length: ROUNDS }, (_, round) =>
    CASES.map((pair, index) => ({ pair, round, name: `web-${index}-${round}` })),
  );
  const failures = await Promise.all(
    rounds.flat().map(({ pair, round, name }) =>
      limiter.run(async () => {
        const { problem, state } = await race(name, pair, round).catch((e: unknown) => ({
          problem: `${name} ${pair} ${errorMessage(e)}`,
          state: undefined,
        }));
        if (state === undefined) deleted.push(name);
        else await node.remove(objectName(name), undefined);
        return problem;
      }),
    ),
  );
  const problems = failures.filter((one) => one !== undefined);
  assert.equal(problems.length, 0, problems.slice(0, 10).join('\n'));
  const returned = deleted.filter((name) => existsSync(applied.pathOf(objectName(name))) || podOf(name) !== undefined);
  assert.deepEqual(returned, [], 'deleted pods stay deleted');
});

test('an apply succeeds even if the host check after it fails', async (t) => {
  t.mock.method(fake.handle, 'preflightHost', () => Promise.reject(new Error('read /proc/net/tcp: I/O error')));
  await assert.rejects(node.apply(manifest('looked', BASE.image), { dryRun: true }), /I\/O error/);
  const { objects, findings } = await node.apply(manifest('looked', BASE.image), {});
  assert.deepEqual([objects[0]?.action, findings], ['created', []]);
  await node.remove(objectName('looked'), undefined);
});

/** Runs two verbs concurrently on a new pod. Returns its state, and a problem if no sequential execution explains it. */
async function race(
  name: string,
  [first, second]: readonly [string, string],
  round: number,
): Promise<{ problem?: string; state: State }> {
  await node.apply(manifest(name, BASE.image), {});
  const { metadata } = await fake.pod(
    name,
    ({ status }) => status?.containerStatuses?.[0]?.state?.running !== undefined,
  );
  const [one, other] = [VERBS[first]!, VERBS[second]!];
  const [from, to] = round % 2 === 0 ? [one, other] : [other, one];
  const begun = from.call(name);
  begun.catch(() => undefined);
  for (let turn = 0; turn < round % 5; turn++) await setImmediate();
  const [a, b] = (await Promise.allSettled([begun, to.call(name)])) as [Settled, Settled];
  const { state } = await settled(name, metadata.uid, `${first} and ${second}`);
  const initial: Seen = { ...NEW, isNew: false };
  const isExplained =
    explains([from, a], [to, b], { initial, state }) || explains([to, b], [from, a], { initial, state });
  if (isExplained) return { state };
  return { state, problem: `${name}: ${first} and ${second}: ${JSON.stringify([a, b, state], shown)}` };
}

type Settled = PromiseSettledResult<{ action?: string } | undefined>;
const shown = (_: string, value: unknown) => (value instanceof Error ? value.message : value);

/** Whether these results and this final state are those of running verb `a` and then verb `b`. */
function explains(
  a: [Verb, Settled],
  b: [Verb, Settled],
  { initial, state }: { initial: State; state: State },
): boolean {
  let now = initial;
  for (const [verb, result] of [a, b]) {
    const { state: next, answers } = verb.model(now);
    const answer: Result =
      result.status === 'rejected' ? FAILED : { ok: true, ...(result.value && { action: result.value.action }) };
    if (!answers.some((one) => isDeepStrictEqual(one, answer))) return false;
    now = next;
  }
  return isDeepStrictEqual(now, state);
}

const podOf = (name: string): Pod | undefined => fake.handle.findPod('default', name);

/**
 * Returns the pod's state once the kubelet has applied the content of the pod's manifest file; `undefined` once both the file and the pod
 * are gone.
 */
async function settled(name: string, firstUid: string, what: string): Promise<{ state: State }> {
  using signal = withTimeout(undefined, PATIENCE_MS, `${what}: show pod ${name} as its file has it`);
  const path = applied.pathOf(objectName(name));
  return await waitFor(
    () => {
      const pod = podOf(name);
      const file: Pod | undefined = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
      if (file === undefined || pod === undefined) return file === pod ? { state: undefined } : undefined;
      if (file.metadata.uid !== pod.metadata.uid || pod.metadata.deletionTimestamp !== undefined) return undefined;
      const state = seen(pod, firstUid);
      return isDeepStrictEqual(ofManifest(state), ofManifest(seen(file, firstUid))) ? { state } : undefined;
    },
    { intervalMs: 5, signal },
  );
}

const ofManifest = ({ image, cpu, labels }: Seen) => ({ image, cpu, labels });

function seen({ metadata, spec, status }: Pod, firstUid: string): Seen {
  const [main] = spec.containers;
  const annotated = metadata.annotations?.['example.com/a'];
  return {
    image: main!.image,
    cpu: String(main!.resources?.requests?.cpu),
    labels: { ...metadata.labels, ...(annotated !== undefined && { annotated }) },
    added: (spec.ephemeralContainers ?? []).map((one) => one.name).toSorted(),
    conditions: (status?.conditions ?? []).flatMap(({ type }) => (type.startsWith('example.com/') ? [type] : [])),
    isNew: metadata.uid !== firstUid,
  };
}
