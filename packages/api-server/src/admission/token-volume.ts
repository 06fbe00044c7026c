import { generateName } from '@podwright/api-machinery';
import { type ApiObject, type JsonObject, objectsAt, textAt, withItems, withValue } from '@podwright/kube-kinds';

/** Directory in which clients in pods look for the token, the CA certificate and the namespace. */
const DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount';
const NAME_PREFIX = 'kube-api-access-';
/**
 * The requested token lifetime. This exact value marks pod tokens whose lifetime may be extended to a year if the API server is their
 * audience.
 */
const TOKEN_SECONDS = 3607;

const SOURCES = [
  { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: 'token' } },
  { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
  { downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] } },
];
const DEFAULT_MODE = 420; // rw-r--r--, as a decimal number in JSON

/**
 * Adds a volume with the service account's token to the pod and mounts it in every container that does not already mount something at that
 * path.
 */
export function withTokenVolume(pod: ApiObject): ApiObject {
  const existing = objectsAt(pod, 'spec', 'volumes').find((volume) => textAt(volume, 'name').startsWith(NAME_PREFIX));
  const name = existing === undefined ? generateName(NAME_PREFIX) : textAt(existing, 'name');
  const mount = (container: JsonObject) => (mounts(container) ? container : withMount(container, name));
  const mounted = withItems(withItems(pod, ['spec', 'initContainers'], mount), ['spec', 'containers'], mount);
  if (existing !== undefined || !needsVolume(pod)) return mounted;
  const volume = { name, projected: { defaultMode: DEFAULT_MODE, sources: SOURCES } };
  return withValue(mounted, ['spec', 'volumes'], [...objectsAt(pod, 'spec', 'volumes'), volume]);
}

const mounts = (container: JsonObject): boolean =>
  objectsAt(container, 'volumeMounts').some((mount) => textAt(mount, 'mountPath') === DIRECTORY);

const needsVolume = (pod: ApiObject): boolean =>
  ['initContainers', 'containers'].some((field) => objectsAt(pod, 'spec', field).some((one) => !mounts(one)));

const withMount = (container: JsonObject, name: string): JsonObject => ({
  ...container,
  volumeMounts: [...objectsAt(container, 'volumeMounts'), { name, readOnly: true, mountPath: DIRECTORY }],
});
