/** Commands for objects: get, describe, label, annotate, patch, wait, top, events and delete. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { exampleImage, forever, NodePlace, withApi } from '../pods/node.fixture.ts';
import type { StartedProgram } from '../pods/started-program.ts';

/** The ConfigMap that a Kubernetes API publishes in every namespace. */
const ROOT_AUTHORITY = withApi ? 'configmap/kube-root-ca.crt\n' : '';

let bundle: Bundle;
let place: NodePlace;
let daemon: StartedProgram;

const container = (script: string, rest = '') => `  - name: main
    image: ${exampleImage}
    command: [sh, -c, ${JSON.stringify(script)}]
${rest}`;
const manifest = `apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  terminationGracePeriodSeconds: 2
  containers:
${container(
  forever,
  `    env: [{name: PLAIN, value: "true"}, {name: PASS, valueFrom: {secretKeyRef: {name: pass, key: key}}}]
    resources: {limits: {memory: 64Mi}, requests: {cpu: 100m}}
    readinessProbe: {exec: {command: ["true"]}, periodSeconds: 1}
    volumeMounts: [{name: conf, mountPath: /conf, readOnly: true}, {name: self, mountPath: /self}]
`,
)}  volumes:
  - {name: conf, configMap: {name: conf}}
  - {name: self, downwardAPI: {items: [{path: labels, fieldRef: {fieldPath: metadata.labels}}]}}
---
apiVersion: v1
kind: Pod
metadata: {name: job, namespace: team-a, labels: {app: job}}
spec:
  restartPolicy: Never
  containers:
${container('exit 3')}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: conf}
data: {key: "value"}
---
apiVersion: v1
kind: Secret
metadata: {name: pass}
stringData: {key: hunter2}
---
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: fast}
handler: runc
`;

before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.129.173.0/24');
  daemon = await place.startDaemon();
  await place.loadImage();
  await place.ok('apply', place.file('objects.yaml', manifest));
});
after(async () => {
  daemon?.child.kill('SIGTERM');
  await place?.remove();
  bundle?.remove();
});

test('wait returns when the condition is met, or fails with the current states', async () => {
  assert.equal(await place.ok('wait', '--for=condition=Ready', 'pod/web'), 'pod/web condition met\n');
  await place.ok('wait', '--for=jsonpath={.status.phase}=Failed', '-n', 'team-a', 'pods', '--all');
  await place.fails(
    /^podwright: timed out .* after 200 ms\npod\/web: Running$/m,
    'wait',
    '--for=delete',
    'web',
    '--timeout',
    '200ms',
  );
  await place.fails(/there is no pod nope/, 'wait', '--for=condition=Ready', 'nope');
});

test('get lists all kinds by namespace, labels, fields and name', async () => {
  const check = async (words: string, expected: string) =>
    assert.equal(await place.ok('get', ...words.split(' '), '-o', 'name'), expected, words);
  await check('pods', 'pod/web\n');
  await check('po -A --sort-by .metadata.name', 'pod/job\npod/web\n');
  await check('pods -A -l app=job', 'pod/job\n');
  await check('pods -A --field-selector status.phase=Failed', 'pod/job\n');
  await check('cm,secrets', `configmap/conf\n${ROOT_AUTHORITY}secret/pass\n`);
  await check('pod/web cm/conf', 'pod/web\nconfigmap/conf\n');
  await check('runtimeclasses', 'runtimeclass.node.k8s.io/fast\n');
  const table = await place.ok('get', 'pods', '--show-labels');
  assert.match(table, /^NAME +READY +STATUS +RESTARTS +AGE +LABELS\nweb +1\/1 +Running +0 +.* +app=web\n$/);
  assert.match(await place.ok('get', 'secrets', '--no-headers'), /^pass +Opaque +1 +\d/);
  assert.match(await place.ok('get', 'nodes', '-o', 'wide'), /Ready +<none>.*podwright:\/\//);
  for (const format of withApi ? [] : ['json', 'yaml', 'kyaml']) {
    const shown = place.file(`shown.${format}`, await place.ok('get', 'pod', 'web', '-o', format));
    assert.match(await place.ok('apply', '--dry-run', shown), /^pod default\/web unchanged \(dry run\)$/m, format);
  }
  const rowsAt = (columns: number, ...args: string[]) => {
    const line = `stty cols ${columns}; ${place.command(...args).join(' ')}`;
    const { stdout } = spawnSync('script', ['-qfec', line, '/dev/null'], { encoding: 'utf8' });
    const rows = stdout.trimEnd().split(/\r?\n/);
    assert.deepEqual(
      rows.filter((row) => row.length > columns),
      [],
    );
    return rows;
  };
  const titles = (...args: string[]) =>
    rowsAt(60, ...args)[0]!
      .replaceAll(/ {2,}/g, ' ')
      .trim();
  assert.equal(titles('get', 'pods', '-o', 'wide'), 'NAME READY STATUS RESTARTS AGE IP NODE');
  assert.match(titles('get', 'nodes', '-o', 'wide'), /^NAME STATUS .*INTERNAL-IP/);
  assert.match(titles('ps', '-o', 'wide'), /^NAMESPACE NAME READY STATUS .*IMAGES$/); // of pods in two namespaces
  const wide = rowsAt(80, 'ps', '-o', 'wide');
  assert.match(wide[0]!, / IP +AGE +IMAGES$/);
  assert.match(wide.join(' '), /this terminal is too narrow for .*QOS, UID: pipe the output/);
  assert.match(rowsAt(300, 'ps', '-o', 'wide').join(' '), /^NAMESPACE .* QOS +UID +IMAGES (?!.*this terminal)/);
  for (const columns of [60, 80]) {
    const text = rowsAt(columns, 'events').join(' ').replaceAll(/ +/g, ' ');
    assert.match(text, /^LAST SEEN TYPE REASON OBJECT MESSAGE /);
    assert.match(
      text,
      / Pulled pod\/web \(main\) Container image "[^"]+" already present on machine and can be accessed /,
    );
  }
  assert.match(
    await place.ok('describe', 'web'),
    / REASON +CONTAINER +MESSAGE\n(.*\n)*.* Started +main +Container started/,
  );
  assert.match(await place.ok('get', 'images'), /busybox:1/);
  const template = '{range .items[*]}{.metadata.name}={.status.phase}{"\\n"}{end}';
  const phases = await place.ok('get', 'pods', '-A', '--sort-by', '.metadata.name', '-o', `jsonpath=${template}`);
  assert.equal(phases, 'job=Failed\nweb=Running\n');
  assert.equal(await place.ok('get', 'secret', 'pass', '-o', 'jsonpath={.data.key}'), btoa('hunter2'));
  assert.equal((await place.json<Pod>('get', 'pod', 'web')).metadata.name, 'web');
  await place.fails(/job is in team-a: add -n team-a/, 'get', 'pod', 'job');
  await place.fails(/team-a.*: add -n team-a/, 'logs', 'job');
  if (!withApi) {
    await place.fails(/a standalone node has no deployments.*--api true/, 'get', 'deployments');
    assert.equal(await place.ok('get', 'all', '-o', 'name'), 'pod/web\n');
  }
  assert.match(
    await place.ok('get', 'pods', '-A', '-L', 'app,x/y'),
    /^NAMESPACE .* AGE +APP +Y\n(.*\n)*.* job .*job\n/,
  );
  const columns = 'custom-columns=WHO:.metadata.name,IMAGE:spec.containers[*].image,NOT:{.no.such}';
  assert.match(await place.ok('get', 'pod', 'web', '-o', columns), /^WHO +IMAGE +NOT\nweb +\S+busybox:1 +<none>\n$/);
  await place.fails(/must be one of wide, json/, 'get', 'pods', '-o', 'xml');
});

test('an empty selection is reported, but is not an error', async () => {
  for (const command of ['get pods', 'logs', 'describe pods']) {
    const { code, out, err } = await place.call(...command.split(' '), '-l', 'app=none');
    assert.deepEqual([code, out], [0, ''], command);
    assert.match(err, /^No resources found: no pods in the namespace default match the selector;/, command);
  }
  assert.equal(await place.ok('wait', '--for=delete', 'pods', '-l', 'app=none'), '');
});

test('get -w prints changes', async () => {
  const watching = place.start('get', 'pods', '-w', '-A', '-o', 'name', '-l', 'app=seen');
  await place.ok('label', 'pod/web', 'app=seen', '--overwrite');
  await place.until(() => watching.out.includes('pod/web'));
  watching.child.kill('SIGKILL');
  await place.ok('label', 'pod/web', 'app=web', '--overwrite');
});

test('labels and annotations are set, visible in the container, and kept by an apply', async () => {
  const { uid } = (await place.json<Pod>('get', 'pod', 'web')).metadata;
  assert.equal(await place.ok('label', 'web', 'tier=front'), 'pod/web labeled\n');
  await place.fails(/tier is already "front"; --overwrite changes it/, 'label', 'web', 'tier=back');
  assert.equal(await place.ok('label', 'pods', '-l', 'tier=front', 'tier=back', '--overwrite'), 'pod/web labeled\n');
  assert.equal(await place.ok('annotate', 'pod', 'web', 'note=a b'), 'pod/web annotated\n');
  assert.match(await place.ok('apply', place.file('objects.yaml', manifest)), /^pod default\/web unchanged$/m);
  const changed = manifest.replace('data: {key: "value"}', 'data: {key: "other"}');
  const applied = await place.ok('apply', place.file('changed.yaml', changed));
  assert.match(applied, /^configmap default\/conf configured\n(.*\n)*pod default\/web unchanged$/m);
  await place.fails(
    /--dry-run bogus: is none of client, server, none/,
    'apply',
    '--dry-run=bogus',
    place.path('input/changed.yaml'),
  );
  await place.until(async () => (await place.ok('exec', 'web', '--', 'cat', '/self/labels')).includes('tier="back"'));
  assert.equal((await place.json<Pod>('get', 'pod', 'web')).metadata.uid, uid);
});

test('a pod with a readiness gate is ready after its status is patched', async () => {
  const gated = `apiVersion: v1\nkind: Pod\nmetadata: {name: gated}\nspec:\n  readinessGates: [{conditionType: example.com/open}]\n  containers:\n${container(forever)}`;
  await place.ok('apply', place.file('gated.yaml', gated));
  await place.ok('wait', '--for=condition=ContainersReady', 'pod/gated', '--timeout', '60s');
  await place.fails(/timed out|example\.com\/open/, 'wait', '--for=condition=Ready', 'pod/gated', '--timeout', '0');
  const patch = (status: string) => `status: {conditions: [{type: example.com/open, status: "${status}"}]}`;
  const patched = () => place.ok('patch', 'pod', 'gated', '--subresource', 'status', '-p', patch('True'));
  assert.equal(await patched(), 'pod/gated patched\n');
  assert.equal(await patched(), 'pod/gated patched (no change)\n');
  await place.ok('wait', '--for=condition=Ready', 'pod/gated', '--timeout', '10s');
  const ready = '{"status":{"conditions":[{"type":"Ready","status":"False"}]}}';
  if (!withApi)
    await place.fails(
      /the condition Ready is the kubelet's own/,
      'patch',
      'gated',
      '--subresource=status',
      '-p',
      ready,
    );
  await place.fails(/--patch is neither JSON nor YAML of an object/, 'patch', 'gated', '-p', 'text');
  assert.equal(await place.ok('patch', 'pod/gated', '-p', '{"metadata":{"labels":{"a":"b"}}}'), 'pod/gated patched\n');
  const file = place.file('patch.yaml', 'metadata: {labels: {a: c}}');
  assert.equal(await place.ok('patch', 'gated', '--patch-file', file), 'pod/gated patched\n');
  assert.equal((await place.json<Pod>('get', 'pod', 'gated')).metadata.labels?.a, 'c');
  const operations =
    '- {op: replace, path: /metadata/labels/a, value: e}\n- {op: add, path: /metadata/labels/f, value: g}';
  assert.equal(await place.ok('patch', 'gated', '--type', 'json', '-p', operations), 'pod/gated patched\n');
  const { labels } = (await place.json<Pod>('get', 'pod', 'gated')).metadata;
  assert.deepEqual([labels?.a, labels?.f], ['e', 'g']);
  const bad = '[{"op":"test","path":"/metadata/labels/a","value":"x"}]';
  const refused = withApi ? /the server rejected our request/ : /\[0\]: test \/metadata\/labels\/a: the value is/;
  await place.fails(refused, 'patch', 'gated', '--type', 'json', '-p', bad);
  await place.fails(/read --patch-file \/none: no such file or directory/, 'patch', 'gated', '--patch-file', '/none');
  await place.fails(/--patch-file \/dev\/zero: more than 3 MiB/, 'patch', 'gated', '--patch-file', '/dev/zero');
  await place.fails(/with -p PATCH or --patch-file FILE/, 'patch', 'gated');
  await place.ok('delete', 'gated', '--force');
});

test('patch --subresource resize changes the limits of a running container', async () => {
  const sized = `apiVersion: v1\nkind: Pod\nmetadata: {name: sized}\nspec:\n  containers:\n${container(forever)}    resources: {limits: {cpu: 100m, memory: 32Mi}}\n`;
  await place.ok('apply', place.file('sized.yaml', sized));
  await place.ok('wait', '--for=condition=Ready', 'pod/sized', '--timeout', '60s');
  const name = (await place.json<Pod>('get', 'pod', 'sized')).spec.containers[0]!.name;
  const resize = (cpu: string) => [
    ...['patch', 'sized', '--subresource', 'resize', '-p'],
    `{"spec":{"containers":[{"name":"${name}","resources":{"limits":{"cpu":"${cpu}"},"requests":{"cpu":"${cpu}"}}}]}}`,
  ];
  assert.equal(await place.ok(...resize('200m')), 'pod/sized patched\n');
  await place.until(async () => {
    const [status] = (await place.json<Pod>('get', 'pod', 'sized')).status!.containerStatuses!;
    return status!.resources?.limits?.cpu === '200m' && status!.restartCount === 0;
  });
  await place.fails(/a configmap has no resize/, 'patch', 'configmap/any', '--subresource', 'resize', '-p', '{}');
  await place.ok('delete', 'sized', '--force');
});

test('describe shows all details but no secrets', async () => {
  const text = await place.ok('describe', 'web');
  for (const line of [
    /^Node: +\S+\/[\d.]+$/m,
    /^Annotations: +note: a b$/m,
    ...(withApi ? [] : [/^Config Source: +file .*applied-pod_default_web\.json$/m]),
    /^ {4}Image ID: +\S*sha256:/m,
    /^ {4}State: +Running\n {6}Started: +\w{3}, /m,
    /^ {4}Limits:\n {6}memory: +64Mi$/m,
    /^ {4}Readiness: +exec \[true\] delay=0s timeout=1s period=1s #success=1 #failure=3$/m,
    /^ {6}PLAIN: +true$/m,
    /^ {6}PASS: +<set to the key 'key' in secret 'pass'>/m,
    /^ {4}Mounts: +\/conf from conf \(ro\)$/m,
    /^ {2}Ready: +True$/m,
    /^QoS Class: +Burstable$/m,
    /Container started/,
  ])
    assert.match(text, line);
  assert.doesNotMatch(text, /metadata-patch/);
  assert.match(
    await place.ok('describe', 'pod', 'job', '-n', 'team-a'),
    /Terminated\n +Reason: +Error\n +Exit Code: +3/,
  );
  assert.match(await place.ok('describe', 'cm/conf'), /^Data:\n {2}key: +other$/m);
  assert.match(await place.ok('describe', 'pod', 'we'), /^Name: +web$/m);
  const secret = await place.ok('describe', 'secret', 'pass');
  assert.match(secret, /^ {2}key: +7 bytes$/m);
  assert.doesNotMatch(secret, /hunter2/);
  assert.match(
    await place.ok('describe', 'node', (await place.ok('get', 'no', '-o', 'name')).trim().slice(5)),
    /^Pods .*web$/m,
  );
});

test('events are selected by namespace and object', async () => {
  assert.match(await place.ok('events', '--for', 'pod/web'), /^LAST SEEN.*\n(.* pod\/web .*\n)+$/);
  assert.match(await place.ok('events', '-A'), /pod\/job/);
  assert.doesNotMatch(await place.ok('events'), /pod\/job/);
});

test('top shows pod and node usage in kubectl’s units', async () => {
  assert.match(await place.ok('top', 'pods'), /^NAME +CPU\(cores\) +MEMORY\(bytes\)\nweb +\d+m +\d+Mi\n$/);
  assert.match(
    await place.ok('top', 'pod', '-A', '--containers', '--no-headers'),
    /^default +web +main +\d+m +\d+Mi\n$/,
  );
  assert.match(await place.ok('top', 'node'), /^NAME.*\n\S+ +\d+m +\d+% +\d+Mi +\d+%\n$/);
});

test('labels and annotations survive a node restart without restarting containers', async () => {
  const before = (await place.json<Pod>('get', 'pod', 'web')).metadata;
  daemon.child.kill('SIGTERM');
  await daemon.ended();
  daemon = await place.startDaemon();
  await place.ok('wait', '--for=condition=Ready', 'web');
  const { metadata, status } = await place.json<Pod>('get', 'pod', 'web');
  assert.deepEqual([metadata.uid, metadata.labels?.tier, metadata.annotations?.note], [before.uid, 'back', 'a b']);
  assert.equal(status?.containerStatuses?.[0]?.restartCount, 0);
  assert.equal(await place.ok('label', 'web', 'tier-'), 'pod/web unlabeled\n');
});

test('objects from a user’s file are neither patched nor deleted, and the file is named', async () => {
  const path = place.path('root/manifests/mine.yaml');
  writeFileSync(path, `apiVersion: v1\nkind: Pod\nmetadata: {name: mine}\nspec:\n  containers:\n${container(forever)}`);
  const name = withApi ? `mine-${(await place.json<{ name: string }>('status')).name}` : 'mine'; // that of its mirror
  await place.ok('wait', '--for=create', `pod/${name}`);
  if (!withApi)
    await place.fails(/patch pod default\/mine: it comes from .*mine\.yaml; change it there/, 'label', 'mine', 'a=b');
  await place.fails(/delete pod default\/mine\S*: it comes from .*mine\.yaml; remove it there/, 'delete', name);
  rmSync(path);
  await place.ok('wait', '--for=delete', `pod/${name}`, '--timeout', '60s');
});

const claiming = (script: string) => `apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 1Gi}}, storageClassName: fast}
---
apiVersion: v1
kind: Pod
metadata: {name: keeper}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 0
  containers:
${container(script, '    volumeMounts: [{name: data, mountPath: /data}, {name: bare, mountPath: /bare}]\n')}  volumes:
  - {name: data, persistentVolumeClaim: {claimName: data}}
  - {name: bare, persistentVolumeClaim: {claimName: bare}}
`;

const claimsTest = async () => {
  const path = place.path('claiming.yaml');
  writeFileSync(path, claiming(`echo kept | tee /data/file > /bare/file; ${forever}`));
  await place.ok('apply', '-f', path);
  await place.ok('wait', '--for=condition=Ready', 'keeper');
  const rows = async () =>
    (await place.ok('get', 'pvc')).split('\n').map((row) => row.split(/ +/).slice(0, 5).join(' '));
  const bound = ['bare Bound - RWO -', 'data Bound 1Gi RWX fast'];
  assert.deepEqual((await rows()).slice(1, -1), bound);
  await place.fails(
    /delete persistentvolumeclaim default\/bare: it is used by keeper; delete what uses it first/,
    'delete',
    'pvc',
    'bare',
  );
  await place.ok('delete', '-f', path);
  assert.deepEqual((await rows()).slice(1, -1), bound);
  assert.equal(readFileSync(place.path('root/kubelet/claims/default/bare/file'), 'utf8'), 'kept\n');
  writeFileSync(path, claiming('cat /data/file /bare/file'));
  assert.match(await place.ok('run', '-f', path), /kept\n.*kept/);
  assert.equal(
    await place.ok('delete', '-f', path, '--volumes', '--ignore-not-found'),
    'persistentvolumeclaim default/data deleted\npersistentvolumeclaim default/bare deleted\n',
  );
  assert.equal(await place.ok('get', 'pvc', '-o', 'name'), '');
  assert.deepEqual(readdirSync(place.path('root/kubelet/claims/default')), []);
};
if (!withApi) test('claims outlive their pod until they are deleted with --volumes', claimsTest);

test('delete accepts types, names, selectors and --all', async () => {
  await place.fails(/delete: name a pod, a type/, 'delete', 'pods');
  assert.equal(await place.ok('delete', 'cm', 'conf'), 'configmap default/conf deleted\n');
  assert.equal(
    await place.ok('delete', 'runtimeclass/fast', 'secret/pass'),
    'runtimeclass fast deleted\nsecret default/pass deleted\n',
  );
  await place.fails(/there is no pod default\/nope/, 'delete', 'pod/nope');
  await place.ok('delete', 'pod/nope', '--ignore-not-found');
  assert.equal(await place.ok('delete', 'pods', '-n', 'team-a', '-l', 'app=job'), 'pod team-a/job deleted\n');
  assert.equal(await place.ok('delete', 'pods', '--all', '--force'), 'pod default/web deleted\n');
  assert.equal(await place.ok('get', 'pods,cm,secrets', '-o', 'name'), ROOT_AUTHORITY);
});
