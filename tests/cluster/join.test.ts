/** podwright join, node, doctor and leave, run as by a user, against a control plane (cluster.fixture.ts). */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import { EXAMPLE_IMAGE_NAME } from '../../scripts/example-image.ts';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { freePort, NodePlace } from '../pods/node.fixture.ts';
import { APPROVAL, type ApiObject, type Cluster, startCluster } from './cluster.fixture.ts';

const NODE = 'joined';
let bundle: Bundle;
let cluster: Cluster;
let place: NodePlace;
let words: { endpoint: string; token: string; hash: string };

before(async () => {
  [bundle, cluster] = await Promise.all([buildBundle(), startCluster()]);
  place = new NodePlace(bundle, '10.129.206.0/24');
  words = await cluster.invite();
});
after(async () => {
  await place?.remove();
  await cluster?.[Symbol.asyncDispose]();
  bundle?.remove();
});

async function approveAll(): Promise<void> {
  const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
  const conditions = [{ type: 'Approved', status: 'True', reason: 'Test', message: 'by a test' }];
  for (const csr of (await cluster.admin.get(path)).body.items)
    if (csr.status?.conditions === undefined)
      await cluster.admin.update(`${path}/${csr.metadata.name}/approval`, { ...csr, status: { conditions } });
}

const joinCommand = (hash: string, by: string, ...rest: string[]) => [
  'join',
  words.endpoint,
  '--token',
  by,
  '--discovery-token-ca-cert-hash',
  hash,
  '--timeout',
  '2s',
  ...rest,
];

test('join with a wrong parameter reports which one, and writes nothing', async () => {
  const { token } = words;
  const [id = '', secret = ''] = token.split('.');
  const refused = async (args: string[], message: RegExp) => {
    const { code, err } = await place.call(...args);
    assert.equal(code, 1, err);
    assert.match(err, message);
    assert.ok(!err.includes(secret));
  };
  await refused(
    joinCommand(`sha256:${'0'.repeat(64)}`, token),
    /the cluster's authority is sha256:[0-9a-f]{64}, which no/,
  );
  await refused(
    joinCommand(words.hash, `zzzzzz.${secret}`),
    /token id zzzzzz does not belong to this cluster, or it has expired/,
  );
  await refused(joinCommand(words.hash, `${id}.${'z'.repeat(16)}`), /cluster-info is not signed by token id/);
  await refused(joinCommand('sha256:0', token), /must be sha256: and 64 hexadecimal digits/);
  const away = `127.0.0.1:${await freePort()}`;
  await refused(['join', away, ...joinCommand(words.hash, token).slice(2)], /connection refused/);
  await refused(['join', words.endpoint, '--token', token], /--discovery-token-ca-cert-hash, or trust/);
  const { code, out } = await place.call(...joinCommand(words.hash, token, '--dry-run'));
  assert.equal(code, 0);
  assert.match(out, /kubelet\.yaml\napiVersion: kubelet\.config\.k8s\.io\/v1beta1[\s\S]*Nothing was written/);
  assert.ok(!out.includes(secret));
  assert.ok(!existsSync(place.path('root/cluster')));
});

/** Returns a pod of the examples' image, bound to the node. */
const bound = (name: string): ApiObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: {
    nodeName: NODE,
    hostNetwork: true,
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 1,
    containers: [{ name: 'main', image: EXAMPLE_IMAGE_NAME, command: ['sleep', '600'] }],
  },
});

test('a node joins, is killed while waiting for its certificate, becomes ready, and leaves', async () => {
  const { token } = words;
  await cluster.delete(APPROVAL);
  const config = place.file(
    'config.toml',
    `node_name = "${NODE}"\n[kubelet.server]\nport = ${await freePort()}\nhealthz_port = 0\n[kubelet.eviction]\nhard = {}\n`,
  );
  await place.ok('--config', config, ...joinCommand(words.hash, token));
  const bootstrap = place.path('root/cluster/bootstrap-kubelet.conf');
  writeFileSync(bootstrap, readFileSync(bootstrap, 'utf8').replace(token, `zzzzzz.${'z'.repeat(16)}`));
  const refused = (await place.call('--config', config, 'doctor')).out;
  assert.match(refused, /MISSING +certificate +none yet, and the API server rejects the token of/);
  writeFileSync(`${bootstrap}.0123456789ab.tmp`, token); // as one leaves it that is killed
  await place.ok('--config', config, ...joinCommand(words.hash, token)); // does no harm
  assert.match(
    (await place.call('--config', config, 'doctor')).out,
    /note +certificate +none yet: the node requests one/,
  );
  const names = readdirSync(place.path('root/cluster')).sort();
  assert.deepEqual(names, ['bootstrap-kubelet.conf', 'ca.crt', 'kubelet.yaml']);
  for (const name of names) assert.equal(statSync(place.path('root/cluster', name)).mode & 0o077, 0, name);
  let node = place.start('--config', config, 'node');
  await node.until(/waiting for a certificate signing request/);
  const killed = once(node.child, 'exit');
  node.child.kill('SIGKILL');
  await killed;
  await approveAll();
  node = place.start('--config', config, 'node');
  const isReady = (object: { status?: unknown }) => {
    const { conditions = [] } = (object.status ?? {}) as { conditions?: { type: string; status: string }[] };
    return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
  };
  await cluster.until({ apiVersion: 'v1', kind: 'Node', metadata: { name: NODE } }, isReady);
  const { body } = await cluster.admin.get('/apis/certificates.k8s.io/v1/certificatesigningrequests');
  assert.equal(body.items.length, 1, 'the request survived the kill');
  const doctor = (await place.call('--config', config, 'doctor')).out;
  assert.match(
    doctor,
    /API server +https:[\s\S]*clock +within[\s\S]*certificate +valid until[\s\S]*registered +joined, ready/,
  );
  const pods = await cluster.admin.get(`/api/v1/nodes/${NODE}/proxy/pods`);
  assert.match(pods.text, /^\{"kind":"PodList"/);
  assert.match(await place.ok('--config', config, ...joinCommand(words.hash, token)), /has already joined https:/);
  await place.ok('--config', config, 'load', bundle.image);
  const pod = bound('stays');
  await cluster.apply(pod);
  const containerOf = (object: ApiObject) => (object as unknown as Pod).status?.containerStatuses?.[0]?.containerID;
  const before = containerOf(await cluster.until(pod, isReady));
  assert.match(
    await place.ok('--config', config, 'stop'),
    /^the node has stopped; 1 pod of the cluster keeps running$/m,
  );
  assert.equal((await node.ended()).code, 0);
  assert.match(node.err, /"how":"created"/);
  for (const secret of [token.split('.')[1]!, 'PRIVATE KEY']) assert.ok(!node.err.includes(secret));
  node = place.start('--config', config, 'node');
  await place.until(async () => (await place.call('--config', config, 'ps')).code === 0);
  assert.match((await place.call('--config', config, 'ps')).out, /stays +1\/1 +Running +0 /);
  assert.equal(containerOf(await cluster.until(pod, isReady)), before);
  assert.match(await place.ok('--config', config, 'stop', '--pods'), /^the node has stopped$/m);
  assert.equal((await node.ended()).code, 0);
  await place.ok('--config', config, 'leave');
  assert.ok(!existsSync(place.path('root/cluster')));
  assert.deepEqual(
    readdirSync(place.path('root/kubelet/pki')).filter((name) => name.startsWith('kubelet-client')),
    [],
  );
});
