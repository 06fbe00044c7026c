/** Pod events at the API server, sent by a kubelet with real containers. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { waitFor, withTimeout } from '@podwright/base';
import { type Cluster, startCluster } from './cluster.fixture.ts';
import { ClusterKubelet, nodeObject } from './cluster-kubelet.fixture.ts';

type ShownEvent = {
  metadata: { name: string };
  reason: string;
  count: number;
  source: object;
  involvedObject: { kind: string; name: string; uid: string; fieldPath?: string };
  reportingComponent: string;
};

let cluster: Cluster;
let kubelet: ClusterKubelet;

before(async () => {
  cluster = await startCluster();
  await cluster.apply(nodeObject);
  kubelet = new ClusterKubelet({
    url: cluster.url,
    certificateAuthority: cluster.certificateAuthority,
    nodeCredential: cluster.nodeCredential('node'),
  });
  await kubelet.start();
});
after(async () => {
  await kubelet.end();
  await cluster[Symbol.asyncDispose]();
});

/** Returns a pod's events as soon as `hold` returns true for them. */
async function eventsOf(pod: string, hold: (events: ShownEvent[]) => boolean): Promise<ShownEvent[]> {
  using signal = withTimeout(undefined, 60_000, `wait for the events of ${pod}`);
  const look = async () => {
    const { body } = await cluster.admin.get(
      `/api/v1/namespaces/default/events?fieldSelector=involvedObject.name=${pod}`,
    );
    const events = body.items as ShownEvent[];
    return hold(events) ? events : undefined;
  };
  return await waitFor(look, { intervalMs: 50, signal });
}

test('events report the start of a pod and refer to the container', async () => {
  const [pod] = await cluster.apply(kubelet.pod('started'));
  const events = await eventsOf('started', (all) => all.some(({ reason }) => reason === 'Started'));
  const own = events.filter(({ reportingComponent }) => reportingComponent === 'kubelet');
  assert.deepEqual(own.map(({ reason }) => reason).sort(), ['Created', 'Pulled', 'Started']);
  for (const { source, involvedObject, count } of own) {
    assert.deepEqual([source, count], [{ component: 'kubelet', host: 'node' }, 1]);
    assert.deepEqual(
      [involvedObject.kind, involvedObject.uid, involvedObject.fieldPath],
      ['Pod', pod!.metadata.uid, 'spec.containers{main}'],
    );
  }
  await cluster.delete(pod!, { gracePeriodSeconds: 0 });
});

test('an event reports the start of the kubelet itself', async () => {
  const events = await eventsOf('node', (all) => all.some(({ reason }) => reason === 'Starting'));
  assert.equal(events.find(({ reason }) => reason === 'Starting')!.involvedObject.kind, 'Node');
});

test('repeated events become one event with a count', async () => {
  const [pod] = await cluster.apply(kubelet.pod('again', { script: 'exit 1', restartPolicy: 'Always' }));
  const isRepeated = (reason: string) => (event: ShownEvent) => event.reason === reason && event.count >= 2;
  const events = await eventsOf('again', (all) => all.some(isRepeated('Started')) && all.some(isRepeated('Created')));
  assert.equal(events.filter(({ reason }) => reason === 'Started').length, 1);
  await cluster.delete(pod!, { gracePeriodSeconds: 0 });
});
