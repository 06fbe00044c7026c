import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiObject } from '@podwright/kube-kinds';
import type { AdmissionPlugin } from './admission-plugin.ts';
import { ServiceAccountAdmission } from './service-account.ts';
import { admit, object, put, rejects, storeOf } from './test-admission.fixture.ts';

const MOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
const container = (name: string, fields: Record<string, unknown> = {}) => ({ name, ...fields });
const pod = (spec: Record<string, unknown>, metadata: Record<string, unknown> = {}) =>
  object('shop/web', { spec: { containers: [container('a')], ...spec } }, metadata);

const store = storeOf({
  serviceaccounts: [
    object('shop/default'),
    object('shop/app', { imagePullSecrets: [{ name: 'pull' }], secrets: [{ name: 'own' }] }),
    object('shop/quiet', { automountServiceAccountToken: false }),
    object(
      'shop/strict',
      { secrets: [{ name: 'own' }], imagePullSecrets: [{ name: 'pull' }] },
      { annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' } },
    ),
  ],
});
const plugin = new ServiceAccountAdmission({ store, wait: async () => {} });
type Spec = {
  serviceAccountName: string;
  serviceAccount: string;
  volumes?: { name: string }[];
  imagePullSecrets?: unknown;
  containers: { volumeMounts?: { name: string; readOnly: boolean; mountPath: string }[] }[];
  initContainers: { volumeMounts?: unknown[] }[];
};
const specOf = async (one: ApiObject) => (await admit(plugin, { to: 'pods', object: one })).object.spec as Spec;

test('a pod gets the default account and a volume with its token, CA and namespace', async () => {
  const spec = await specOf(pod({ initContainers: [container('i')], volumes: [{ name: 'own' }] }));
  assert.equal(spec.serviceAccountName, 'default');
  assert.equal(spec.serviceAccount, 'default');
  const [, volume] = spec.volumes!;
  assert.match(volume!.name, /^kube-api-access-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  assert.deepEqual(volume, {
    name: volume!.name,
    projected: {
      defaultMode: 0o644,
      sources: [
        { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        {
          downwardAPI: {
            items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
          },
        },
      ],
    },
  });
  const mounts = [{ name: volume!.name, readOnly: true, mountPath: MOUNT }];
  assert.deepEqual(spec.containers[0]!.volumeMounts, mounts);
  assert.deepEqual(spec.initContainers[0]!.volumeMounts, mounts);
});

test('a container with another mount at the token path gets no token', async () => {
  const own = container('a', { volumeMounts: [{ name: 'x', mountPath: MOUNT }] });
  assert.equal((await specOf(pod({ containers: [own] }))).volumes, undefined);
  const spec = await specOf(pod({ containers: [own, container('b')] }));
  assert.equal(spec.volumes!.length, 1);
  assert.equal(spec.containers[0]!.volumeMounts!.length, 1);
});

test('an existing volume with the reserved prefix is reused', async () => {
  const spec = await specOf(pod({ volumes: [{ name: 'kube-api-access-mine' }] }));
  assert.deepEqual(spec.volumes, [{ name: 'kube-api-access-mine' }]);
  assert.equal(spec.containers[0]!.volumeMounts![0]!.name, 'kube-api-access-mine');
});

test('the pod, then the account, decides whether the token is mounted', async () => {
  const mounts = async (spec: Record<string, unknown>) => (await specOf(pod(spec))).volumes !== undefined;
  assert.equal(await mounts({ automountServiceAccountToken: false }), false);
  assert.equal(await mounts({ serviceAccountName: 'quiet' }), false);
  assert.equal(await mounts({ serviceAccountName: 'quiet', automountServiceAccountToken: true }), true);
});

test('a pod gets its account’s image pull secrets unless it sets its own', async () => {
  const pulls = async (spec: Record<string, unknown>) => (await specOf(pod(spec))).imagePullSecrets;
  assert.deepEqual(await pulls({ serviceAccountName: 'app' }), [{ name: 'pull' }]);
  assert.deepEqual(await pulls({ serviceAccount: 'app', imagePullSecrets: [{ name: 'own' }] }), [{ name: 'own' }]);
  assert.equal(await pulls({}), undefined);
});

test('a pod with an unknown account is rejected, but the default account is waited for', async () => {
  const missing = (name: string, namespace = 'shop') =>
    `pods "web" is forbidden: error looking up service account ${namespace}/${name}: serviceaccount "${name}" not found`;
  const impatient = new ServiceAccountAdmission({ store, wait: () => assert.fail('waits') });
  await rejects(impatient, { to: 'pods', object: pod({ serviceAccountName: 'none' }) }, missing('none'));
  await rejects(plugin, { to: 'pods', object: object('new/web', { spec: {} }) }, missing('default', 'new'));
  let waits = 0;
  const wait = async () => {
    if (++waits === 3) put(store, 'serviceaccounts', object('new/default'));
  };
  await admit(new ServiceAccountAdmission({ store, wait }), { to: 'pods', object: object('new/web', { spec: {} }) });
  assert.equal(waits, 3);
});

test('a mirror pod may use neither an account nor Secrets', async () => {
  const mirror = (spec: Record<string, unknown>) => pod(spec, { annotations: { 'kubernetes.io/config.mirror': 'x' } });
  const plain = mirror({});
  assert.equal((await admit(plugin, { to: 'pods', object: plain })).object, plain);
  // calls only `mutate` of the plugin: the pod must be rejected in the mutating phase, before later plugins change it
  const inFirstPhase: AdmissionPlugin = { name: plugin.name, mutate: (attributes) => plugin.mutate(attributes) };
  const check = async (spec: Record<string, unknown>, message: string) => {
    for (const one of [plugin, inFirstPhase]) await rejects(one, { to: 'pods', object: mirror(spec) }, message);
  };
  await check({ serviceAccountName: 'app' }, 'a mirror pod may not reference service accounts');
  await check({ volumes: [{ name: 'a', secret: { secretName: 'own' } }] }, 'a mirror pod may not reference secrets');
  const token = { projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } };
  await check({ volumes: [token] }, 'a mirror pod may not use ServiceAccountToken volume projections');
});

test('an account with the annotation restricts the Secrets of its pods', async () => {
  const strict = (spec: Record<string, unknown>) => ({
    to: 'pods',
    object: pod({ serviceAccountName: 'strict', ...spec }),
  });
  const why = (use: string, kind = 'secret') =>
    `${use} is not allowed because service account strict does not reference that ${kind}`;
  const env = (name: string) => [{ name: 'E', valueFrom: { secretKeyRef: { name, key: 'k' } } }];
  await admit(
    plugin,
    strict({ volumes: [{ secret: { secretName: 'own' } }], containers: [container('a', { env: env('own') })] }),
  );
  await rejects(
    plugin,
    strict({ volumes: [{ secret: { secretName: 'other' } }] }),
    why('volume with secret.secretName="other"'),
  );
  await rejects(
    plugin,
    strict({ containers: [container('a', { env: env('other') })] }),
    why('container a with envVar E referencing secret.secretName="other"'),
  );
  const from = container('i', { envFrom: [{ secretRef: { name: 'other' } }] });
  await rejects(
    plugin,
    strict({ initContainers: [from] }),
    why('init container i with envFrom referencing secret.secretName="other"'),
  );
  await rejects(
    plugin,
    strict({ imagePullSecrets: [{ name: 'pull' }, { name: 'x' }] }),
    why('imagePullSecrets[1].name="x"', 'imagePullSecret'),
  );
  const debugged = pod({ serviceAccountName: 'strict', ephemeralContainers: [container('d', { env: env('other') })] });
  await rejects(
    plugin,
    { to: 'pods/ephemeralcontainers', object: debugged, oldObject: pod({}) },
    why('ephemeral container d with envVar E referencing secret.secretName="other"'),
  );
});

test('updates and other objects are unchanged', async () => {
  const one = pod({});
  assert.equal((await admit(plugin, { to: 'pods', object: one, oldObject: one })).object, one);
  assert.equal((await admit(plugin, { to: 'deployments.apps', object: one })).object, one);
});
