/**
 * A manifest claims another pod's UID or name, to get its volumes and containers. The first pod keeps its UID, whatever the names of the
 * manifests, and even across a restart. Once the UID is free again, a new pod with it gets nothing from the earlier one.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { after, before, type TestContext, test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { exampleImage, forever, NodePlace } from '../pods/node.fixture.ts';
import type { StartedProgram } from '../pods/started-program.ts';

let bundle: Bundle;
before(async () => {
  bundle = await buildBundle();
});
after(() => bundle.remove());

type PodFields = {
  namespace: string;
  name: string;
  uid?: string;
  script?: string;
  annotations?: Record<string, string>;
};

/** Returns a pod with a volume at /d, as JSON (which is valid YAML). */
function manifestOf({ script = forever, ...metadata }: PodFields): string {
  const container = {
    name: 'main',
    image: exampleImage,
    command: ['sh', '-c', script],
    volumeMounts: [{ name: 'd', mountPath: '/d' }],
  };
  const spec = { terminationGracePeriodSeconds: 1, volumes: [{ name: 'd', emptyDir: {} }], containers: [container] };
  return JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata, spec });
}

const VICTIM: PodFields = { namespace: 'prod', name: 'victim', script: `echo secret > /d/secret; ${forever}` };
const VICTIMS_FILE = 'manifests/applied-pod_prod_victim.json';

/** A node with a victim pod that keeps a secret in its volume; removed after the test. */
class Attacked {
  readonly place: NodePlace;
  #daemon: StartedProgram | undefined;
  victim!: Pod;

  constructor(place: NodePlace) {
    this.place = place;
  }

  async start(): Promise<void> {
    await this.place.loadImage();
    this.#daemon = await this.place.startDaemon();
    await this.place.ok('apply', this.place.file('victim.yaml', manifestOf(VICTIM)));
    await this.place.until(async () => (await this.secretOf('prod', 'victim')) === 'secret');
    this.victim = (await this.pod('prod', 'victim'))!;
  }

  /** Kills the node, runs `meanwhile`, and restarts the node. */
  async restart(meanwhile: () => void = () => undefined): Promise<void> {
    this.#daemon!.child.kill('SIGKILL');
    await this.place.until(() => this.#daemon!.child.signalCode !== null);
    meanwhile();
    this.#daemon = await this.place.startDaemon();
  }

  async pod(namespace: string, name: string): Promise<Pod | undefined> {
    const pods = await this.place.pods();
    return pods.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
  }

  /** Returns the content of the pod's volume; `undefined` if the pod is not running. */
  async secretOf(namespace: string, name: string): Promise<string | undefined> {
    const script = 'cat /d/secret 2>/dev/null || echo none';
    const { code, out } = await this.place.call('exec', '-n', namespace, name, '--', 'sh', '-c', script);
    return code === 0 ? out.trim() : undefined;
  }

  async untilRefused(words: string): Promise<void> {
    await this.place.until(() => this.#daemon!.err.includes(words));
  }

  /** Asserts that the victim pod is unchanged, and that no other pod has its UID. */
  async assertUntouched(): Promise<void> {
    await this.place.until(async () => (await this.secretOf('prod', 'victim')) === 'secret');
    const now = await this.pod('prod', 'victim');
    assert.equal(now?.metadata.uid, this.victim.metadata.uid);
    assert.equal(containerId(now), containerId(this.victim));
    assert.equal(await this.pod('aaa', 'thief'), undefined);
    assert.equal(await this.secretOf('aaa', 'thief'), undefined);
  }
}

function containerId(pod: Pod | undefined): string | undefined {
  return pod?.status?.containerStatuses?.[0]?.containerID;
}

async function attackedNode(context: TestContext, subnet: string): Promise<Attacked> {
  const place = new NodePlace(bundle, subnet);
  context.after(() => place.remove());
  const attacked = new Attacked(place);
  await attacked.start();
  return attacked;
}

test('a pod with another pod’s UID cannot be applied', async (context) => {
  const node = await attackedNode(context, '10.99.146.0/24');
  const { place, victim } = node;
  const { uid } = victim.metadata;
  const thief = { namespace: 'aaa', name: 'thief' };
  const refused = await place.call('apply', place.file('thief.yaml', manifestOf({ ...thief, uid })));
  assert.notEqual(refused.code, 0);
  assert.match(refused.err, new RegExp(`aaa/thief: metadata.uid: ${uid} is already that of pod prod/victim`));
  assert.ok(!existsSync(place.path('root/manifests/applied-pod_aaa_thief.json')));
  await node.assertUntouched();
  const twins = `${manifestOf({ ...thief, uid: 'new' })}\n---\n${manifestOf({ ...thief, name: 'twin', uid: 'new' })}`;
  assert.match((await place.call('apply', place.file('twins.yaml', twins))).err, /already that of pod aaa\/thief/);
  const again = await place.ok('apply', place.file('victim.yaml', manifestOf({ ...VICTIM, uid })));
  assert.match(again, /unchanged/);
  await node.assertUntouched();
  writeFileSync(place.path('root/manifests/by-hand.yaml'), manifestOf({ namespace: 'prod', name: 'by-hand' }));
  await place.until(async () => (await node.pod('prod', 'by-hand')) !== undefined);
  const named = await place.call('apply', place.file('named.yaml', manifestOf({ namespace: 'prod', name: 'by-hand' })));
  assert.match(named.err, /prod\/by-hand: it comes from \S+\/by-hand\.yaml; change it there/);
});

test('a manifest in the directory cannot take the UID or name of a running pod, even across a restart', async (context) => {
  const node = await attackedNode(context, '10.99.147.0/24');
  const { place, victim } = node;
  const { uid } = victim.metadata;
  const annotations = {
    'kubernetes.io/config.hash': uid,
    'kubernetes.io/config.mirror': uid,
    'kubernetes.io/config.source': 'api',
    'podwright.dev/config.file': place.path('root', VICTIMS_FILE),
  };
  const thief = manifestOf({ namespace: 'aaa', name: 'thief', uid, annotations });
  const twin = manifestOf({ ...VICTIM, uid, script: forever, annotations });
  // the names of both manifests sort before that of the victim's manifest, so they are read first
  writeFileSync(place.path('root/manifests/aaa-thief.yaml'), thief);
  writeFileSync(place.path('root/manifests/aaa-twin.yaml'), twin);
  await node.untilRefused(`UID ${uid} is already that of pod prod/victim`);
  await node.untilRefused('Pod prod/victim is already defined at');
  await node.assertUntouched();
  await node.restart();
  await node.assertUntouched();
});

test('a pod with a UID that is free again does not get the earlier pod’s volume and containers', async (context) => {
  const node = await attackedNode(context, '10.99.144.0/24');
  const { place, victim } = node;
  const { uid } = victim.metadata;
  const victims = place.path('root', VICTIMS_FILE);
  const text = readFileSync(victims);
  const thieves = place.path('root/manifests/aaa-thief.yaml');
  const untilThiefRuns = async () => {
    await place.until(async () => (await node.secretOf('aaa', 'thief')) !== undefined);
    assert.equal(await node.secretOf('aaa', 'thief'), 'none');
    assert.equal(await node.pod('prod', 'victim'), undefined);
    assert.notEqual(containerId(await node.pod('aaa', 'thief')), containerId(victim));
  };
  await node.restart(() => {
    rmSync(victims);
    writeFileSync(thieves, manifestOf({ namespace: 'aaa', name: 'thief', uid }));
  });
  await untilThiefRuns();
  // the victim's manifest comes back while the node is running, but the UID now belongs to the thief
  writeFileSync(victims, text);
  await node.untilRefused(`UID ${uid} is already that of pod aaa/thief`);
  rmSync(thieves);
  await place.until(async () => (await node.secretOf('prod', 'victim')) === 'secret');
  writeFileSync(thieves, manifestOf({ namespace: 'aaa', name: 'thief', uid }));
  await node.untilRefused(`UID ${uid} is already that of pod prod/victim`);
  rmSync(victims);
  await untilThiefRuns();
  assert.deepEqual(readdirSync(place.path('root/kubelet/pods')), [uid]);
});

test('a pod with an unusual UID runs and is deleted', async (context) => {
  const place = new NodePlace(bundle, '10.99.145.0/24');
  context.after(() => place.remove());
  await place.loadImage();
  await place.startDaemon();
  const odd = manifestOf({ namespace: 'aaa', name: 'odd', uid: 'A..b_c-' });
  await place.ok('apply', place.file('odd.yaml', odd));
  await place.until(async () => (await place.pods())[0]?.status?.phase === 'Running');
  await place.ok('delete', '-n', 'aaa', 'odd');
  assert.deepEqual(await place.pods(), []);
  const { code, err } = await place.call('apply', place.file('odd.yaml', odd.replace('A..b_c-', '../../victim')));
  assert.notEqual(code, 0);
  assert.match(err, /metadata\.uid/);
});
