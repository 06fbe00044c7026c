import assert from 'node:assert/strict';
import { test } from 'node:test';
import { created, POD, set, strategyOf, workload } from './strategy-checks.fixture.ts';

const NO_SELECTOR = 'a null labelSelector results in matching no pod';

const TABLE: readonly (readonly [name: string, changes: Record<string, unknown>, warnings: readonly string[]])[] = [
  ['an ordinary pod', {}, []],
  [
    'a name with dots',
    { 'metadata.name': 'a.b' },
    [
      "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]",
    ],
  ],
  [
    'deprecated labels of nodes',
    { 'spec.nodeSelector': { 'beta.kubernetes.io/os': 'linux' } },
    ['spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead'],
  ],
  [
    'constraints without a selector',
    {
      'spec.topologySpreadConstraints': [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' }],
      'spec.affinity': {
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: { topologyKey: 'zone' } }],
        },
      },
    },
    [
      `spec.topologySpreadConstraints[0].labelSelector: ${NO_SELECTOR}`,
      `spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.labelSelector: ${NO_SELECTOR}`,
    ],
  ],
  [
    'deprecated annotations and volumes',
    {
      'metadata.annotations': { 'scheduler.alpha.kubernetes.io/critical-pod': '' },
      'spec.volumes': [{ name: 'a', gitRepo: { repository: 'x' } }],
    },
    [
      'metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: non-functional in v1.16+; use the "priorityClassName" field instead',
      'spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+',
    ],
  ],
  [
    'overlapping files',
    {
      'spec.volumes': [
        {
          name: 'a',
          configMap: {
            name: 'x',
            items: [
              { key: 'a', path: 'd' },
              { key: 'b', path: 'd/e' },
            ],
          },
        },
        {
          name: 'b',
          projected: {
            sources: [
              {},
              { secret: { name: 'y', items: [{ key: 'a', path: 'f' }] } },
              { downwardAPI: { items: [{ path: 'f', fieldRef: { fieldPath: 'metadata.name' } }] } },
            ],
          },
        },
      ],
    },
    [
      'volume "a" (ConfigMap "x"): overlapping paths: "d/e" with "d"',
      'volume "b" (Projected) has no sources provided',
      'volume "b" (Projected): overlapping paths: "f" (DownwardAPI) with "f" (Secret "y")',
    ],
  ],
  [
    'repeated entries',
    {
      'spec.hostAliases': [{ ip: '10.0.0.1' }, { ip: '10.0.0.1' }],
      'spec.imagePullSecrets': [{ name: 'a' }, { name: 'a' }, { name: '' }],
      'spec.containers.0.env': [
        { name: 'A', value: '1' },
        { name: 'A', value: '2' },
        { name: 'A', value: '$(A):3' },
      ],
    },
    [
      'spec.hostAliases[1].ip: duplicate ip "10.0.0.1"',
      'spec.imagePullSecrets[1].name: duplicate name "a"',
      'spec.imagePullSecrets[2].name: invalid empty name ""',
      'spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply',
    ],
  ],
  [
    'fractions of bytes',
    { 'spec.containers.0.resources': { limits: { memory: '100m' } } },
    [
      'spec.containers[0].resources.limits[memory]: fractional byte value "100m" is invalid, must be an integer',
      'spec.containers[0].resources.requests[memory]: fractional byte value "100m" is invalid, must be an integer',
    ],
  ],
  [
    'ports',
    {
      'spec.containers.0.ports': [
        { containerPort: 80, name: 'http' },
        { containerPort: 80, hostPort: 80 },
        { containerPort: 80, hostPort: 80, hostIP: '10.0.0.1', name: 'http' },
        { containerPort: 80 },
      ],
    },
    [
      'spec.containers[0].ports[1]: overlapping port definition with spec.containers[0].ports[0]',
      'spec.containers[0].ports[2]: overlapping port definition with spec.containers[0].ports[0]',
      'spec.containers[0].ports[2]: dangerously ambiguous port definition with spec.containers[0].ports[1]',
      'spec.containers[0].ports[3]: duplicate port definition with spec.containers[0].ports[0]',
      'spec.containers[0].ports[3]: overlapping port definition with spec.containers[0].ports[1]',
      'spec.containers[0].ports[3]: overlapping port definition with spec.containers[0].ports[2]',
      'spec.containers[0].ports[2]: duplicate port name "http" with spec.containers[0].ports[0], services and probes that select ports by name will use spec.containers[0].ports[0]',
    ],
  ],
  [
    'addresses',
    { 'spec.dnsConfig': { nameservers: ['2001:db8:0::1'] } },
    [
      'spec.dnsConfig.nameservers[0]: IPv6 address "2001:db8:0::1" should be in RFC 5952 canonical format ("2001:db8::1")',
    ],
  ],
];

for (const [name, changes, warnings] of TABLE)
  test(`the warnings about ${name} are upstream's`, () => {
    const pod = created('pods', set(POD, changes));
    assert.deepEqual(strategyOf('pods').warnings?.(pod, undefined), warnings);
  });

test('a template causes warnings only if the object is new or changed', () => {
  const object = set(workload('apps/v1', 'Deployment'), { 'spec.template.spec.terminationGracePeriodSeconds': -1 });
  const deployment = created('deployments.apps', object);
  const words =
    'spec.template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1';
  const { warnings } = strategyOf('deployments.apps');
  assert.deepEqual(warnings?.(deployment, undefined), [words]);
  assert.deepEqual(warnings?.(deployment, deployment), []);
  assert.deepEqual(warnings?.(set(deployment, { 'spec.replicas': 5 }), deployment), [words]);
});
