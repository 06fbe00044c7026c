import { type ApiObject, type JsonObject, objectsAt, textAt, withItems, withValue } from '@podwright/kube-kinds';
import { randomSuffix } from './random-suffix.ts';

/** Where clients in pods look for the token, the CA and the namespace. */
const DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount';
const NAME_PREFIX = 'kube-api-access-';
/** The requested life of tokens, which marks them: those for the API are then valid for a year. */
const TOKEN_SECONDS = 3607;

const SOURCES = [
  { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: 'token' } },
  { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
  { downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] } },
];
const DEFAULT_MODE = 420; // rw-r--r--, as a decimal number in JSON

/** The pod with a volume of its account's token, mounted by each container that mounts nothing else in its place. */
export function withTokenVolume(pod: ApiObject): ApiObject {
  const existing = objectsAt(pod, 'spec', 'volumes').find((volume) => textAt(volume, 'name').startsWith(NAME_PREFIX));
  const name = existing === undefined ? `${NAME_PREFIX}${randomSuffix()}` : textAt(existing, 'name');
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
