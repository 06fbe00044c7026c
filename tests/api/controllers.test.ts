/** The API server's own controllers, and what the server reports about itself, as seen by kubectl. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { silentLogger, waitFor, withTimeout } from '@podwright/base';
import { openNodeIdentity, startServingCertificate } from '@podwright/certificates';
import { isApiStatus, NODES } from '@podwright/kube-client';
import { ApiPlace } from './api-place.fixture.ts';

const scratch = mkdtempSync(join(tmpdir(), 'pw-api-controllers-'));
const auditLog = join(scratch, 'audit.log');
let place: ApiPlace;

/** Runs kubectl, which must succeed, and returns its output. */
function ok(...args: string[]): string {
  const { code, out, err } = place.kubectl(...args);
  assert.equal(code, 0, `${args.join(' ')}: ${err}${out}`);
  return out;
}

const apply = (manifest: string) => ok('apply', '-f', place.file('manifest.yaml', manifest));

async function eventually<T>(check: () => T | Promise<T>): Promise<NonNullable<T>> {
  using signal = withTimeout(undefined, 20_000, `wait for ${check}`);
  return await waitFor(async () => (await check()) || undefined, { intervalMs: 100, signal });
}

const CLAIM = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], storageClassName: "", resources: {requests: {storage: 1Gi}}}
`;

const USER = `
apiVersion: v1
kind: Pod
metadata: {name: user}
spec:
  nodeName: n1
  automountServiceAccountToken: false
  containers: [{name: c, image: i, volumeMounts: [{name: v, mountPath: /v}]}]
  volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]
`;

const QUOTA = `
apiVersion: v1
kind: ResourceQuota
metadata: {name: few}
spec: {hard: {count/configmaps: "3", pods: "2"}}
`;

const TOKEN = `
apiVersion: v1
kind: Secret
metadata: {name: bootstrap-token-abcdef, namespace: kube-system}
type: bootstrap.kubernetes.io/token
stringData:
  token-id: abcdef
  token-secret: 0123456789abcdef
  usage-bootstrap-authentication: "true"
  usage-bootstrap-signing: "true"
`;

suite('controllers of the API server', () => {
  before(async () => {
    place = await ApiPlace.start('--audit-log', auditLog);
    await eventually(() => place.kubectl('get', 'serviceaccount', 'default').code === 0);
  });
  after(async () => {
    await place.remove();
    rmSync(scratch, { recursive: true });
  });

  test('a claim is removed once no pod uses it', async () => {
    apply(CLAIM);
    apply(USER);
    ok('delete', 'pvc', 'data', '--wait=false');
    assert.match(ok('get', 'pvc', 'data', '-o', 'jsonpath={.metadata.finalizers}'), /pvc-protection/);
    ok('delete', 'pod', 'user', '--grace-period=0', '--force');
    await eventually(() => place.kubectl('get', 'pvc', 'data').code === 1);
    apply(CLAIM);
    assert.match(ok('delete', 'pvc', 'data', '--timeout=10s'), /^persistentvolumeclaim "data" deleted/);
  });

  test('the status of a quota follows the objects', async () => {
    apply(QUOTA);
    const used = () => ok('get', 'quota', 'few', '-o', 'jsonpath={.status.used.count/configmaps}');
    await eventually(() => used() === '1'); // kube-root-ca.crt
    ok('create', 'configmap', 'one');
    await eventually(() => used() === '2');
    ok('delete', 'configmap', 'one');
    await eventually(() => used() === '1');
    assert.match(ok('describe', 'quota', 'few'), /^count\/configmaps +1 +3$/m);
    ok('delete', 'quota', 'few');
  });

  test('a node joins with a token, and gets its certificates', async () => {
    apply(TOKEN);
    const config = ok('config', 'view', '--raw', '-o', 'json');
    const { server, 'certificate-authority-data': data } = JSON.parse(config).clusters[0].cluster;
    const authority = new X509Certificate(Buffer.from(data, 'base64')).publicKey;
    const hash = createHash('sha256')
      .update(authority.export({ type: 'spki', format: 'der' }))
      .digest('hex');
    const joining = ['--token', 'abcdef.0123456789abcdef', '--discovery-token-ca-cert-hash', `sha256:${hash}`];
    const node = place.file('node.toml', 'node_name = "joined"\n');
    const joined = place.podwright('--config', node, 'join', new URL(server).host, ...joining);
    assert.equal(joined.code, 0, joined.err);
    const files = join(place.directory, 'root/cluster');
    const certDirectory = join(scratch, 'pki');
    const identity = await openNodeIdentity({
      nodeName: 'joined',
      kubeconfig: join(scratch, 'kubelet.conf'),
      bootstrapKubeconfig: join(files, 'bootstrap-kubelet.conf'),
      certDirectory,
      rotate: true,
      logger: silentLogger,
    });
    try {
      const client = identity.connect();
      const isNode = () => client.get(NODES, { name: 'joined' }).catch((error: unknown) => isApiStatus(error, 404));
      await eventually(isNode);
      assert.match(
        ok('get', 'csr'),
        /^csr-\S+ .*kube-apiserver-client-kubelet +system:bootstrap:abcdef .*Approved,Issued$/m,
      );
      const other = await client.get(NODES, { name: 'other' }).catch((error: unknown) => error);
      assert.ok(isApiStatus(other, 403), String(other));
      const names = () => ['joined', '127.0.0.1'];
      const serving = await startServingCertificate({
        nodeName: 'joined',
        client,
        logger: silentLogger,
        certDirectory,
        names,
      });
      try {
        const pending = await eventually(() => /^(csr-\S+) .*kubelet-serving .*Pending$/m.exec(ok('get', 'csr'))?.[1]);
        ok('certificate', 'approve', pending);
        const pair = await eventually(() => serving.current());
        const { subjectAltName = '' } = new X509Certificate(pair.certificate);
        assert.deepEqual(subjectAltName.split(', ').sort(), ['DNS:joined', 'IP Address:127.0.0.1']);
      } finally {
        await serving.stop();
      }
    } finally {
      await identity.close();
    }
  });

  test('a user gets a certificate approved by an administrator', async () => {
    const key = join(scratch, 'ann.key');
    const subject = ['-subj', '/O=dev/CN=ann', '-keyout', key, '-nodes'];
    const request = execFileSync(
      'openssl',
      ['req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', ...subject],
      { stdio: ['ignore', 'pipe', 'ignore'] },
    );
    apply(`
apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: {name: ann}
spec: {request: ${request.toString('base64')}, signerName: kubernetes.io/kube-apiserver-client, usages: [client auth]}
`);
    assert.equal(ok('get', 'csr', 'ann', '-o', 'jsonpath={.status}'), '{}');
    ok('certificate', 'approve', 'ann');
    const certificate = await eventually(() => ok('get', 'csr', 'ann', '-o', 'jsonpath={.status.certificate}'));
    const config = JSON.parse(ok('config', 'view', '--raw', '-o', 'json'));
    config.users[0].user = { 'client-certificate-data': certificate, 'client-key': key };
    const ann = place.file('ann.kubeconfig', JSON.stringify(config));
    const { err } = place.kubectl('get', 'pods', '--kubeconfig', ann);
    assert.match(err, /User "ann" cannot list resource "pods" in API group "" in the namespace "default"/);
  });

  test('metrics and health are available to authorized users', () => {
    const metrics = ok('get', '--raw', '/metrics');
    assert.match(metrics, /^apiserver_request_total\{verb="\w+".*code="200"\} \d+$/m);
    assert.match(metrics, /^apiserver_resource_objects\{group="",resource="namespaces"\} \d+$/m);
    assert.match(metrics, /^process_resident_memory_bytes \d+$/m);
    const checks = ['ping', 'store', 'controllers', 'serving-certificate', 'shutdown'];
    const lines = checks.map((name) => `[+]${name} ok\n`).join('');
    assert.equal(ok('get', '--raw', '/readyz?verbose'), `${lines}readyz check passed\n`);
    assert.equal(ok('get', '--raw', '/livez/controllers'), 'ok');
    const bob = place.kubeconfigOf('bob');
    assert.match(place.kubectl('get', '--raw', '/metrics', '--kubeconfig', bob).err, /cannot get path "\/metrics"/);
  });

  test('requests are in the audit log, without the contents of Secrets', async () => {
    ok('create', 'secret', 'generic', 'hidden', '--from-literal=key=do-not-log');
    const line = await eventually(() =>
      readFileSync(auditLog, 'utf8')
        .split('\n')
        .find((one) => one.includes('"verb":"create"') && one.includes('"resource":"secrets","namespace":"default"')),
    );
    const { user, responseStatus, objectRef } = JSON.parse(line);
    assert.equal(user.username, 'kubernetes-admin');
    assert.deepEqual([responseStatus.code, objectRef.apiVersion], [201, 'v1']);
    assert.doesNotMatch(readFileSync(auditLog, 'utf8'), /do-not-log|ZG8tbm90LWxvZw/);
    assert.equal(statSync(auditLog).mode & 0o777, 0o600);
  });
});
