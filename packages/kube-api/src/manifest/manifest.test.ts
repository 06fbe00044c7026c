import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeManifest, decodeManifests } from './manifest.ts';

const podText = (spec: string, name = 'web') => `apiVersion: v1
kind: Pod
metadata:
  name: ${name}
spec:
${spec.replaceAll(/^/gm, '  ')}
`;

const errorsOf = (text: string) => decodeManifest(text, { file: 'x.yaml' }).errors.map(String);

test('documents of each kind are decoded, defaulted and sorted by kind', () => {
  const text = [
    podText('containers: [{name: a, image: busybox}]'),
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: page}\ndata: {index.html: hello}\n',
    'apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: other}\nstringData: {password: hunter2}\n',
    'apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: fast}\nhandler: crun\n',
  ].join('---\n');
  const decoded = decodeManifest(text, { file: 'all.yaml' });
  assert.deepEqual(decoded.errors, []);
  assert.equal(decoded.pods[0]?.spec.restartPolicy, 'Always');
  assert.equal(decoded.pods[0]?.metadata.namespace, 'default');
  assert.equal(decoded.configMaps[0]?.data?.['index.html'], 'hello');
  assert.deepEqual(decoded.secrets[0]?.data, { password: Buffer.from('hunter2').toString('base64') });
  assert.equal(decoded.runtimeClasses[0]?.metadata.namespace, '');
  assert.deepEqual(
    decoded.objects.map(({ line, object }) => [line, object.kind]),
    [
      [1, 'Pod'],
      [8, 'ConfigMap'],
      [13, 'Secret'],
      [18, 'RuntimeClass'],
    ],
  );
});

test('objects without a namespace get the given one, and those with a different one are rejected', () => {
  const decode = (text: string) => decodeManifest(text, { file: 'x.yaml', namespace: 'team' });
  const configMap = (metadata: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {${metadata}}\n`;
  const runtimeClass = 'apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: c}\nhandler: crun\n';
  const texts = [configMap('name: a'), configMap('name: b, namespace: team'), runtimeClass];
  const { objects, errors } = decode(texts.join('---\n'));
  assert.deepEqual(errors, []);
  assert.deepEqual(
    objects.map(({ object: { metadata } }) => metadata.namespace),
    ['team', 'team', ''],
  );
  const refused = decode([configMap('name: a, namespace: other'), configMap('name: 1')].join('---\n'));
  assert.equal(
    String(refused.errors[0]),
    'x.yaml:3:32: metadata.namespace: must be "team" as on the command line, got "other"',
  );
  assert.deepEqual(refused.refused, ['ConfigMap other/a', 'ConfigMap team/1']);
  const bare = ['', 'metadata:\n', 'metadata: []\n'].map((metadata) => `apiVersion: v1\nkind: ConfigMap\n${metadata}`);
  for (const text of bare) assert.match(String(decode(text).errors[0]), /metadata: (is required|must be an object)/);
});

test('empty lists and maps are treated as absent', () => {
  const container = 'containers: [{name: a, image: b, env: [], resources: {limits: {}}}]';
  const volumes = 'volumes: [{name: c, configMap: {name: page, items: []}}, {name: e, emptyDir: {}}]';
  const { errors, pods } = decodeManifest(podText(`nodeSelector: {}\n${container}\n${volumes}`), { file: 'x.yaml' });
  assert.deepEqual(errors, []);
  const { spec } = pods[0]!;
  assert.equal('nodeSelector' in spec, false);
  assert.equal('env' in spec.containers[0]!, false);
  assert.deepEqual(spec.containers[0]!.resources, {});
  const wrong = ['securityContext: []', 'livenessProbe: []', 'command: {}', 'resources: []'];
  for (const field of wrong) {
    const { errors: found } = decodeManifest(podText(`containers: [{name: a, image: b, ${field}}]`), {
      file: 'x.yaml',
    });
    assert.match(String(found[0]), /: must be (a list|an object), got/, field);
  }
  // without `items`, every key of the ConfigMap or Secret becomes a file
  assert.deepEqual(spec.volumes, [
    { name: 'c', configMap: { name: 'page', defaultMode: 0o644 } },
    { name: 'e', emptyDir: {} },
  ]);
});

test('JSON is accepted as a manifest, including tabs and Lists', () => {
  const item = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
  const text = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [item] }, null, '\t');
  assert.equal(decodeManifest(text, { file: 'x.json' }).configMaps.length, 1);
});

test('an error contains file, line, column, field and the value', () => {
  const table: [string, string][] = [
    [
      podText('containers:\n- name: a\n  image: b\n  ports:\n  - containerPort: "eighty"'),
      'x.yaml:10:22: spec.containers[0].ports[0].containerPort: must be an integer, got "eighty"',
    ],
    [
      podText('containers:\n- name: a\n  image: b\n  redinessProbe: {}'),
      'x.yaml:9:5: spec.containers[0].redinessProbe: unknown field; did you mean "readinessProbe"?',
    ],
    [
      podText('containers:\n- name: a\n  image: b\nresourceClaims: []'),
      'x.yaml:9:3: spec.resourceClaims: needs an API server, which manages claims; use limits with a device plugin, or hostPath',
    ],
    [
      podText('containers:\n- name: a\n  image: b\n  env:\n  - name: PORT\n    value: 80'),
      'x.yaml:11:14: spec.containers[0].env[0].value: must be a string, got 80; write it in quotes: "80"',
    ],
    [podText('containers:\n- name: a'), 'x.yaml:7:5: spec.containers[0].image: is required'],
    [
      podText('restartPolicy: never\ncontainers: [{name: a, image: b}]'),
      'x.yaml:6:18: spec.restartPolicy: must be one of Always, OnFailure, Never, got "never"; did you mean "Never"?',
    ],
    [podText('containers: []'), 'x.yaml:6:15: spec.containers: must have at least one container'],
    ['a: b: c', 'x.yaml:1:4: nested mappings are not allowed in compact mappings'],
    [
      podText('containers:\n- name: a\n  image: b\n  env:\n  - name: X\n    value: yes'),
      'x.yaml:11:14: spec.containers[0].env[0].value: must be a string, got true; write it in quotes: "yes"',
    ],
    [
      podText('containers:\n- name: a\n  image: b\n  env:\n  - name: V\n    value: 1.10'),
      'x.yaml:11:14: spec.containers[0].env[0].value: must be a string, got 1.1; write it in quotes: "1.10"',
    ],
    ['', 'x.yaml:1:1: contains no Kubernetes object'],
    ['--- \n# nothing\n', 'x.yaml:1:1: contains no Kubernetes object'],
    ['a: *nowhere', 'x.yaml:1:4: unresolved alias *nowhere: its anchor must come before it'],
    [
      'just words',
      'x.yaml:1:1: must be a Kubernetes object with apiVersion, kind and metadata; Pod, ConfigMap, Secret, PersistentVolumeClaim and RuntimeClass work',
    ],
  ];
  for (const [text, expected] of table) assert.deepEqual(errorsOf(text), [expected], text);
});

test('all errors in a manifest are listed, not just the first', () => {
  const errors = errorsOf(
    podText('containers:\n- name: A_b\n  image: ""\n  volumeMounts: [{name: data, mountPath: /d}]'),
  );
  assert.deepEqual(
    errors.map((line) => line.split(': ')[1]),
    ['spec.containers[0].name', 'spec.containers[0].image', 'spec.containers[0].volumeMounts[0].name'],
  );
});

test('a generateName in place of a name is a single error', () => {
  const text = podText('containers: [{name: a, image: b}]').replace('name: web', 'generateName: web-');
  assert.deepEqual(errorsOf(text), [
    'x.yaml:4:3: metadata.generateName: would make another object with each apply; give metadata.name instead',
  ]);
});

test('projected volume sources that need an API server are rejected in plain language', () => {
  for (const [source, advice] of [
    ['serviceAccountToken: {path: token}', 'put a token of your own into a Secret'],
    ['clusterTrustBundle: {path: ca}', 'put the certificates into a ConfigMap'],
  ]) {
    const [error] = errorsOf(
      podText(`containers: [{name: a, image: b}]\nvolumes: [{name: v, projected: {sources: [{${source}}]}}]`),
    );
    assert.match(error ?? '', /spec\.volumes\[0\]\.projected\.sources\[0\]\.\w+: needs an API server/);
    assert.ok(error!.endsWith(advice!), error);
  }
});

test('a kind that needs a cluster is rejected in plain language', () => {
  const [deployment] = errorsOf('apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}');
  assert.match(
    deployment ?? '',
    /^x.yaml:2:7: kind: Deployment needs a node with a Kubernetes API.*spec\.template into a Pod$/,
  );
  const [typo] = errorsOf('apiVersion: v1\nkind: Pdo\nmetadata: {name: a}');
  assert.match(typo ?? '', /did you mean "Pod"\?$/);
  assert.match(errorsOf('kind: Pod\napiVersion: v2')[0] ?? '', /apiVersion: must be v1 for a Pod, got "v2"$/);
});

test('with a Kubernetes API, objects of any kind are accepted, and pod templates are validated', () => {
  const workload = (container: string) =>
    `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: {containers: [${container}]}}}\n`;
  const options = { file: 'x.yaml', otherKinds: true, templates: true };
  const text = `${service}---\n${workload('{name: a, image: b}')}---\napiVersion: a.example/v1\nkind: A\nmetadata: {name: a}\n`;
  const { others, errors, leftOut } = decodeManifest(text, options);
  assert.deepEqual(
    [others.map(({ line, object }) => [line, object.kind]), errors, leftOut],
    [
      [
        [1, 'Service'],
        [6, 'Deployment'],
        [11, 'A'],
      ],
      [],
      [],
    ],
  );
  const wrong = decodeManifest(workload('{name: a, imagee: b}'), options);
  assert.match(String(wrong.errors), /^x\.yaml:4:\d+: spec\.template\.spec\.containers\[0\]\.imagee: /);
});

test('fields that need a Kubernetes API are accepted on a node with one, and otherwise reported as needing it', () => {
  const claim = (spec: string) =>
    `apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c}\nspec: {accessModes: [ReadWriteOnce], ${spec}}\n`;
  const check = (text: string, refused: RegExp) => {
    assert.match(String(decodeManifest(text, { file: 'x.yaml' }).errors), refused);
    const { objects, errors, needsApi } = decodeManifest(text, { file: 'x.yaml', otherKinds: true });
    assert.deepEqual([objects.length, errors.map(String), needsApi], [1, [], true]);
    const object = objects[0]?.object;
    const sent = decodeManifest(JSON.stringify(object), { file: 'sent', otherKinds: true });
    assert.deepEqual(sent.objects[0]?.object, object);
  };
  check(claim('selector: {matchLabels: {a: b}}'), /spec\.selector: needs a cluster, which binds claims to volumes/);
  check(claim('volumeName: disk'), /spec\.volumeName: needs a cluster/);
  check(claim('volumeMode: Block'), /spec\.volumeMode: must be Filesystem, got "Block"/);
  const volume = (source: string) => podText(`containers: [{name: a, image: b}]\nvolumes: [{name: v, ${source}}]`);
  const template = '{spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}';
  check(volume(`ephemeral: {volumeClaimTemplate: ${template}}`), /ephemeral: needs a cluster/);
  check(
    volume('projected: {sources: [{serviceAccountToken: {path: token}}]}'),
    /needs an API server, which signs tokens/,
  );
  check(volume('projected: {sources: [{clusterTrustBundle: {name: b, path: ca}}]}'), /needs an API server/);
  check(
    podText('containers: [{name: a, image: b}]\nresourceClaims: [{name: c, resourceClaimName: d}]'),
    /manages claims/,
  );
});

test('a generateName along with a name has no effect, as on API server objects', () => {
  const text = podText('containers: [{name: a, image: b}]').replace('name: web', 'name: web\n  generateName: web-');
  const { pods, errors } = decodeManifest(text, { file: 'x.yaml' });
  assert.deepEqual([errors, pods.map(({ metadata }) => metadata.name)], [[], ['web']]);
  assert.match(String(errorsOf(text.replace('web-', '5'))), /metadata\.generateName: would make another object/);
});

test('a manifest with any kinds may be larger', () => {
  const definition = `kind: A\napiVersion: b/v1\nmetadata: {name: c}\nspec:\n${'- x\n'.repeat(60_000)}`;
  assert.match(String(decodeManifest(definition, { file: 'x.yaml' }).errors), /has more than 200000 YAML tokens/);
  const { others, errors } = decodeManifest(definition, { file: 'x.yaml', otherKinds: true });
  assert.deepEqual([others.length, errors], [1, []]);
});

test('a manifest needs a Kubernetes API only if its objects or fields do', () => {
  const needs = (text: string) => decodeManifest(text, { file: 'x.yaml', otherKinds: true, templates: true }).needsApi;
  assert.equal(needs(podText('containers: [{name: a, image: b}]')), false);
  assert.equal(needs(service), true);
});

test('an object of any kind needs a name, and the command line’s namespace', () => {
  const check = (metadata: string, expected: RegExp) => {
    const text = `apiVersion: v1\nkind: Service\nmetadata: ${metadata}`;
    const { errors, refused } = decodeManifest(text, { file: 'x.yaml', otherKinds: true, namespace: 'shop' });
    assert.match(String(errors), expected);
    assert.equal(refused.length, 1);
  };
  check('{}', /x\.yaml:3:\d+: metadata\.name: is required/);
  check('{generateName: a-}', /metadata\.generateName: would make another object with each apply/);
  check('[]', /metadata: is required/);
  check('{name: [a]}', /metadata\.name: is required/);
  check('{name: a, namespace: 5}', /metadata\.namespace: must be a string/);
  check('{name: a, namespace: other}', /must be "shop" as on the command line, got "other"/);
});

const service = 'apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}}\n';

test('objects that pods do not need are ignored if there are others, and listed', () => {
  const pod = podText('containers: [{name: a, image: b}]');
  const text = [
    pod,
    service,
    'apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: in}\n',
    'apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: c}\n',
    'apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: p}\n',
  ].join('---\n');
  const { pods, errors, leftOut } = decodeManifest(text, { file: 'x.yaml' });
  assert.deepEqual([pods.length, errors], [1, []]);
  assert.deepEqual(leftOut.map(String), [
    "x.yaml:8:1: Service web is left out: it needs a cluster's network; give the pod's port a hostPort, or use the pod's address",
    "x.yaml:13:1: Ingress in is left out: it needs a cluster's network; give the pod's port a hostPort",
    'x.yaml:17:1: Certificate c is left out: nothing on a standalone node uses it',
    'x.yaml:21:1: PodDisruptionBudget p is left out: nothing on a standalone node uses it',
  ]);
  const strict = decodeManifest(`${pod}---\n${service}`, { file: 'x.yaml', strict: true });
  assert.deepEqual(strict.leftOut, []);
  assert.match(String(strict.errors), /^x\.yaml:9:7: kind: Service cannot be used: it needs a cluster's network/);
});

test('such objects alone are errors, and so are workloads and typos along with pods', () => {
  assert.match(errorsOf(service)[0] ?? '', /^x\.yaml:2:7: kind: Service cannot be used/);
  const pod = podText('containers: [{name: a, image: b}]');
  for (const kind of [
    'apps/v1\nkind: Deployment',
    'batch/v1\nkind: Job',
    'v1\nkind: PersistentVolume',
    'v1\nkind: Servicce',
    'apps/v1\nkind: Pod',
  ]) {
    const { errors, leftOut } = decodeManifest(`${pod}---\napiVersion: ${kind}\nmetadata: {name: a}\n`, {
      file: 'x.yaml',
    });
    assert.deepEqual([errors.length, leftOut], [1, []], kind);
  }
});

test('lists contain objects, which may omit the kind implied by the list', () => {
  const item = (name: string) => ({ metadata: { name } });
  const secrets = { apiVersion: 'v1', kind: 'SecretList', items: [item('a'), item('b')] };
  const list = {
    apiVersion: 'v1',
    kind: 'List',
    items: [secrets, { apiVersion: 'v1', kind: 'ConfigMap', ...item('c') }],
  };
  const decoded = decodeManifest(JSON.stringify(list), { file: 'x.json' });
  assert.deepEqual([decoded.errors, decoded.secrets.length, decoded.configMaps.length], [[], 2, 1]);
  assert.deepEqual(decoded.placeOf(decoded.secrets[1]!, ['metadata', 'name'], 'value'), {
    file: 'x.json',
    line: 1,
    column: 137,
  });
});

test('several manifests are decoded as one, and each error and duplicate object names its own file', () => {
  const pod = podText('containers: [{name: a, image: b}]');
  const { errors, leftOut, pods } = decodeManifests([
    { file: 'a.yaml', text: `# first\n${pod}` },
    { file: 'b.yaml', text: service },
    { file: 'c.yaml', text: `---\n${pod}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {}` },
    { file: 'd.yaml', text: '' },
  ]);
  assert.equal(pods.length, 1);
  assert.deepEqual(errors.map(String), [
    'c.yaml:2:1: metadata.name: Pod default/web is already defined at a.yaml:2:1',
    'c.yaml:11:11: metadata.name: is required',
    'd.yaml:1:1: contains no Kubernetes object',
  ]);
  assert.match(String(leftOut), /^b\.yaml:1:1: Service web/);
});

test('a duplicate field is a warning, or an error in strict mode', () => {
  const text = podText('containers: [{name: a, image: b}]\nhostNetwork: true\nhostNetwork: no');
  const { pods, errors, warnings } = decodeManifest(text, { file: 'x.yaml' });
  assert.deepEqual([pods[0]?.spec.hostNetwork, errors], [false, []]);
  assert.match(String(warnings), /^x\.yaml:8:3: "hostNetwork" is in line 7 already; this one is used/);
  assert.equal(decodeManifest(text, { file: 'x.yaml', strict: true }).errors.length, 1);
});

test('two objects with the same name are an error that gives both positions', () => {
  const spec = 'containers: [{name: a, image: b}]';
  const decoded = decodeManifest(`${podText(spec)}---\n${podText(spec)}`, { file: 'x.yaml' });
  assert.equal(decoded.pods.length, 1);
  assert.deepEqual(decoded.errors.map(String), [
    'x.yaml:8:1: metadata.name: Pod default/web is already defined at x.yaml:1:1',
  ]);
});

test('a leading zero makes a mode octal, as in Kubernetes', () => {
  const { pods, errors } = decodeManifest(
    podText(
      'volumes: [{name: v, configMap: {name: c, defaultMode: 0755, items: [{key: k, path: p, mode: 0o600}]}}]\ncontainers: [{name: a, image: b}]',
    ),
    { file: 'x.yaml' },
  );
  assert.deepEqual(errors, []);
  const source = pods[0]?.spec.volumes?.[0]?.configMap;
  assert.equal(source?.defaultMode, 0o755);
  assert.equal(source?.items?.[0]?.mode, 0o600);
});

test('anchors and merge keys work, and errors after them have a position', () => {
  const text = podText('containers:\n- &one {name: a, image: b, tty: 3}\n- <<: *one\n  name: c');
  assert.deepEqual(errorsOf(text), [
    'x.yaml:7:35: spec.containers[0].tty: must be true or false, got 3',
    'x.yaml:8:5: spec.containers[1].tty: must be true or false, got 3',
  ]);
});

test('hostile text is refused in bounded time', { timeout: 20_000 }, () => {
  const bomb = Array.from({ length: 9 }, (_, at) => `a${at}: &a${at} [${at === 0 ? 'x' : `*a${at - 1},`.repeat(9)}]`);
  const map = Array.from({ length: 20_000 }, (_, at) => `k${at}: 1`).join();
  const table: [string, RegExp][] = [
    [bomb.join('\n'), /x\.yaml:1:1: is too large after its aliases are expanded/],
    [`a: &a {${map}}\nb: [${'{<<: *a},'.repeat(500)}]`, /is too large after its aliases are expanded/],
    ['a: &a [*a]', /x\.yaml:1:8: alias \*a is inside its own anchor/],
    ['a: &a {<<: *a}', /alias \*a is inside its own anchor/],
    ['a: [&a x,'.repeat(3).concat('*a,'.repeat(3000)), /x\.yaml:1:/],
    [`a: [${'&a x, *a, '.repeat(1500)}]`, /has more than 2000 anchors and aliases/],
    ['['.repeat(100_000), /x\.yaml:1:\d+: has lists and maps more than 100 deep/],
    ['- x\n'.repeat(100_000), /has more than 200000 YAML tokens/],
    ['a: '.repeat(1_500_000), /is larger than 4 MiB/],
    ['a: 1\n---\n'.repeat(1001), /more than 1000 documents/],
    ['a: !!js/function "x"', /unresolved tag/],
    ['%YAML 1.1\n--- !!set {a, b}', /unresolved tag/],
    ['"__proto__": {kind: Pod}', /kind: is required/],
    [`a: "${'\\q'.repeat(1_000_000)}"`, /invalid escape sequence/],
    [`a: "${'x\n'.repeat(100_000)}"`, /x\.yaml:\d+:\d+: /],
  ];
  for (const [text, expected] of table) {
    const errors = errorsOf(text);
    assert.match(errors[0] ?? '', expected);
    assert.ok(errors.length <= 101);
  }
});

test('only the first hundred errors are listed, each truncated, and the others counted', () => {
  const fields = Array.from({ length: 20_000 }, (_, at) => `unknown${at}: 1`).join('\n');
  const errors = errorsOf(podText(`containers: [{name: a, image: b}]\n${fields}`));
  assert.equal(errors.length, 101);
  assert.match(errors[0] ?? '', /^x\.yaml:7:3: spec\.unknown0: unknown field/);
  assert.match(errors[100] ?? '', /and 19900 more errors$/);
  const [long] = errorsOf(
    podText(`containers: [{name: a, image: b}]\n"${'k'.repeat(900)}": {"${'v'.repeat(900)}": 1}`),
  );
  assert.ok((long?.length ?? 9999) < 700, long);
});

test('names of JavaScript built-ins have no special meaning', () => {
  const { configMaps, errors } = decodeManifest(
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {__proto__: "1", constructor: "2", <<: {toString: "3"}}',
    { file: 'x.yaml' },
  );
  assert.deepEqual(errors, []);
  assert.deepEqual(Object.entries(configMaps[0]?.data ?? {}).sort(), [
    ['__proto__', '1'],
    ['constructor', '2'],
    ['toString', '3'],
  ]);
  assert.equal(({} as Record<string, unknown>).toString, Object.prototype.toString);
});

test('with templates, the pods of workloads are decoded, with the workload’s paths and positions', () => {
  const template = 'template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: i}]}}';
  const workload = (kind: string, spec: string) => `kind: ${kind}\napiVersion: x/v1\nmetadata: {name: web}\n${spec}\n`;
  const text = [
    podText('containers: [{name: a, image: i}]'),
    workload('Deployment', `spec: {${template}}`),
    workload(
      'CronJob',
      `spec: {jobTemplate: {spec: {${template.replace('{containers', '{restartPolicy: Never, containers')}}}}`,
    ),
    workload('PodTemplate', template),
    workload('Job', `spec: {${template.replace('image: i}]', 'image: i, tty: 1}], restartPolicy: Never')}}`),
    workload('DaemonSet', 'spec: {}'),
  ].join('---\n');
  const decode = (options = {}) => decodeManifests([{ file: 'x.yaml', text }], options);
  const { templates, errors, placeOf } = decode({ templates: true });
  assert.deepEqual(
    templates.map(({ pod, workload: of, path }) => [pod.metadata.name, of, path.join('.')]),
    [
      ['web-deployment', 'Deployment default/web', 'spec.template'],
      ['web-cronjob', 'CronJob default/web', 'spec.jobTemplate.spec.template'],
      ['web-podtemplate', 'PodTemplate default/web', 'template'],
    ],
  );
  assert.deepEqual(templates[0]?.pod.metadata.labels, { a: 'b' });
  assert.deepEqual(placeOf(templates[0]!.pod, ['spec', 'containers', 0, 'image'], 'value'), {
    file: 'x.yaml',
    line: 11,
    column: 84,
  });
  const inside = (list: typeof errors) => list.filter(({ path }) => path.includes('template')).map(({ path }) => path);
  assert.deepEqual(inside(errors), ['spec.template.spec.containers[0].tty']);
  assert.deepEqual([decode().templates, inside(decode().errors)], [[], []]);
});

test('volumeClaimTemplates count as volumes of the pods', () => {
  const claims = 'volumeClaimTemplates: [{metadata: {name: data}}, {metadata: {name: 5}}, 7]';
  const mounts = 'volumeMounts: [{name: data, mountPath: /data}, {name: other, mountPath: /other}]';
  const template = `template: {spec: {containers: [{name: a, image: i, ${mounts}}], volumes: [{name: other, emptyDir: {}}]}}`;
  const text = `kind: StatefulSet\napiVersion: apps/v1\nmetadata: {name: web}\nspec: {${claims}, ${template}}\n`;
  const { templates, errors } = decodeManifests([{ file: 'x.yaml', text }], { templates: true });
  assert.deepEqual(
    errors.map(({ path }) => path),
    ['kind'],
  );
  assert.deepEqual(
    templates[0]?.pod.spec.volumes?.map(({ name }) => name),
    ['other', 'data'],
  );
});

test('a restart policy not allowed for the workload is an error, even if defaulted', () => {
  const check = (kind: string, policy: string, message: RegExp | undefined) => {
    const template = `template: {spec: {${policy}containers: [{name: a, image: i}]}}`;
    const spec = kind === 'CronJob' ? `jobTemplate: {spec: {${template}}}` : template;
    const text = `kind: ${kind}\napiVersion: x/v1\nmetadata: {name: web}\nspec: {${spec}}\n`;
    const { errors, templates } = decodeManifests([{ file: 'x.yaml', text }], { templates: true });
    const found = errors.filter(({ path }) => path.endsWith('template.spec.restartPolicy'));
    assert.equal(templates.length, 1, 'other problems of its pods are found, too');
    if (message === undefined) return assert.deepEqual(found, []);
    assert.match(found.join(), message);
  };
  check('Job', '', /must be OnFailure or Never in a Job, got "Always", the default$/);
  check('CronJob', 'restartPolicy: Always, ', /must be OnFailure or Never in a CronJob, got "Always"$/);
  check('Job', 'restartPolicy: OnFailure, ', undefined);
  check('Deployment', 'restartPolicy: Never, ', /must be Always in a Deployment, got "Never"$/);
  check('Deployment', '', undefined);
});
