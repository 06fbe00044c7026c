/** kubectl against the API server: its verbs, with the same output as for upstream's server. Fails if kubectl is not installed. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { waitFor, withTimeout } from '@podwright/base';
import { ApiPlace, kubectlMinor } from './api-place.fixture.ts';
import { applied, INVALID, LIST, ownedBy, SHOP, TAKEN_ADDRESS, UNKNOWN_FIELDS } from './manifests.fixture.ts';

let place: ApiPlace;

/** Runs kubectl, which must succeed, and returns its output. */
function ok(...args: string[]): string {
  const { code, out, err } = place.kubectl(...args);
  assert.equal(code, 0, `${args.join(' ')}: ${err}${out}`);
  return out;
}

/** Runs kubectl, expecting it to fail, and returns its stderr. */
function fails(...args: string[]): string {
  const { code, out, err } = place.kubectl(...args);
  assert.notEqual(code, 0, `${args.join(' ')}: ${out}`);
  return err;
}

const inShop = (...args: string[]) => ok('-n', 'shop', ...args);

async function eventually(check: () => boolean): Promise<void> {
  using signal = withTimeout(undefined, 20_000, 'wait for a controller');
  await waitFor(() => (check() ? true : undefined), { intervalMs: 100, signal });
}

/** The first minor version of kubectl with `auth whoami`, `create token`, `wait` for a JSONPath, and server-side strict validation. */
const RECENT_MINOR = 27;
const isRecent = kubectlMinor() >= RECENT_MINOR;

/** Defines a test of features missing in old kubectl versions, such as Debian's 1.20. Does nothing if kubectl is that old. */
function testRecent(name: string, body: () => void | Promise<void>): void {
  if (isRecent) test(name, body);
}

suite('kubectl', () => {
  before(async () => {
    place = await ApiPlace.start();
    await eventually(() => place.kubectl('get', 'serviceaccount', 'default').code === 0);
  });
  after(() => place.remove());

  testRecent('finds the objects of a new cluster', () => {
    assert.match(ok('get', 'namespaces'), /^NAME +STATUS +AGE\ndefault +Active/);
    assert.equal(ok('get', 'ns', '-o', 'name').split('\n').length, 5);
    assert.match(ok('get', 'service', 'kubernetes'), /^kubernetes +ClusterIP +10\.96\.0\.1 +<none> +443\/TCP/m);
    assert.match(ok('get', 'priorityclass'), /^system-node-critical +2000001000 +false /m);
    assert.match(ok('get', 'configmap', '-A'), /^kube-system +kube-root-ca\.crt +1 /m);
    assert.match(ok('auth', 'whoami'), /^Username +kubernetes-admin\nGroups +\[system:masters system:authenticated\]/m);
    assert.match(ok('api-resources'), /^deployments +deploy +apps\/v1 +true +Deployment$/m);
    assert.doesNotMatch(ok('api-resources', '-o', 'name'), /componentstatuses|v1beta/);
    assert.match(ok('get', 'clusterrole', 'admin', '-o', 'jsonpath={.rules}'), /"deployments\/scale"/);
  });

  test('applies manifests, and prints them', () => {
    const file = place.file('shop.yaml', SHOP);
    const created =
      'namespace/shop created\ndeployment.apps/web created\nservice/web created\nconfigmap/settings created\n';
    assert.equal(ok('apply', '-f', file), created);
    assert.equal(ok('apply', '-f', file), created.replaceAll('created', 'unchanged'));
    assert.equal(ok('diff', '-f', file), '');
    assert.match(inShop('get', 'deploy', '-o', 'wide'), /^web +0\/2 +0 +0 +\w+ +web +nginx:1\.25 +app=web$/m);
    assert.match(inShop('get', 'svc'), /^web +NodePort +10\.\d+\.\d+\.\d+ +<none> +80:3\d{4}\/TCP/m);
    assert.match(inShop('describe', 'svc', 'web'), /^External Traffic Policy: +Cluster$/m);
    assert.match(inShop('describe', 'deploy', 'web'), /^RollingUpdateStrategy: +25% max unavailable, 25% max surge$/m);
    assert.match(
      inShop('get', 'deploy', 'web', '-o', 'yaml'),
      /^ {2}progressDeadlineSeconds: 600$[\s\S]*^status: {}$/m,
    );
  });

  test('changes objects', () => {
    assert.equal(inShop('scale', 'deploy', 'web', '--replicas=5'), 'deployment.apps/web scaled\n');
    assert.equal(inShop('set', 'image', 'deploy/web', 'web=nginx:1.26'), 'deployment.apps/web image updated\n');
    assert.equal(inShop('label', 'deploy', 'web', 'tier=front'), 'deployment.apps/web labeled\n');
    assert.equal(inShop('annotate', 'deploy', 'web', 'note=x'), 'deployment.apps/web annotated\n');
    assert.equal(inShop('rollout', 'restart', 'deploy/web'), 'deployment.apps/web restarted\n');
    const patch = '[{"op":"add","path":"/spec/paused","value":true}]';
    assert.equal(inShop('patch', 'deploy', 'web', '--type=json', '-p', patch), 'deployment.apps/web patched\n');
    assert.equal(inShop('patch', 'cm', 'settings', '-p', '{"data":{"size":"1"}}'), 'configmap/settings patched\n');
    const path = 'jsonpath={.metadata.generation} {.spec.replicas} {.spec.template.spec.containers[0].image}';
    assert.equal(inShop('get', 'deploy', 'web', '-o', path), '6 5 nginx:1.26'); // all but the label count
    const { code, out } = place.kubectl('diff', '-f', place.file('shop.yaml', SHOP));
    assert.equal(code, 1);
    assert.match(out, /^- {2}replicas: 5\n\+ {2}replicas: 2$/m);
  });

  test('applies server-side, with conflicts', () => {
    const file = place.file('applied.yaml', applied('a: "1", b: "2"'));
    const apply = (manager: string, ...args: string[]) =>
      ['apply', '--server-side', `--field-manager=${manager}`, '-f', file, ...args] as const;
    assert.equal(ok(...apply('one')), 'configmap/applied serverside-applied\n');
    place.file('applied.yaml', applied('a: "9"'));
    assert.match(fails(...apply('two')), /^error: Apply failed with 1 conflict: conflict with "one": \.data\.a\n/);
    assert.equal(ok(...apply('two', '--force-conflicts')), 'configmap/applied serverside-applied\n');
    assert.equal(inShop('get', 'cm', 'applied', '-o', 'jsonpath={.data}'), '{"a":"9","b":"2"}');
    assert.match(
      fails('apply', '--server-side', '-f', place.file('shop.yaml', SHOP)),
      /"kubectl[^"]*" with subresource "scale"/,
    );
  });

  testRecent('reports invalid objects, unknown fields and taken values', () => {
    const invalid = fails('create', '-f', place.file('invalid.yaml', INVALID));
    assert.match(invalid, /^The Deployment "Bad_Name" is invalid: \n\* metadata\.name: Invalid value: "Bad_Name"/);
    assert.match(invalid, /^\* spec\.replicas: Invalid value: -1: must be greater than or equal to 0$/m);
    const unknown = place.file('unknown.yaml', UNKNOWN_FIELDS);
    assert.match(
      fails('create', '--validate=strict', '-f', unknown),
      /strict decoding error: unknown field "spec\.containers\[0\]\.imagePolicy", unknown field "spec\.nodename"\n$/,
    );
    const { out, err } = place.kubectl('create', '--validate=warn', '--dry-run=server', '-f', unknown);
    assert.equal(out, 'pod/bad created (server dry run)\n');
    assert.match(err, /^Warning: unknown field "spec\.nodename"$/m);
    assert.equal(fails('-n', 'shop', 'get', 'pod', 'bad'), 'Error from server (NotFound): pods "bad" not found\n');
    assert.match(
      fails('create', '-f', place.file('taken.yaml', TAKEN_ADDRESS)),
      /spec\.clusterIPs: Invalid value: \["10\.96\.0\.1"\]: failed to allocate IP 10\.96\.0\.1: provided IP is already allocated/,
    );
    assert.match(
      fails('delete', 'ns', 'default'),
      /namespaces "default" is forbidden: this namespace may not be deleted/,
    );
  });

  test('creates a list, and deletes it', () => {
    const file = place.file('list.yaml', LIST);
    assert.equal(ok('create', '-f', file), 'configmap/one created\nsecret/two created\nserviceaccount/three created\n');
    assert.match(fails('create', '-f', file), /\(AlreadyExists\): .*configmaps "one" already exists/);
    assert.match(ok('get', '-f', file), /^secret\/two +Opaque +1 /m);
    assert.match(ok('delete', '-f', file), /^configmap "one" deleted/);
    assert.equal(inShop('get', 'secrets', '-o', 'name'), '');
  });

  testRecent('gives pods their account, their tolerations and a status, and deletes them', () => {
    assert.equal(inShop('run', 'lone', '--image=busybox'), 'pod/lone created\n');
    const described = inShop('describe', 'pod', 'lone');
    assert.match(
      described,
      /^ {6}\/var\/run\/secrets\/kubernetes\.io\/serviceaccount from kube-api-access-\w{5} \(ro\)$/m,
    );
    assert.match(described, /^QoS Class: +BestEffort$/m);
    assert.match(described, /not-ready:NoExecute op=Exists for 300s$/m);
    assert.match(inShop('get', 'pods', '-o', 'wide'), /^lone +0\/1 +Pending +0 +\w+ +<none> +<none> +<none> +<none>$/m);
    const pending = '--for=jsonpath={.status.phase}=Pending';
    assert.equal(inShop('wait', 'pod/lone', pending, '--timeout=5s'), 'pod/lone condition met\n');
    assert.match(
      fails('-n', 'shop', 'wait', 'pod/lone', '--for=condition=Ready', '--timeout=1s'),
      /timed out waiting for the condition on pods\/lone/,
    );
    assert.match(inShop('delete', 'pod', 'lone'), /^pod "lone" deleted/);
  });

  testRecent('explains kinds', () => {
    assert.match(ok('explain', 'pod.spec.restartPolicy'), /^KIND: +Pod\nVERSION: +v1\n\nFIELD: restartPolicy <string>/);
  });

  testRecent('reports who may do what', () => {
    inShop('create', 'serviceaccount', 'builder');
    inShop('create', 'role', 'reader', '--verb=get,list', '--resource=pods');
    inShop('create', 'rolebinding', 'readers', '--role=reader', '--serviceaccount=shop:builder');
    const builder = 'system:serviceaccount:shop:builder';
    assert.equal(inShop('auth', 'can-i', 'list', 'pods', '--as', builder), 'yes\n');
    assert.equal(place.kubectl('-n', 'shop', 'auth', 'can-i', 'delete', 'pods', '--as', builder).out, 'no\n');
    assert.match(inShop('auth', 'can-i', '--list', '--as', builder), /^pods +\[\] +\[\] +\[get list\]$/m);
    assert.equal(
      fails('get', 'pods', '--as', 'bob'),
      'Error from server (Forbidden): pods is forbidden: User "bob" cannot list resource "pods" in API group "" in the namespace "default"\n',
    );
    const token = inShop('create', 'token', 'builder').trim();
    const empty = place.file('empty.kubeconfig', ok('config', 'view', '--raw').replaceAll(/^ +client-.*\n/gm, ''));
    const asBuilder = ['--kubeconfig', empty, '--token', token];
    assert.match(ok('auth', 'whoami', ...asBuilder), new RegExp(`^Username +${builder}$`, 'm'));
    assert.match(fails('get', 'pods', '--kubeconfig', empty, '--token', `${token}x`), /Unauthorized|must be logged in/);
  });

  testRecent('restricts users of certificates, also in what they may grant', () => {
    const alice = ['--kubeconfig', place.kubeconfigOf('alice', 'developers')];
    assert.match(ok('auth', 'whoami', ...alice), /^Groups +\[developers system:authenticated\]$/m);
    assert.match(fails('get', 'secrets', ...alice), /User "alice" cannot list resource "secrets"/);
    ok('-n', 'shop', 'create', 'rolebinding', 'alice', '--clusterrole=admin', '--user=alice');
    assert.equal(inShop('get', 'secrets', '-o', 'name', ...alice), '');
    assert.match(
      fails('-n', 'shop', 'create', 'rolebinding', 'all', '--clusterrole=cluster-admin', '--user=alice', ...alice),
      /is attempting to grant RBAC permissions not currently held/,
    );
  });

  test('watches', async () => {
    const watch = place.startKubectl('-n', 'shop', 'get', 'cm', '--watch-only');
    await eventually(() => {
      inShop('annotate', 'cm', 'settings', `tick=${Date.now()}`, '--overwrite');
      return /^settings /m.test(watch.out);
    });
    inShop('create', 'cm', 'seen', '--from-literal=a=b');
    await watch.until(/^seen +1 +\d+s$/m);
    watch.child.kill('SIGTERM');
    await watch.ended();
  });

  test('deletes dependents in the background, before their owner, or not at all', async () => {
    const dependents = () => {
      inShop('create', 'deploy', 'parent', '--image=x');
      const uid = inShop('get', 'deploy', 'parent', '-o', 'jsonpath={.metadata.uid}');
      for (const name of ['child-a', 'child-b']) ok('create', '-f', place.file('child.yaml', ownedBy(uid, name)));
    };
    const children = () => inShop('get', 'cm', '-o', 'name').match(/child-/g)?.length ?? 0;
    dependents();
    assert.match(inShop('delete', 'deploy', 'parent'), /^deployment\.apps "parent" deleted/);
    await eventually(() => children() === 0);
    dependents();
    inShop('delete', 'deploy', 'parent', '--cascade=foreground');
    assert.equal(children(), 0);
    dependents();
    inShop('delete', 'deploy', 'parent', '--cascade=orphan');
    assert.equal(children(), 2);
    assert.equal(inShop('get', 'cm', 'child-a', '-o', 'jsonpath={.metadata.ownerReferences}'), '');
  });

  test('deletes a namespace with all of its contents', () => {
    ok('create', 'ns', 'brief');
    ok('-n', 'brief', 'create', 'cm', 'inside');
    ok('-n', 'brief', 'run', 'inside', '--image=x');
    assert.match(ok('delete', 'ns', 'brief'), /^namespace "brief" deleted/);
    assert.equal(ok('get', 'cm,pods', '-A', '--field-selector', 'metadata.namespace=brief', '-o', 'name'), '');
  });

  test('aggregates ClusterRoles', async () => {
    ok('create', 'clusterrole', 'sum', '--aggregation-rule=example.com/sum=true');
    ok('create', 'clusterrole', 'part', '--verb=get', '--resource=pods');
    ok('label', 'clusterrole', 'part', 'example.com/sum=true');
    const rules = () => ok('get', 'clusterrole', 'sum', '-o', 'jsonpath={.rules[*].resources}');
    await eventually(() => rules() === '["pods"]');
  });
});
