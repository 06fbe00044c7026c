import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodwrightError } from '@podwright/base';
import type { KubeObject } from '@podwright/kube-api';
import { VIEWED, type ViewReader } from '../view-reader.ts';
import { whyService } from './why-service.ts';
import { whyWorkload } from './why-workload.ts';

const owned = (uid: string) => [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: uid, uid, controller: true }];
const metadata = (name: string, owner?: string) => ({
  ...{ name, namespace: 'shop', uid: name, labels: { app: 'web' } },
  ...(owner !== undefined && { ownerReferences: owned(owner) }),
});
const deployment = {
  metadata: metadata('web'),
  spec: { replicas: 1 },
  status: { replicas: 1, updatedReplicas: 1, availableReplicas: 1 },
} as unknown as KubeObject;
const set = { metadata: metadata('web-1', 'web'), spec: { replicas: 1 } } as unknown as KubeObject;

/** Returns a ready pod of the set whose container was killed for memory `minutesAgo`. */
const podOf = (minutesAgo: number) =>
  ({
    metadata: metadata('web-1-x', 'web-1'),
    spec: { containers: [{ name: 'main', image: 'i', resources: { limits: { memory: '96Mi' } } }] },
    status: {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'True' }],
      containerStatuses: [
        {
          ...{ name: 'main', ready: true, restartCount: 3, state: { running: {} } },
          lastState: {
            terminated: {
              ...{ exitCode: 137, reason: 'OOMKilled' },
              finishedAt: new Date(Date.now() - minutesAgo * 60_000).toISOString(),
            },
          },
        },
      ],
    },
  }) as unknown as KubeObject;

const readerOf = (pod: KubeObject, mayList = true): ViewReader => ({
  get: async () => undefined,
  list: async (resource) => {
    if (!mayList) throw new PodwrightError('permission_denied', 'no right');
    return resource === VIEWED.pods ? [pod] : resource === VIEWED.replicaSets ? [set] : [];
  },
  events: async () => [],
  log: async (_, __, previous) => [previous ? 'report 9 written' : 'started'],
});

test('a complete Deployment whose pod was killed for memory minutes ago is not well', async () => {
  const { isWell, chain, finding } = await whyWorkload(readerOf(podOf(3)), VIEWED.deployments, deployment);
  assert.equal(isWell, false);
  assert.deepEqual(
    chain.map(({ subject }) => subject.kind),
    ['Deployment', 'ReplicaSet', 'Pod'],
  );
  assert.match(finding!.sentence, /restarted 3 times, last: OOMKilled at its limit of 96Mi/);
  assert.deepEqual(finding!.log, { container: 'main', previous: true, lines: ['report 9 written'] });
});

test('the last change of a Deployment is reported if its pod keeps being killed', async () => {
  const setOf = (name: string, revision: string, image: string) => ({
    metadata: { ...metadata(name, 'web'), annotations: { 'deployment.kubernetes.io/revision': revision } },
    spec: { replicas: 1, template: { spec: { containers: [{ name: 'main', image }] } } },
  });
  const sets = [setOf('web-0', '1', 'shop:1'), setOf('web-1', '2', 'shop:2')] as unknown as KubeObject[];
  const list: ViewReader['list'] = async ({ kind }) => (kind === 'Pod' ? [podOf(3)] : sets);
  const { change } = await whyWorkload({ ...readerOf(podOf(3)), list }, VIEWED.deployments, deployment);
  assert.match(change!, /^revision 2, of .*, changed .*image/);
});

test('a complete Deployment is well if no kill is recent, and if its pods may not be listed', async () => {
  const explain = async (reader: ViewReader) => (await whyWorkload(reader, VIEWED.deployments, deployment)).isWell;
  assert.equal(await explain(readerOf(podOf(120))), true);
  assert.equal(await explain(readerOf(podOf(3), false)), true);
});

test('a Service is not well if the container of a ready pod keeps being killed', async () => {
  const service = { metadata: metadata('web'), spec: { selector: { app: 'web' } } } as unknown as KubeObject;
  const { chain, isWell } = await whyService(readerOf(podOf(3)), service);
  assert.equal(isWell, false);
  assert.equal(chain[0]!.sentence, 'is answered by 1 of 1 pod');
  assert.equal(chain.at(-1)!.subject.kind, 'Pod');
});

test('advice has whole commands', async () => {
  const reader: ViewReader = { ...readerOf(podOf(3)), list: async () => [] };
  const explain = async (spec: object, status: object) => {
    const set = { metadata: { ...metadata('web'), generation: 2 }, spec, status } as unknown as KubeObject;
    return (await whyWorkload(reader, VIEWED.statefulSets, set)).finding!.advice[0]!;
  };
  const message = 'pods "web-0" is forbidden: exceeded quota: none, requested: pods=1, used: pods=0, limited: pods=0';
  const conditions = [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message }];
  assert.match(await explain({ replicas: 1 }, { conditions }), /`kubectl get resourcequota -n shop`/);
  assert.match(await explain({ replicas: 0 }, {}), /`kubectl scale -n shop --replicas=1 statefulset\/web`/);
});
