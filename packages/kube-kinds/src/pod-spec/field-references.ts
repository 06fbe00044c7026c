/** References to pod fields and container resources in environment variables and volumes. */
import { formatQuantity, parseQuantity } from '@podwright/kube-api';
import type { Field } from '../field.ts';
import { qualifiedNameProblems } from '../names.ts';
import { type JsonObject, textAt } from '../values.ts';

export const ENV_FIELDS = [
  ...['metadata.name', 'metadata.namespace', 'metadata.uid', 'spec.nodeName', 'spec.serviceAccountName'],
  ...['status.hostIP', 'status.hostIPs', 'status.podIP', 'status.podIPs'],
];
export const VOLUME_FIELDS = [
  ...['metadata.annotations', 'metadata.labels', 'metadata.name', 'metadata.namespace', 'metadata.uid'],
];
/** Other field paths that upstream's conversion accepts; not every `fieldRef` may use them. */
const OTHER_FIELDS = ['spec.restartPolicy', 'spec.schedulerName', 'status.phase', 'spec.host'];

const CONTAINER_RESOURCES = [
  ...['limits.cpu', 'limits.ephemeral-storage', 'limits.memory'],
  ...['requests.cpu', 'requests.ephemeral-storage', 'requests.memory'],
];
const HUGE_PAGES = /^(limits|requests)\.hugepages-/;

const BYTE_DIVISORS = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];
const DIVISORS: readonly { resource: RegExp; divisors: readonly string[]; words: string }[] = [
  { resource: /^(limits|requests)\.cpu$/, divisors: ['1m', '1'], words: '1m and 1 are supported with the cpu' },
  { resource: /^(limits|requests)\.memory$/, divisors: BYTE_DIVISORS, words: byteWords('memory') },
  {
    resource: /^(limits|requests)\.ephemeral-storage$/,
    divisors: BYTE_DIVISORS,
    words: byteWords('local ephemeral storage'),
  },
  { resource: HUGE_PAGES, divisors: BYTE_DIVISORS, words: byteWords('hugepages') },
];

function byteWords(resource: string): string {
  return `${BYTE_DIVISORS.join(', ')} are supported with the ${resource}`;
}

/** Validates a `fieldRef` (validateObjectFieldSelector). `supported` must be sorted. */
export function validateFieldRef(ref: JsonObject, field: Field, supported: readonly string[]): void {
  const apiVersion = textAt(ref, 'apiVersion');
  const path = textAt(ref, 'fieldPath');
  if (apiVersion === '') return field.at('apiVersion').required();
  if (path === '') return field.at('fieldPath').required();
  const subscript = /^(.+?)\['(.*)'\]$/s.exec(path);
  const problem = conversionProblem(apiVersion, path, subscript?.[1]);
  if (problem !== undefined) return field.at('fieldPath').invalid(path, `error converting fieldPath: ${problem}`);
  if (subscript !== null) {
    const key = subscript[1] === 'metadata.annotations' ? subscript[2]!.toLowerCase() : subscript[2]!;
    return field.invalidEach(key, qualifiedNameProblems(key));
  }
  const name = path === 'spec.host' ? 'spec.nodeName' : path;
  if (!supported.includes(name)) field.at('fieldPath').notSupported(name, supported);
}

function conversionProblem(apiVersion: string, path: string, subscripted: string | undefined): string | undefined {
  if (apiVersion !== 'v1') return `unsupported pod version: ${apiVersion}`;
  if (subscripted !== undefined)
    return ['metadata.annotations', 'metadata.labels'].includes(subscripted)
      ? undefined
      : `field label does not support subscript: ${path}`;
  const isKnown = [...ENV_FIELDS, ...VOLUME_FIELDS, ...OTHER_FIELDS].includes(path);
  return isKnown ? undefined : `field label not supported: ${path}`;
}

/** Validates a `resourceFieldRef` (validateContainerResourceFieldSelector). The container name is required in volumes. */
export function validateResourceFieldRef(ref: JsonObject, field: Field, isVolume: boolean): void {
  const resource = textAt(ref, 'resource');
  if (isVolume && textAt(ref, 'containerName') === '') field.at('containerName').required();
  else if (resource === '') field.at('resource').required();
  else if (!CONTAINER_RESOURCES.includes(resource) && !HUGE_PAGES.test(resource))
    field.at('resource').notSupported(resource, CONTAINER_RESOURCES);
  validateDivisor(resource, textAt(ref, 'divisor'), field.at('divisor'));
}

function validateDivisor(resource: string, divisor: string, field: Field): void {
  const { nanos } = parseQuantity(divisor === '' ? '0' : divisor);
  const rule = DIVISORS.find((one) => one.resource.test(resource));
  if (nanos === 0n || rule === undefined || rule.divisors.includes(formatQuantity(nanos, divisor))) return;
  field.invalid(resource, `only divisor's values ${rule.words} resource`);
}
