import { didYouMean } from '@podwright/base';
import type { IssueList } from '../issue.ts';
import type { ObjectFieldSelector, ResourceFieldSelector } from '../objects/types.ts';
import { parseQuantity } from '../values/quantity.ts';
import { qualifiedName } from './names.ts';

/** Where a `fieldRef` or `resourceFieldRef` is used: in a container's environment variable, or in one of the pod's volumes. */
type Place = 'env' | 'volume';

const COMMON_FIELDS = ['metadata.name', 'metadata.namespace', 'metadata.uid'];
const fields: Record<Place, string[]> = {
  env: [
    ...COMMON_FIELDS,
    ...['spec.nodeName', 'spec.serviceAccountName'],
    ...['status.hostIP', 'status.hostIPs', 'status.podIP', 'status.podIPs'],
  ],
  volume: [...COMMON_FIELDS, 'metadata.labels', 'metadata.annotations'],
};

/** Splits `metadata.labels['key']` or `metadata.annotations['key']` into map and key. */
export function parseSubscript(fieldPath: string): { map: 'labels' | 'annotations'; key: string } | undefined {
  const match = /^metadata\.(labels|annotations)\['(.*)'\]$/.exec(fieldPath);
  return match === null ? undefined : { map: match[1] as 'labels' | 'annotations', key: match[2]! };
}

/** Validates a reference to a pod field. */
export function validateFieldRef(ref: ObjectFieldSelector, place: Place, issues: IssueList): void {
  if (ref.apiVersion !== undefined && ref.apiVersion !== '' && ref.apiVersion !== 'v1') {
    issues.at('apiVersion').add(`must be v1, got "${ref.apiVersion}"`);
  }
  const subscript = parseSubscript(ref.fieldPath);
  if (subscript !== undefined) return qualifiedName(subscript.key.toLowerCase(), issues.at('fieldPath'));
  if (fields[place].includes(ref.fieldPath)) return;
  const hint = didYouMean(ref.fieldPath, fields[place]);
  const known = [...fields[place], "metadata.labels['key']", "metadata.annotations['key']"].join(', ');
  issues.at('fieldPath').add(`must be one of ${known}, got "${ref.fieldPath}"${hint}`);
}

const resource = /^(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-[0-9A-Za-z]+)$/;
const CPU_DIVISORS = ['1m', '1'];
const BYTE_DIVISORS = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];

/** Validates a reference to a container resource. */
export function validateResourceRef(ref: ResourceFieldSelector, place: Place, issues: IssueList): void {
  if (place === 'volume' && !ref.containerName) issues.at('containerName').addKey('is required');
  const match = resource.exec(ref.resource);
  if (match === null) {
    issues
      .at('resource')
      .add(`must be limits or requests of cpu, memory or ephemeral-storage, such as limits.cpu, got "${ref.resource}"`);
    return;
  }
  if (ref.divisor === undefined) return;
  const allowed = match[2] === 'cpu' ? CPU_DIVISORS : BYTE_DIVISORS;
  const { nanos } = parseQuantity(ref.divisor);
  if (nanos !== 0n && !allowed.some((text) => parseQuantity(text).nanos === nanos)) {
    issues.at('divisor').add(`must be one of ${allowed.join(', ')}, got ${ref.divisor}`);
  }
}
