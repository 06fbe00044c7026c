/** Mutating admission policies: their effect on a Deployment, and expressions that fail to compile. */
import type { Case } from './cases.ts';
import type { Json } from './json.ts';
import type { Transcript } from './transcript.ts';

const GROUP = '/apis/admissionregistration.k8s.io/v1';
/** How long to wait until kube-apiserver has seen new policies, which it reads from an informer. */
const INFORMED_MS = 3000;

const apply = (expression: string): Json => ({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } });
const jsonPatch = (expression: string): Json => ({ patchType: 'JSONPatch', jsonPatch: { expression } });
const one = (...mutations: Json[]): Json => ({ mutations });

/** Policy specs that apply to a Deployment, each in the namespace `mutate-NAME`. */
const POLICIES: Record<string, Json> = {
  label: one(apply('Object{metadata: Object.metadata{labels: Object.metadata.labels{from: "policy"}}}')),
  'label-map': one(apply('Object{metadata: Object.metadata{labels: {"a/b": "c"}}}')),
  replicas: one(apply('Object{spec: Object.spec{replicas: object.spec.replicas + 1}}')),
  container: one(
    apply(
      'Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: [Object.spec.template.spec.containers{name: "side", image: "s"}]}}}}',
    ),
  ),
  'container-change': one(
    apply(
      'Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: object.spec.template.spec.containers.map(c, Object.spec.template.spec.containers.item{name: c.name, imagePullPolicy: "Never"})}}}}',
    ),
  ),
  'container-items': one(
    apply(
      'Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: object.spec.template.spec.containers.map(c, Object.spec.template.spec.containers{name: c.name, imagePullPolicy: "Never"})}}}}',
    ),
  ),
  atomic: one(
    apply(
      'Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: [Object.spec.template.spec.containers{name: "c", args: ["x"]}]}}}}',
    ),
  ),
  'atomic-map': one(
    apply(
      'Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{nodeSelector: {"a": "b"}}}}}',
    ),
  ),
  selector: one(apply('Object{spec: Object.spec{selector: Object.spec.selector{matchLabels: {"a": "b"}}}}')),
  unknown: one(apply('Object{spec: Object.spec{unknown: 1}}')),
  'wrong-type': one(apply('Object{spec: Object.spec{replicas: "many"}}')),
  'wrong-name': one(apply('Object{spec: Object.wrong{replicas: 1}}')),
  'no-key': one(
    apply(
      'Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: [Object.spec.template.spec.containers{image: "c"}]}}}}',
    ),
  ),
  nothing: one(apply('Object{}')),
  rename: one(apply('Object{metadata: Object.metadata{name: "other"}}')),
  optional: one(apply('Object{metadata: Object.metadata{?annotations: object.metadata[?"labels"]}}')),
  error: one(apply('Object{spec: Object.spec{replicas: object.spec.none + 1}}')),
  'error-ignored': {
    ...one(apply('Object{spec: Object.spec{replicas: object.spec.none + 1}}')),
    failurePolicy: 'Ignore',
  },
  'json-add': one(jsonPatch('[JSONPatch{op: "add", path: "/metadata/labels/x", value: "y"}]')),
  'json-escape': one(
    jsonPatch('[JSONPatch{op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey("example.com/x~y"), value: "z"}]'),
  ),
  'json-object': one(
    jsonPatch('[JSONPatch{op: "add", path: "/spec/strategy", value: Object.spec.strategy{type: "Recreate"}}]'),
  ),
  'json-map': one(jsonPatch('[JSONPatch{op: "add", path: "/metadata/annotations", value: {"a": "b", "c": "d"}}]')),
  'json-number': one(jsonPatch('[JSONPatch{op: "replace", path: "/spec/replicas", value: 1 + 1}]')),
  'json-test': one(
    jsonPatch(
      '[JSONPatch{op: "test", path: "/spec/replicas", value: 5}, JSONPatch{op: "replace", path: "/spec/replicas", value: 6}]',
    ),
  ),
  'json-test-true': one(
    jsonPatch(
      '[JSONPatch{op: "test", path: "/spec/replicas", value: 0}, JSONPatch{op: "replace", path: "/spec/replicas", value: 6}]',
    ),
  ),
  'json-move': one(jsonPatch('[JSONPatch{op: "move", from: "/metadata/labels/l", path: "/metadata/labels/m"}]')),
  'json-copy': one(jsonPatch('[JSONPatch{op: "copy", from: "/metadata/labels/l", path: "/metadata/labels/m"}]')),
  'json-remove': one(jsonPatch('[JSONPatch{op: "remove", path: "/metadata/labels/l"}]')),
  'json-missing': one(jsonPatch('[JSONPatch{op: "remove", path: "/metadata/none/l"}]')),
  'json-unknown-field': one(jsonPatch('[JSONPatch{op: "add", path: "/spec/none", value: 1}]')),
  'json-wrong-type': one(jsonPatch('[JSONPatch{op: "add", path: "/spec/replicas", value: "x"}]')),
  'json-invalid': one(jsonPatch('[JSONPatch{op: "add", path: "/spec/replicas", value: -1}]')),
  'json-condition': one(
    jsonPatch('object.spec.replicas == 0 ? [JSONPatch{op: "replace", path: "/spec/replicas", value: 3}] : []'),
  ),
  two: one(
    apply('Object{spec: Object.spec{replicas: object.spec.replicas + 1}}'),
    jsonPatch('[JSONPatch{op: "replace", path: "/spec/replicas", value: object.spec.replicas * 10}]'),
  ),
  variables: {
    variables: [
      { name: 'count', expression: 'object.spec.replicas + 4' },
      { name: 'more', expression: 'variables.count + 1' },
    ],
    ...one(apply('Object{spec: Object.spec{replicas: variables.more}}')),
  },
  condition: {
    matchConditions: [{ name: 'c', expression: 'object.spec.replicas > 0' }],
    ...one(apply('Object{spec: Object.spec{replicas: 9}}')),
  },
  'condition-error': {
    matchConditions: [{ name: 'c', expression: 'object.spec.none > 0' }],
    ...one(apply('Object{spec: Object.spec{replicas: 9}}')),
  },
  again: {
    reinvocationPolicy: 'IfNeeded',
    ...one(apply('Object{spec: Object.spec{replicas: object.spec.replicas + 1}}')),
  },
  param: {
    paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    ...one(apply('Object{spec: Object.spec{replicas: int(params.data.replicas)}}')),
  },
  'param-missing': {
    paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    ...one(apply('Object{spec: Object.spec{replicas: 7}}')),
  },
  'param-unknown': {
    paramKind: { apiVersion: 'none.example.com/v1', kind: 'None' },
    ...one(apply('Object{spec: Object.spec{replicas: 7}}')),
  },
  namespace: one(apply('Object{metadata: Object.metadata{labels: {"ns": namespaceObject.metadata.name}}}')),
  authorizer: one(
    apply(
      'Object{metadata: Object.metadata{labels: {"may": string(authorizer.group("apps").resource("deployments").check("get").allowed())}}}',
    ),
  ),
};

const DEPLOYMENT = {
  metadata: { name: 'd', labels: { l: 'v' } },
  spec: {
    replicas: 0,
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
};

const RULE = { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['deployments'] };

/** Creates a Deployment in the namespace of each mutating policy, which shows the policy's effect. */
async function mutations(api: Transcript): Promise<void> {
  const names = Object.keys(POLICIES);
  const space = (name: string) => `mutate-${name}`;
  for (const name of names) {
    await api.send('POST', '/api/v1/namespaces', { metadata: { name: space(name) } }, { quiet: true });
    const data = { metadata: { name: 'settings' }, data: { replicas: '8' } };
    await api.send('POST', `/api/v1/namespaces/${space(name)}/configmaps`, data, { quiet: true });
    const selector = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': space(name) } } };
    await api.post(`${GROUP}/mutatingadmissionpolicies`, {
      metadata: { name: space(name) },
      spec: {
        matchConstraints: { resourceRules: [RULE], ...selector },
        reinvocationPolicy: 'Never',
        ...POLICIES[name],
      },
    });
    const paramRef = name.startsWith('param') && {
      paramRef: { name: name === 'param-missing' ? 'none' : 'settings', parameterNotFoundAction: 'Deny' },
    };
    await api.post(`${GROUP}/mutatingadmissionpolicybindings`, {
      metadata: { name: space(name) },
      spec: { policyName: space(name), ...paramRef },
    });
  }
  await new Promise((resolve) => setTimeout(resolve, INFORMED_MS));
  const path = (name: string) => `/apis/apps/v1/namespaces/${space(name)}/deployments`;
  await api.sendAll(names.map((name) => ({ method: 'POST', path: path(name), body: DEPLOYMENT })));
  for (const name of ['replicas', 'two', 'again'])
    await api.patch(`${path(name)}/d`, 'merge', { metadata: { labels: { changed: 'x' } } });
  for (const name of names)
    for (const kind of ['mutatingadmissionpolicies', 'mutatingadmissionpolicybindings'])
      await api.send('DELETE', `${GROUP}/${kind}/${space(name)}`, undefined, { quiet: true });
}

/** Creates policies whose expressions do not compile, so that the server rejects them. */
async function compilation(api: Transcript): Promise<void> {
  const mutations = [
    apply('Object{'),
    apply('{"spec": {}}'),
    apply('object'),
    apply('Object.spec{replicas: 1}'),
    apply('Wrong{}'),
    apply('Object{metadata: Object.metadata{labels: jsonpatch.escapeKey("a/b")}}'),
    jsonPatch('[]'),
    jsonPatch('JSONPatch{op: "add"}'),
    jsonPatch('[JSONPatch{op: 1}]'),
    jsonPatch('[JSONPatch{other: "x"}]'),
    jsonPatch('[Object{}]'),
    jsonPatch('true ? [JSONPatch{op: "add", path: "/a"}] : []'),
    jsonPatch('variables.none'),
    jsonPatch('[JSONPatch{op: "add", path: params.x}]'),
  ];
  for (const mutation of mutations)
    await api.post(`${GROUP}/mutatingadmissionpolicies?dryRun=All`, {
      metadata: { name: 'compiled' },
      spec: { matchConstraints: { resourceRules: [RULE] }, reinvocationPolicy: 'Never', mutations: [mutation] },
    });
}

export const MUTATING_POLICY_CASES: readonly Case[] = [
  { name: 'mutating policies: mutations', run: mutations },
  { name: 'mutating policies: compilation', run: compilation },
];
