/**
 * `podwright why` for causes outside of a pod: registries, webhooks, other pods and the node. Each cause is produced for real, and must be
 * found.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import type { RequestListener, Server } from 'node:http';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { after, before, test } from 'node:test';
import { selfSignedCertificate } from '@podwright/certificates';
import type { Explanation } from '@podwright/kube-view';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { exampleImage, forever, freePort, NodePlace } from '../pods/node.fixture.ts';
import type { StartedProgram } from '../pods/started-program.ts';

const HOUR_MS = 3_600_000;

let bundle: Bundle;
let place: NodePlace;
let daemon: StartedProgram;
let node: string;
const servers: Server[] = [];
before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.172.250.0/24', { hasApi: true });
  configure('');
  daemon = await place.startDaemon();
  await place.loadImage();
  node = (await place.json<{ items: { metadata: { name: string } }[] }>('get', 'nodes')).items[0]!.metadata.name;
});
after(async () => {
  for (const server of servers) server.close();
  await place.call('stop', '--delete');
  await daemon.ended();
  await place.remove();
  bundle.remove();
});

/** Writes the node's configuration file, with `more` sections appended. */
function configure(more: string): void {
  const api = `[api]\nenabled = true\nservice_cidr = "${place.serviceCidr}"\n`;
  mkdirSync(place.path('certs.d'), { recursive: true });
  place.file('api.toml', `${api}[runtime]\nregistry_config_dir = "${place.path('certs.d')}"\n${more}`);
}

/** Serves requests on loopback until the tests end. Returns the port. */
async function serve(server: Server): Promise<number> {
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as { port: number }).port;
}

type PodOptions = { name: string; image?: string; container?: string; spec?: string };

const pod = ({ name, image = exampleImage, container = '', spec = '' }: PodOptions) =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec: {terminationGracePeriodSeconds: 0, ${spec && `${spec}, `}` +
  `containers: [{name: main, image: "${image}", imagePullPolicy: IfNotPresent, command: [sh, -c, ${JSON.stringify(forever)}]${container && `, ${container}`}}]}\n`;

const apply = (name: string, ...documents: string[]) =>
  place.ok('apply', place.file(`${name}.yaml`, documents.join('---\n')));

/** Waits until `podwright why` finds the cause, since pods take time to fail. Returns its explanation. */
async function explained(word: string, cause: string): Promise<Explanation> {
  let last: Explanation | undefined;
  const isFound = async () => {
    last = await place.json<Explanation>('why', word);
    return last.finding?.cause === cause;
  };
  await place.until(isFound, 30_000).catch(() => assert.equal(last?.finding?.cause, cause, JSON.stringify(last)));
  return last!;
}

async function check(word: string, cause: string, sentence: RegExp): Promise<void> {
  const { finding } = await explained(word, cause);
  assert.match(finding!.sentence, sentence);
  assert.ok(finding!.advice.length > 0);
}

/** Patches the spec of the Node object, for example its taints. */
const patchNode = (spec: object) =>
  place.ok('patch', `node/${node}`, '--type', 'merge', '-p', JSON.stringify({ spec }));

test('a registry that requires different credentials, and one without the image', async () => {
  const answer: RequestListener = ({ url = '' }, response) => {
    const isClosed = url.includes('/closed/');
    if (isClosed) response.setHeader('www-authenticate', 'Basic realm="registry"');
    const code = isClosed ? 'UNAUTHORIZED' : 'MANIFEST_UNKNOWN';
    response.writeHead(isClosed ? 401 : 404).end(JSON.stringify({ errors: [{ code, message: 'no' }] }));
  };
  const registry = `127.0.0.1:${await serve(createServer(answer))}`;
  await apply(
    'images',
    pod({ name: 'closed', image: `${registry}/closed/a:1` }),
    pod({ name: 'absent', image: `${registry}/a:1` }),
  );
  await check('closed', 'image-credentials', /does not let these credentials pull the image/);
  await check('absent', 'image-not-found', /has no such image or tag/);
});

test('a clock that differs from that of the registry', async () => {
  const [notBefore, notAfter] = [-2, -1].map((hours) => new Date(Date.now() + hours * HOUR_MS)) as [Date, Date];
  const { certificate, key } = selfSignedCertificate({ commonName: 'late', names: ['127.0.0.1'], notBefore, notAfter });
  const port = await serve(createTlsServer({ cert: certificate, key }, (_request, response) => response.end()));
  mkdirSync(place.path('certs.d/late.test'));
  place.file('../certs.d/late.test/ca.crt', certificate);
  place.file(
    '../certs.d/late.test/hosts.toml',
    `server = "https://127.0.0.1:${port}"\n[host."https://127.0.0.1:${port}"]\nca = "ca.crt"\n`,
  );
  await apply('late', pod({ name: 'late', image: 'late.test/a:1' }));
  await check('late', 'clock', /the registry's certificate is not valid at this machine's time/);
});

test('a host port used by another pod', async () => {
  const port = await freePort();
  const container = `ports: [{containerPort: 80, hostPort: ${port}}]`;
  await apply('first', pod({ name: 'first', container }));
  await place.ok('wait', '--for=condition=Ready', 'pod/first', '--timeout', '30s');
  await apply('second', pod({ name: 'second', container }));
  await check('second', 'host-port', /another pod uses the host port that it requests/);
});

test('a webhook that rejects pods, and one that cannot be called', async () => {
  const names = {
    notBefore: new Date(Date.now() - HOUR_MS),
    notAfter: new Date(Date.now() + HOUR_MS),
    names: ['127.0.0.1'],
  };
  const { certificate, key } = selfSignedCertificate({ commonName: 'hook', ...names });
  const refuse: RequestListener = async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const { apiVersion, kind, request: asked } = JSON.parse(text);
    const verdict = { uid: asked.uid, allowed: false, status: { message: 'pods need an owner' } };
    response.end(JSON.stringify({ apiVersion, kind, response: verdict }));
  };
  const port = await serve(createTlsServer({ cert: certificate, key }, (...exchange) => void refuse(...exchange)));
  const hook = (name: string, url: string) =>
    `apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: ${name}}\n` +
    `webhooks: [{name: ${name}.example.com, clientConfig: {url: "${url}", caBundle: ${Buffer.from(certificate).toString('base64')}}, ` +
    `rules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}], ` +
    `objectSelector: {matchLabels: {app: ${name}}}, sideEffects: None, admissionReviewVersions: [v1], timeoutSeconds: 2}]\n`;
  const deployment = (name: string) =>
    `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: ${name}}\nspec: {selector: {matchLabels: {app: ${name}}}, ` +
    `template: {metadata: {labels: {app: ${name}}}, spec: {containers: [{name: main, image: "${exampleImage}"}]}}}\n`;
  const closed = await freePort();
  await apply('hooks', hook('strict', `https://127.0.0.1:${port}/`), hook('away', `https://127.0.0.1:${closed}/`));
  await apply('hooked', deployment('strict'), deployment('away'));
  await check('deploy/strict', 'webhook', /the admission webhook "strict\.example\.com" denies its pods/);
  await check('deploy/away', 'webhook', /the admission webhook "away\.example\.com" cannot be called/);
});

test('editing a ConfigMap precedes the crash it causes', async () => {
  const configMap = (mode: string) =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: mode}\ndata: {mode: ${mode}}\n`;
  const script = '[ "$MODE" = good ] || { echo "unknown mode $MODE" >&2; exit 2; }; sleep 1000000';
  const configured = `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: configured}\nspec: {selector: {matchLabels: {app: c}}, template: {metadata: {labels: {app: c}}, spec: {terminationGracePeriodSeconds: 0, containers: [{name: main, image: "${exampleImage}", command: [sh, -c, ${JSON.stringify(script)}], env: [{name: MODE, valueFrom: {configMapKeyRef: {name: mode, key: mode}}}]}]}}}\n`;
  await apply('configured', configMap('good'), configured);
  await place.ok('rollout', 'status', 'deploy/configured', '--timeout', '30s');
  const { metadata } = await place.api<{ metadata: { creationTimestamp: string } }>(
    '/api/v1/namespaces/default/configmaps/mode',
  );
  // wait for the next second: the times in managed fields have no finer resolution, so the second change would seem as old as the first
  await place.until(() => Date.now() >= Date.parse(metadata.creationTimestamp) + 1000);
  await apply('mode', configMap('bad'));
  await place.ok('rollout', 'restart', 'deploy/configured');
  const { finding, change } = await explained('deploy/configured', 'crash');
  assert.deepEqual(finding!.log!.lines, ['unknown mode bad']);
  assert.match(change!, /^ConfigMap mode was edited at \S+Z by \S/);
});

test('a taint on the node, and a cordoned node', async () => {
  await patchNode({ taints: [{ key: 'dedicated', value: 'db', effect: 'NoSchedule' }] });
  await apply('tainted', pod({ name: 'tainted' }));
  await check('tainted', 'taint', /it does not tolerate the taint dedicated/);
  await patchNode({ taints: null });
  await place.ok('wait', '--for=condition=Ready', 'pod/tainted', '--timeout', '30s');
  await patchNode({ unschedulable: true });
  await apply('cordoned', pod({ name: 'cordoned' }));
  await check('cordoned', 'cordoned', /node \S+ is cordoned/);
  await patchNode({ unschedulable: null });
});

test('a node that is low on memory', async () => {
  daemon.child.kill('SIGTERM');
  await daemon.ended();
  configure('[kubelet.eviction]\nhard = { "memory.available" = "99%" }\n');
  daemon = await place.startDaemon();
  type Node = { spec: { taints?: { key: string }[] } };
  const taints = async () => (await place.api<Node>(`/api/v1/nodes/${node}`)).spec.taints ?? [];
  await place.until(async () => (await taints()).some(({ key }) => key === 'node.kubernetes.io/memory-pressure'));
  await apply('late-pod', pod({ name: 'late-pod' }));
  await check('late-pod', 'node-pressure', /reports MemoryPressure=True/);
});
