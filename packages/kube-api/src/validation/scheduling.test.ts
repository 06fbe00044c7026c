import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyDefaults } from '../defaults/defaults.ts';
import { formatFieldPath, IssueList } from '../issue.ts';
import { decodeObject } from '../schema/kinds.ts';
import { validateObject } from './validate-object.ts';

/** Asserts that the issues of a pod with this spec begin with the expected texts. */
function check(spec: object, ...expected: string[]): void {
  const issues = new IssueList();
  const containers = [{ name: 'a', image: 'b' }];
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' }, spec: { containers, ...spec } };
  const decoded = decodeObject(pod, issues);
  if (issues.issues.length === 0) validateObject(applyDefaults(decoded!), issues);
  const found = issues.issues.map(({ path, message }) => `${formatFieldPath(path).replace(/^spec\./, '')}: ${message}`);
  const matched = found.length === expected.length && found.every((one, index) => one.startsWith(expected[index]!));
  if (!matched) assert.deepEqual(found, expected, JSON.stringify(spec));
}

const nodeTerms = (...nodeSelectorTerms: object[]) => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});
const expression = (key: string, operator: string, values?: string[]) => ({
  matchExpressions: [{ key, operator, ...(values && { values }) }],
});
const spread = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' };

test('scheduling fields are accepted as in the API server', () => {
  const labelSelector = { matchLabels: { app: 'web' }, matchExpressions: [{ key: 'tier', operator: 'Exists' }] };
  const term = { topologyKey: 'kubernetes.io/hostname', labelSelector, namespaces: ['team'], matchLabelKeys: ['hash'] };
  const podAffinity = {
    requiredDuringSchedulingIgnoredDuringExecution: [term],
    preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm: term }],
  };
  check({ affinity: { podAffinity, podAntiAffinity: podAffinity } });
  check({ ...nodeTerms(expression('cores', 'Gt', ['4']), {}), schedulingGates: [] });
  check({
    affinity: {
      nodeAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 1, preference: { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['here'] }] } },
        ],
      },
    },
    topologySpreadConstraints: [{ ...spread, labelSelector, minDomains: 2, nodeTaintsPolicy: 'Honor' }],
    tolerations: [{ operator: 'Exists' }],
    priorityClassName: 'system-node-critical',
    preemptionPolicy: 'Never',
  });
});

test('invalid scheduling fields are refused', () => {
  const at = 'affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms';
  check(nodeTerms(), `${at}: must have at least one term`);
  check(nodeTerms(expression('zone', 'In')), `${at}[0].matchExpressions[0].values: must have a value`);
  check(nodeTerms(expression('zone', 'Exists', ['a'])), `${at}[0].matchExpressions[0].values: must be empty`);
  check(nodeTerms(expression('zone', 'Lt', ['1', '2'])), `${at}[0].matchExpressions[0].values: must have exactly one`);
  check(nodeTerms(expression('a b', 'Exists')), `${at}[0].matchExpressions[0].key: must be letters`);
  check(nodeTerms(expression('zone', 'Has')), `${at}[0].matchExpressions[0].operator: must be one of In`);
  check(
    nodeTerms({ matchFields: [{ key: 'spec.name', operator: 'Gt', values: ['1'] }] }),
    `${at}[0].matchFields[0].key: must be metadata.name`,
    `${at}[0].matchFields[0].operator: must be In or NotIn`,
  );
  check(
    { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: '' }] } } },
    'affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: must be letters',
  );
  check(
    { topologySpreadConstraints: [spread, { ...spread, maxSkew: 0 }] },
    'topologySpreadConstraints[1].maxSkew: must be at least 1',
    'topologySpreadConstraints[1]: zone with DoNotSchedule is defined twice',
  );
  check(
    {
      topologySpreadConstraints: [
        { ...spread, whenUnsatisfiable: 'ScheduleAnyway', minDomains: 2, matchLabelKeys: ['a'] },
      ],
    },
    'topologySpreadConstraints[0].matchLabelKeys: must not be given without labelSelector',
    'topologySpreadConstraints[0].minDomains: must not be given unless',
  );
  check({ schedulingGates: [{ name: 'wait' }] }, 'schedulingGates: must be empty');
});

test('scheduling gates are accepted on a node with a Kubernetes API, as its scheduler waits for their removal', () => {
  const issues = IssueList.forApi([], 10);
  const spec = { containers: [{ name: 'a', image: 'b' }], schedulingGates: [{ name: 'wait' }] };
  const decoded = decodeObject({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' }, spec }, issues);
  validateObject(applyDefaults(decoded!), issues);
  assert.deepEqual([issues.issues, issues.needsApi], [[], true]);
});
