import type { IssueList } from '../issue.ts';
import type { ConfigMap, PersistentVolumeClaim, RuntimeClass, Secret } from '../objects/types.ts';
import { compareQuantities } from '../values/quantity.ts';
import { validateLabels, validateMeta } from './metadata.ts';
import { configKey, dnsLabel } from './names.ts';
import { validateResourceList } from './resources.ts';

const MAX_DATA_BYTES = 1 << 20;
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Validates a ConfigMap. */
export function validateConfigMap(configMap: ConfigMap, issues: IssueList): void {
  validateMeta(configMap.metadata, issues.at('metadata'));
  const { data = {}, binaryData = {} } = configMap;
  for (const key of Object.keys(data)) configKey(key, issues.at('data', key));
  for (const key of Object.keys(binaryData)) {
    if (Object.hasOwn(data, key)) issues.at('binaryData', key).addKey('is in data as well');
  }
  const textBytes = Object.values(data).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const bytes = textBytes + validateBase64(binaryData, issues.at('binaryData'));
  if (bytes > MAX_DATA_BYTES) issues.add(`must hold at most ${MAX_DATA_BYTES} bytes of data, got ${bytes}`);
}

/** Required keys, by Secret type. */
const SECRET_KEYS: Record<string, string[]> = {
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/dockercfg': ['.dockercfg'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
};

/** Validates a Secret. `stringData` must have been merged into `data`. */
export function validateSecret(secret: Secret, issues: IssueList): void {
  validateMeta(secret.metadata, issues.at('metadata'));
  const data = secret.data ?? {};
  const bytes = validateBase64(data, issues.at('data'));
  if (bytes > MAX_DATA_BYTES) issues.add(`must hold at most ${MAX_DATA_BYTES} bytes of data, got ${bytes}`);
  const type = secret.type ?? '';
  const needed = Object.hasOwn(SECRET_KEYS, type) ? SECRET_KEYS[type]! : [];
  for (const key of needed) {
    if (!Object.hasOwn(data, key)) issues.at('data', key).addKey(`is required for the type ${type}`);
    else if (key.startsWith('.docker')) validateJson(data[key]!, issues.at('data', key));
  }
}

/** Validates a RuntimeClass. */
export function validateRuntimeClass(runtimeClass: RuntimeClass, issues: IssueList): void {
  validateMeta(runtimeClass.metadata, issues.at('metadata'));
  dnsLabel(runtimeClass.handler, issues.at('handler'));
  validateResourceList(runtimeClass.overhead?.podFixed ?? {}, issues.at('overhead', 'podFixed'));
  validateLabels(runtimeClass.scheduling?.nodeSelector, issues.at('scheduling', 'nodeSelector'));
}

/** Validates a PersistentVolumeClaim. */
export function validateClaim({ metadata, spec }: PersistentVolumeClaim, issues: IssueList): void {
  validateMeta(metadata, issues.at('metadata'));
  const { requests, limits } = spec.resources ?? {};
  for (const [name, amounts] of Object.entries({ requests, limits })) {
    const storage = amounts?.storage;
    if (storage !== undefined && compareQuantities(storage, '0') <= 0)
      issues.at('spec', 'resources', name, 'storage').add(`must be more than zero, got ${storage}`);
  }
}

/** Validates keys and base64 values. Returns the total number of decoded bytes. */
function validateBase64(data: Record<string, string>, issues: IssueList): number {
  let bytes = 0;
  for (const [key, text] of Object.entries(data)) {
    configKey(key, issues.at(key));
    const compact = text.replaceAll(/[\r\n]/g, '');
    if (!base64.test(compact))
      issues.at(key).add('must be base64; write plain text in stringData (Secret) or data (ConfigMap)');
    bytes += Buffer.byteLength(compact, 'base64');
  }
  return bytes;
}

function validateJson(encoded: string, issues: IssueList): void {
  try {
    JSON.parse(Buffer.from(encoded, 'base64').toString());
  } catch {
    issues.add('must be JSON in base64');
  }
}
