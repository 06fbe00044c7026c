import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ruleAllows } from './rule-matching.ts';
import { request, rules } from './test-rbac.fixture.ts';

/** Test cases: a rule, requests that it allows, and requests that it does not allow. */
const TABLE: [rule: string, allowed: string[], others: string[]][] = [
  [
    'get core pods',
    ['get core pods', 'get core pods a/b'],
    ['list core pods', 'get apps pods', 'get core pods/log', 'get /pods'],
  ],
  ['* core pods', ['get core pods', 'approve core pods'], ['get core nodes']],
  ['get * pods', ['get core pods', 'get apps pods'], ['get apps deployments']],
  ['get core *', ['get core pods', 'get core pods/log'], ['get apps pods']],
  ['get core pods/*', [], ['get core pods', 'get core pods/log']],
  ['get core pods/log', ['get core pods/log'], ['get core pods', 'get core jobs/log']],
  [
    'get apps */scale',
    ['get apps deployments/scale'],
    ['get apps deployments', 'get apps scale', 'get core pods/scale', 'get apps deployments/autoscale'],
  ],
  ['get core pods web,db', ['get core pods a/web', 'get core pods b/db'], ['get core pods', 'get core pods a/api']],
  ['get,list core,apps pods,jobs', ['list apps jobs'], ['watch apps jobs', 'list batch jobs']],
  ['get /healthz', ['get /healthz'], ['get /healthz/', 'head /healthz', 'get core healthz']],
  ['get /healthz/*', ['get /healthz/etcd', 'get /healthz/'], ['get /healthz', 'get /livez/x']],
  ['get /api**', ['get /api', 'get /apis'], ['get /ap']],
  ['get /a*b', ['get /a*b'], ['get /axb']],
  ['* *', ['get /', 'post /anything'], ['get core pods']],
  ['* * *', ['get core pods/log a/b', 'escalate rbac.authorization.k8s.io roles'], ['get /healthz']],
];

for (const [line, allowed, others] of TABLE)
  test(`the rule "${line}" allows what it names, and nothing else`, () => {
    const [rule] = rules(line);
    const verdicts = [...allowed, ...others].map((one) => [one, ruleAllows(rule!, request(one))]);
    assert.deepEqual(verdicts, [...allowed.map((one) => [one, true]), ...others.map((one) => [one, false])]);
  });

test('a rule with null lists allows nothing', () => {
  const empty = { verbs: ['*'], apiGroups: null, resources: null, resourceNames: null, nonResourceURLs: null };
  for (const line of ['get core pods', 'get core pods/log', 'get /'])
    assert.equal(ruleAllows(empty, request(line)), false);
  const noGroup = { verbs: ['*'], apiGroups: ['*'], resources: null };
  assert.equal(ruleAllows(noGroup, request('get core pods/log')), false);
});
