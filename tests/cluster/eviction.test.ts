/** Disk pressure on a cluster node, and what the node reports to the API server. Runs real containers; requires root. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import { type ApiObject, type Cluster, startCluster } from './cluster.fixture.ts';
import { ClusterKubelet, nodeObject } from './cluster-kubelet.fixture.ts';

type NodeView = ApiObject & {
  spec?: { taints?: { key: string }[] };
  status?: { conditions?: { type: string; status: string; reason: string }[] };
};
type EventList = { items: (ApiObject & { reason: string; involvedObject: { name: string } })[] };

let cluster: Cluster;
let kubelet: ClusterKubelet;

before(async () => {
  cluster = await startCluster();
  kubelet = new ClusterKubelet({
    url: cluster.url,
    certificateAuthority: cluster.certificateAuthority,
    nodeCredential: cluster.nodeCredential('node'),
  });
  const { options } = kubelet;
  options.eviction = { ...options.eviction, hard: { 'nodefs.available': '50%' }, periodMs: 100, transitionMs: 2000 };
  options.node = { ...options.node, statusUpdateMs: 3_600_000 }; // changes are reported immediately
  mkdirSync(options.rootDir);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', options.rootDir]);
  await kubelet.start();
});
after(async () => {
  execFileSync('umount', ['--lazy', kubelet.options.rootDir]);
  await kubelet.end();
  await cluster[Symbol.asyncDispose]();
});

const hasPressure = (expected: 'True' | 'False') => (node: ApiObject) =>
  (node as NodeView).status?.conditions?.find(({ type }) => type === 'DiskPressure')?.status === expected;
const isTainted = (node: ApiObject) =>
  (node as NodeView).spec?.taints?.some(({ key }) => key === 'node.kubernetes.io/disk-pressure') === true;

test('a node with a full disk reports it at once, evicts the pod that fills it, and reports when the pressure is over', async () => {
  await cluster.until(nodeObject, hasPressure('False'));
  const volumes = [{ name: 'data', emptyDir: {} }];
  const container = {
    name: 'main',
    image: kubelet.runtime.image,
    command: ['sh', '-c', 'head -c 40000000 /dev/zero >/data/f; exec sleep 1000'],
    volumeMounts: [{ name: 'data', mountPath: '/data' }],
  };
  const greedy = kubelet.pod('greedy', { volumes, containers: [container], terminationGracePeriodSeconds: 0 });
  await cluster.apply(greedy);
  await cluster.until(nodeObject, hasPressure('True'));
  if (cluster.own === undefined) await cluster.until(nodeObject, isTainted);
  const { status } = (await cluster.until(
    greedy,
    (pod) => (pod as unknown as Pod).status?.phase === 'Failed',
  )) as unknown as Pod;
  assert.equal(status?.reason, 'Evicted');
  assert.match(status?.message ?? '', /^The node was low on resource: ephemeral-storage\. Threshold quantity: 32Mi, /);
  const disruption = status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
  assert.deepEqual([disruption?.status, disruption?.reason], ['True', 'TerminationByKubelet']);
  await cluster.until(nodeObject, hasPressure('False'));
  if (cluster.own === undefined) await cluster.until(nodeObject, (node) => !isTainted(node));
  const { items } = (await cluster.admin.get('/api/v1/events')).body as unknown as EventList;
  const evicted = items.find(({ reason, involvedObject }) => reason === 'Evicted' && involvedObject.name === 'greedy');
  assert.equal(evicted?.metadata.annotations?.starved_resource, 'ephemeral-storage');
  const reasons = items.flatMap(({ reason, involvedObject }) => (involvedObject.name === 'node' ? [reason] : []));
  for (const reason of ['NodeHasDiskPressure', 'EvictionThresholdMet', 'NodeHasNoDiskPressure'])
    assert.ok(reasons.includes(reason), `${reason} among ${reasons}`);
});
