/** Pods use their standalone node's Kubernetes API as in any cluster: by its DNS name, with their token and the API's CA certificate. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { runChecked } from '@podwright/host';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { exampleImage, NodePlace } from '../pods/node.fixture.ts';
import type { StartedProgram } from '../pods/started-program.ts';

let bundle: Bundle;
let place: NodePlace;
let daemon: StartedProgram;
before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.172.239.0/24', { hasApi: true });
  daemon = await place.startDaemon();
  await place.loadImage();
});
after(async () => {
  await place?.remove();
  bundle?.remove();
});

/**
 * Returns a pod manifest that mounts the host's programs, because the image has no TLS client. `fields` are additional fields of the
 * `spec`.
 */
const client = (name: string, fields: string) => `apiVersion: v1
kind: Pod
metadata: {name: ${name}, labels: {app: ${name}}}
spec:
  terminationGracePeriodSeconds: 0
  ${fields}
  volumes:
  - {name: usr, hostPath: {path: /usr}}
  - {name: lib, hostPath: {path: /usr/lib}}
  - {name: lib64, hostPath: {path: /usr/lib64}}
  containers:
  - name: main
    image: ${exampleImage}
    command: [sh, -c, "echo hello > /tmp/index.html; exec httpd -f -p 8088 -h /tmp"]
    volumeMounts:
    - {name: usr, mountPath: /usr, readOnly: true}
    - {name: lib, mountPath: /lib, readOnly: true}
    - {name: lib64, mountPath: /lib64, readOnly: true}
`;

const BINDING = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: readers}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{kind: ServiceAccount, name: default, namespace: default}]
`;

/** Returns a network policy that restricts the pod `bridged` to the API and DNS. */
const policy = (api: string) => `apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: api-only}
spec:
  podSelector: {matchLabels: {app: bridged}}
  policyTypes: [Ingress, Egress]
  egress:
  - {to: [{ipBlock: {cidr: ${api}/32}}], ports: [{port: 443}]}
  - {ports: [{port: 53, protocol: UDP}]}
`;

const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Runs curl in a pod. Returns its output or, on failure, its exit code and error output. */
async function curl(pod: string, ...args: string[]): Promise<string> {
  const { code, out, err } = await place.call('exec', pod, '--', 'curl', '-sS', '-m', '5', ...args);
  return code === 0 ? out : `${code} ${err}`;
}

/** Lists pods from within a pod, using the pod's token. Returns their names. */
async function listed(pod: string, server: string): Promise<string[]> {
  const token = await place.ok('exec', pod, '--', 'cat', `${ACCOUNT}/token`);
  const url = `${server}/api/v1/namespaces/default/pods`;
  const answer = await curl(pod, '--cacert', `${ACCOUNT}/ca.crt`, '-H', `Authorization: Bearer ${token}`, url);
  const { items } = JSON.parse(answer) as { items: { metadata: { name: string } }[] };
  return items.map(({ metadata }) => metadata.name).sort();
}

const API_URL = 'https://kubernetes.default.svc';
const PODS = ['bridged', 'hosted', 'other'];

test('pods on the bridge and on the host network reach the API by its name', async () => {
  const { code, err } = await place.call('apply', place.file('binding.yaml', BINDING));
  assert.equal(code, 0, err);
  assert.doesNotMatch(err, /cannot reach/);
  const hosted = 'hostNetwork: true\n  dnsPolicy: ClusterFirstWithHostNet';
  const manifest = [client('bridged', ''), client('hosted', hosted), client('other', '')].join('---\n');
  const started = await place.call('run', '--detach', place.file('pods.yaml', manifest));
  assert.equal(started.code, 0, started.err);
  for (const pod of ['bridged', 'hosted']) assert.deepEqual(await listed(pod, API_URL), PODS, pod);
});

test('the environment variables of a pod point to the API, which rejects clients without a token', async () => {
  const variables = 'echo https://$KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT';
  const server = (await place.ok('exec', 'bridged', '--', 'sh', '-c', variables)).trim();
  assert.equal(server, `https://${place.serviceCidr.replace(/0\/24$/, '1')}:443`);
  assert.deepEqual(await listed('bridged', server), PODS);
  assert.match(await curl('bridged', '--cacert', `${ACCOUNT}/ca.crt`, `${API_URL}/api/v1/pods`), /"code": ?401/);
});

test('a pod under a network policy that allows only the API reaches the API, and no other pod', async () => {
  const other = (await place.pods()).find(({ metadata }) => metadata.name === 'other')?.status?.podIP;
  const reachesOther = async () => (await curl('bridged', `http://${other}:8088/`)) === 'hello\n';
  assert.ok(await reachesOther());
  const api = place.serviceCidr.replace(/0\/24$/, '1');
  await place.ok('apply', place.file('policy.yaml', policy(api)));
  await place.until(async () => !(await reachesOther()));
  assert.deepEqual(await listed('bridged', API_URL), PODS);
});

test('pods reach the API again after the node was killed and restarted', async () => {
  const closed = once(daemon.child, 'close');
  daemon.child.kill('SIGKILL');
  await closed;
  daemon = await place.startDaemon();
  for (const pod of ['bridged', 'hosted'])
    await place.until(async () => (await listed(pod, API_URL).catch(() => [])).length === PODS.length);
  await place.ok('stop', '--delete');
  await daemon.ended();
  const addresses = await runChecked('ip', ['-4', 'address', 'show', 'lo']);
  assert.ok(!addresses.includes(place.serviceCidr.replace(/0\/24$/, '')), addresses);
});
