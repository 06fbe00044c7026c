/** Additions of the server to new pods: a service account and its token, tolerations, a priority. */
import { type ApiObject, at, isObject, type JsonObject, listAt, textAt } from './json.ts';
import { randomSuffix } from './object-meta.ts';
import { isMirror, referencesOf } from './pod-references.ts';
import type { Admission, Registry } from './registry.ts';
import { coreKind, findKind } from './resource-kinds.ts';
import { forbidden } from './status-error.ts';

const PODS = coreKind('pods');
const SERVICE_ACCOUNTS = coreKind('serviceaccounts');
const PRIORITY_CLASSES = findKind('scheduling.k8s.io', 'v1', 'priorityclasses')!;

/** Conventional path of the account's token, CA and namespace. */
const TOKEN_DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount';
const TOKEN_SECONDS = 3607;
const UNREACHABLE_SECONDS = 300;
const SYSTEM_PRIORITIES: Record<string, number> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
};

/** Admission of pods; `registry` is called for each new pod. */
export const podAdmission =
  (registry: () => Registry): Admission =>
  (object, kind) => {
    if (kind !== PODS) return object;
    const spec = { ...object.spec };
    const pod = { ...object, spec };
    if (isMirror(object)) checkMirror(object);
    else withServiceAccount(registry(), pod);
    withTolerations(spec);
    withPriority(registry(), pod);
    return pod;
  };

/** A static pod's references would be read with the rights of its node. */
function checkMirror(pod: ApiObject): void {
  const [reference] = referencesOf(pod);
  if (reference === undefined) return;
  const what = reference.kind === 'ServiceAccount' ? 'service accounts' : `${reference.kind.toLowerCase()}s`;
  throw forbidden(PODS, pod.metadata.name ?? '', `a mirror pod may not reference ${what}`);
}

type Pod = ApiObject & { spec: JsonObject };

function withServiceAccount(registry: Registry, pod: Pod): void {
  const { spec, metadata } = pod;
  const name = textAt(spec, 'serviceAccountName') || textAt(spec, 'serviceAccount') || 'default';
  const account = registry.find({ kind: SERVICE_ACCOUNTS, namespace: metadata.namespace ?? '', name });
  if (account === undefined)
    throw forbidden(
      PODS,
      metadata.name ?? '',
      `error looking up service account ${metadata.namespace}/${name}: serviceaccount "${name}" not found`,
    );
  Object.assign(spec, { serviceAccountName: name, serviceAccount: name });
  if (listAt(spec, 'imagePullSecrets').length === 0 && listAt(account, 'imagePullSecrets').length > 0)
    spec.imagePullSecrets = listAt(account, 'imagePullSecrets');
  const mounts = at(spec, 'automountServiceAccountToken') ?? at(account, 'automountServiceAccountToken') ?? true;
  if (mounts === true) mountToken(spec);
}

function mountToken(spec: JsonObject): void {
  const name = `kube-api-access-${randomSuffix()}`;
  let isMounted = false;
  const mount = (container: unknown) => {
    if (!isObject(container)) return container;
    const mounts = listAt(container, 'volumeMounts');
    if (mounts.some((one) => textAt(one, 'mountPath') === TOKEN_DIRECTORY)) return container;
    isMounted = true;
    return { ...container, volumeMounts: [...mounts, { name, readOnly: true, mountPath: TOKEN_DIRECTORY }] };
  };
  for (const field of ['initContainers', 'containers'])
    if (Array.isArray(spec[field])) spec[field] = spec[field].map(mount);
  if (!isMounted) return;
  spec.volumes = [...listAt(spec, 'volumes'), tokenVolume(name)];
}

const tokenVolume = (name: string): JsonObject => ({
  name,
  projected: {
    defaultMode: 0o644,
    sources: [
      { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: 'token' } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      {
        downwardAPI: {
          items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
        },
      },
    ],
  },
});

function withTolerations(spec: JsonObject): void {
  const given = listAt(spec, 'tolerations');
  const tolerates = (key: string) =>
    given.some((one) => {
      const effect = textAt(one, 'effect');
      const named = textAt(one, 'key');
      return (named === key || named === '') && (effect === 'NoExecute' || effect === '');
    });
  const keys = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];
  const missing = keys.filter((key) => !tolerates(key));
  const added = missing.map((key) => ({
    key,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: UNREACHABLE_SECONDS,
  }));
  if (added.length > 0) spec.tolerations = [...given, ...added];
}

function withPriority(registry: Registry, { spec, metadata }: Pod): void {
  const name = textAt(spec, 'priorityClassName');
  const found = name === '' ? undefined : registry.find({ kind: PRIORITY_CLASSES, namespace: '', name });
  const system = SYSTEM_PRIORITIES[name];
  if (name !== '' && found === undefined && system === undefined)
    throw forbidden(PODS, metadata.name ?? '', `no PriorityClass with name ${name} was found`);
  spec.priority ??= at(found, 'value') ?? system ?? 0;
  spec.preemptionPolicy ??= at(found, 'preemptionPolicy') ?? 'PreemptLowerPriority';
}
