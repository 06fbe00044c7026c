import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, PodAffinityTerm, TopologySpreadConstraint } from '@podwright/kube-api';
import type { Claim, PersistentVolume, StorageClass } from '../cluster/objects.ts';
import type { Snapshot } from '../cluster/snapshot.ts';
import { testNode, testPod, testSnapshot } from '../cluster/test-objects.fixture.ts';
import { decidePod } from './decide-pod.ts';

/** Returns the name of the node chosen for the pod or, if the pod has to wait, the message without its part about preemption. */
function decide(pod: Pod, snapshot: Snapshot): string {
  const decision = decidePod(pod, snapshot, []);
  return decision.kind === 'assign' ? decision.node : decision.message.replace(/ preemption: .*/, '');
}

const check = (pod: Pod, snapshot: Snapshot, expected: string) => assert.equal(decide(pod, snapshot), expected);
const only = (reason: string) => `0/1 nodes are available: 1 ${reason}.`;

test('a pod is rejected for insufficient resources with the same message as upstream', () => {
  const used = testPod('used', { requests: { cpu: '1500m', memory: '3Gi' } });
  const snapshot = testSnapshot([[testNode('a'), used]]);
  check(testPod('p', { requests: { cpu: '500m', memory: '1Gi' } }), snapshot, 'a');
  check(testPod('p', { requests: { cpu: '501m' } }), snapshot, only('Insufficient cpu'));
  check(
    testPod('p', { requests: { cpu: '1', memory: '2Gi', 'example.org/gpu': '1' } }),
    snapshot,
    '0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient example.org/gpu, 1 Insufficient memory.',
  );
  const full = testSnapshot([[testNode('a', { allocatable: { cpu: '2', memory: '1Gi', pods: '1' } }), testPod('o')]]);
  check(testPod('p'), full, only('Too many pods'));
});

test('init containers, sidecars, overhead and pod-level resources are counted', () => {
  const snapshot = testSnapshot([[testNode('a', { allocatable: { cpu: '1', memory: '1Gi', pods: '9' } })]]);
  const container = (name: string, cpu: string, restartPolicy?: 'Always') =>
    ({ name, image: 'a', restartPolicy, resources: { requests: { cpu } } }) as Pod['spec']['containers'][number];
  const pod = (spec: Partial<Pod['spec']>) => testPod('p', { spec });
  const containers = [container('main', '500m')];
  check(pod({ containers, initContainers: [container('i', '1')] }), snapshot, 'a');
  check(pod({ containers, initContainers: [container('s', '600m', 'Always')] }), snapshot, only('Insufficient cpu'));
  check(pod({ containers, overhead: { cpu: '501m' } }), snapshot, only('Insufficient cpu'));
  check(pod({ containers, resources: { requests: { cpu: '2' } } }), snapshot, only('Insufficient cpu'));
});

test('cordoned, tainted and unready nodes accept only pods with matching tolerations', () => {
  const tolerating = (key: string) => testPod('p', { spec: { tolerations: [{ key, operator: 'Exists' }] } });
  const cordoned = testSnapshot([[testNode('a', { spec: { unschedulable: true } })]]);
  check(testPod('p'), cordoned, only('node(s) were unschedulable'));
  check(tolerating('node.kubernetes.io/unschedulable'), cordoned, 'a');
  const tainted = testSnapshot([
    [testNode('a', { spec: { taints: [{ key: 'x', value: '1', effect: 'NoSchedule' }] } })],
  ]);
  check(testPod('p'), tainted, only('node(s) had untolerated taint(s)'));
  check(tolerating('x'), tainted, 'a');
  const unready = testSnapshot([[testNode('a', { conditions: [{ type: 'Ready', status: 'False' }] })]]);
  check(testPod('p'), unready, only('node(s) had untolerated taint(s)'));
  check(tolerating('node.kubernetes.io/not-ready'), unready, 'a');
  const ready = { type: 'Ready', status: 'True' } as const;
  const pressed = testSnapshot([[testNode('a', { conditions: [ready, { type: 'DiskPressure', status: 'True' }] })]]);
  check(testPod('p'), pressed, only('node(s) had untolerated taint(s)'));
  check(testPod('p'), testSnapshot([[testNode('a', { conditions: [] })]]), only('node(s) had untolerated taint(s)'));
});

test('node names, selectors and node affinity restrict the eligible nodes', () => {
  const snapshot = testSnapshot([[testNode('a', { labels: { disk: 'ssd' } })], [testNode('b')]]);
  const required = (nodeSelectorTerms: object[]) =>
    testPod('p', {
      spec: {
        affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
      } as Partial<Pod['spec']>,
    });
  check(testPod('p', { spec: { nodeSelector: { disk: 'ssd' } } }), snapshot, 'a');
  const selector = "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector.";
  check(required([{ matchExpressions: [{ key: 'constructor', operator: 'Exists' }] }]), snapshot, selector);
  check(testPod('p', { spec: { nodeSelector: { disk: 'hdd' } } }), snapshot, selector);
  check(required([{ matchExpressions: [{ key: 'disk', operator: 'DoesNotExist' }] }]), snapshot, 'b');
  const named = (...values: string[]) => ({ matchFields: [{ key: 'metadata.name', operator: 'In', values }] });
  check(required([named('b')]), snapshot, 'b');
  check(
    required([named('c')]),
    snapshot,
    "0/2 nodes are available: 2 node(s) didn't satisfy plugin(s) [NodeAffinity].",
  );
  const conflicting = { matchFields: [...named('a').matchFields, ...named('b').matchFields] };
  check(required([conflicting]), snapshot, '0/2 nodes are available: pod affinity terms conflict.');
});

test('a host port can be used only once', () => {
  const withPort = (name: string, hostIP?: string) =>
    testPod(name, {
      spec: {
        containers: [{ name: 'c', image: 'a', ports: [{ containerPort: 80, hostPort: 80, hostIP }] }],
      } as Partial<Pod['spec']>,
    });
  const snapshot = testSnapshot([[testNode('a'), withPort('o', '127.0.0.1')]]);
  check(withPort('p'), snapshot, only("node(s) didn't have free ports for the requested pod ports"));
  check(withPort('p', '127.0.0.2'), snapshot, 'a');
});

const ZONE = 'topology.kubernetes.io/zone';
const inZone = (name: string, zone: string) => testNode(name, { labels: { [ZONE]: zone } });
const web = { app: 'web' };

test('pods are spread over topology domains within the maximum skew', () => {
  const spread = (rest: Partial<TopologySpreadConstraint> = {}) =>
    testPod('p', {
      labels: web,
      spec: {
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: ZONE,
            whenUnsatisfiable: 'DoNotSchedule',
            labelSelector: { matchLabels: web },
            ...rest,
          },
        ],
      },
    });
  const first = testPod('1', { labels: web });
  const snapshot = testSnapshot([[inZone('a', '1'), first], [inZone('b', '2')]]);
  check(spread(), snapshot, 'b');
  const full = testSnapshot([[inZone('a', '1'), first], [testNode('b')]]);
  const none = "node(s) didn't match pod topology spread constraints";
  check(spread({ minDomains: 2 }), full, `0/2 nodes are available: 1 ${none}, 1 ${none} (missing required label).`);
  check(spread(), full, 'a');
  check(spread({ maxSkew: 2, minDomains: 2 }), full, 'a');
});

test('pod affinity and anti-affinity restrict the topology domains', () => {
  const term = (rest: Partial<PodAffinityTerm> = {}): PodAffinityTerm => ({
    topologyKey: ZONE,
    labelSelector: { matchLabels: web },
    ...rest,
  });
  const withTerm = (kind: 'podAffinity' | 'podAntiAffinity', one: PodAffinityTerm, labels?: Record<string, string>) =>
    testPod('p', { labels, spec: { affinity: { [kind]: { requiredDuringSchedulingIgnoredDuringExecution: [one] } } } });
  const running = testPod('w', { labels: web });
  const snapshot = testSnapshot([[inZone('a', '1'), running], [inZone('b', '2')]]);
  check(withTerm('podAffinity', term()), snapshot, 'a');
  check(withTerm('podAntiAffinity', term()), snapshot, 'b');
  const elsewhere = term({ namespaces: ['other'] });
  check(
    withTerm('podAffinity', elsewhere),
    snapshot,
    "0/2 nodes are available: 2 node(s) didn't match pod affinity rules.",
  );
  const selected = term({ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'default' } } });
  check(withTerm('podAffinity', selected), snapshot, 'a');
  const alone = testSnapshot([[inZone('a', '1')]]);
  check(withTerm('podAffinity', term(), web), alone, 'a'); // the first of those that it wants to be with
  check(withTerm('podAffinity', term()), alone, only("node(s) didn't match pod affinity rules"));
  const guarded = testSnapshot([[inZone('a', '1'), withTerm('podAntiAffinity', term())]]);
  check(testPod('q', { labels: web }), guarded, only("node(s) didn't satisfy existing pods anti-affinity rules"));
  const both = testSnapshot([[inZone('a', '1'), running]]);
  check(withTerm('podAntiAffinity', term()), both, only("node(s) didn't match pod anti-affinity rules"));
});

const claim = (name: string, spec: Claim['spec'], metadata: Partial<Claim['metadata']> = {}): Claim => ({
  metadata: { namespace: 'default', name, uid: `uid-${name}`, ...metadata },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
});
const bound = { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } };

function withStorage(claims: Claim[], volumes: PersistentVolume[], classes: StorageClass[] = []): Partial<Snapshot> {
  return {
    volumes,
    claim: (_namespace, name) => claims.find(({ metadata }) => metadata.name === name),
    volume: (name) => volumes.find(({ metadata }) => metadata.name === name),
    storageClass: (name) => classes.find(({ metadata }) => metadata.name === name),
  };
}

const claiming = (claimName: string) =>
  testPod('p', { spec: { volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }] } as Partial<Pod['spec']> });

const local = (name: string, node: string, spec: PersistentVolume['spec'] = {}): PersistentVolume => ({
  metadata: { name },
  spec: {
    capacity: { storage: '2Gi' },
    accessModes: ['ReadWriteOnce'],
    storageClassName: 'local',
    nodeAffinity: {
      required: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }] }],
      },
    },
    ...spec,
  },
  status: { phase: 'Available' },
});

test('claims must exist and be bound, or wait for their first consumer', () => {
  const nodes = [[testNode('a')], [testNode('b')]] as const;
  const late = { metadata: { name: 'local' }, volumeBindingMode: 'WaitForFirstConsumer' };
  const made = { ...late, metadata: { name: 'made' }, provisioner: 'x' };
  const snapshot = testSnapshot(
    nodes,
    withStorage(
      [
        claim('bound', { volumeName: 'on-b' }, bound),
        claim('lost', { volumeName: 'gone' }, bound),
        claim('immediate', { storageClassName: 'now' }),
        claim('late', { storageClassName: 'local' }),
        claim('large', { storageClassName: 'local', resources: { requests: { storage: '3Gi' } } }),
        claim('made', { storageClassName: 'made' }),
        claim('ended', {}, { deletionTimestamp: '2026-01-01T00:00:00Z' }),
      ],
      [local('on-b', 'b', { claimRef: { name: 'other' } }), local('free', 'b')],
      [late, made],
    ),
  );
  const all = (reason: string) => `0/2 nodes are available: ${reason}.`;
  check(claiming('absent'), snapshot, all('persistentvolumeclaim "absent" not found'));
  check(claiming('ended'), snapshot, all('persistentvolumeclaim "ended" is being deleted'));
  check(claiming('immediate'), snapshot, all('pod has unbound immediate PersistentVolumeClaims'));
  check(claiming('bound'), snapshot, 'b');
  check(claiming('late'), snapshot, 'b');
  check(claiming('made'), snapshot, 'a');
  check(claiming('large'), snapshot, all("2 node(s) didn't find available persistent volumes to bind"));
  check(claiming('lost'), snapshot, all('2 node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)'));
});

test('a single-pod volume is used by only one pod, and volume zones must match node zones', () => {
  const exclusive = claim('one', { volumeName: 'v', accessModes: ['ReadWriteOncePod'] }, bound);
  const volume = { metadata: { name: 'v', labels: { [ZONE]: '1__3' } } };
  const storage = withStorage([exclusive], [volume]);
  const other = { ...claiming('one'), metadata: { ...claiming('one').metadata, name: 'o', uid: 'o' } };
  check(
    claiming('one'),
    testSnapshot([[testNode('a'), other]], storage),
    only(
      'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod',
    ),
  );
  check(claiming('one'), testSnapshot([[inZone('a', '2')], [inZone('b', '3')]], storage), 'b');
  check(claiming('one'), testSnapshot([[testNode('a')]], storage), 'a');
});

test('among several nodes, the pod gets the one it prefers that has the most free resources', () => {
  const busy = testPod('o', { requests: { cpu: '1', memory: '1Gi' } });
  check(testPod('p'), testSnapshot([[testNode('a'), busy], [testNode('b')]]), 'b');
  const avoided = testNode('b', { spec: { taints: [{ key: 'x', effect: 'PreferNoSchedule' }] } });
  check(testPod('p'), testSnapshot([[testNode('a'), busy], [avoided]]), 'a');
  const preferring = testPod('p', {
    spec: {
      affinity: {
        nodeAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            {
              weight: 1,
              preference: { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['a'] }] },
            },
          ],
        },
      },
    },
  });
  check(preferring, testSnapshot([[testNode('a'), busy], [testNode('b')]]), 'a');
});

test('a pod waits if there are no nodes', () => {
  check(testPod('p'), testSnapshot([]), 'no nodes available to schedule pods');
});

test('space being freed for a higher-priority pod is not given to others', () => {
  const nominated = testPod('vip', { requests: { cpu: '1500m' }, spec: { priority: 10 } });
  const snapshot = testSnapshot([[testNode('a')]]);
  const small = testPod('p', { requests: { cpu: '1' } });
  const others = [{ pod: nominated, node: 'a' }];
  assert.equal(decidePod(small, snapshot, others).kind, 'wait');
  assert.equal(decidePod({ ...small, spec: { ...small.spec, priority: 11 } }, snapshot, others).kind, 'assign');
  assert.equal(decidePod(nominated, snapshot, others).kind, 'assign');
});

test('a pod is not assigned next to a pod that does not run yet, nor kept from a node for one nominated elsewhere', () => {
  const near = (kind: 'podAffinity' | 'podAntiAffinity', topologyKey: string) => {
    const term = { topologyKey, labelSelector: { matchLabels: web } };
    return testPod('p', { spec: { affinity: { [kind]: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } } });
  };
  const vip = testPod('vip', { labels: web, spec: { priority: 10 } });
  const others = [{ pod: vip, node: 'a' }];
  const snapshot = testSnapshot([[inZone('a', '1')], [inZone('b', '1')]]);
  assert.equal(decidePod(near('podAffinity', ZONE), snapshot, others).kind, 'wait');
  assert.deepEqual(decidePod(near('podAntiAffinity', ZONE), snapshot, others), { kind: 'assign', node: 'b' });
});

test('pods are preempted only on nodes where the pod fits with and without the nominated ones', () => {
  const term = { topologyKey: ZONE, labelSelector: { matchLabels: web } };
  const low = testPod('low', { requests: { cpu: '2' }, spec: { priority: -1 } });
  const vip = testPod('vip', { labels: web, spec: { priority: 10 } });
  const pod = testPod('p', {
    requests: { cpu: '1' },
    spec: { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } },
  });
  const decision = decidePod(pod, testSnapshot([[inZone('a', '1'), low]]), [{ pod: vip, node: 'a' }]);
  assert.equal(decision.kind === 'wait' && decision.preemption, undefined);
});
