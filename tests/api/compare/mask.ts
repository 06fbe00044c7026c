/** Masks values that necessarily differ between two servers: identities, timestamps, versions and allocated addresses. */
import { isMap, type Json } from './json.ts';

const TEXTS: [RegExp, string][] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '<uid>'],
  [/\b20[23]\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>'],
  [/\b20[23]\d-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)? [+-]\d{4} \w+( m=[+-][\d.]+)?/g, '<time>'],
  [/\b10\.(?:96|97|98|99|10\d|11[01])\.\d+\.\d+\b/g, '<ip>'],
  [/\b(gen|Gen|x{20,}|kube-api-access)(-?)[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, '$1$2<suffix>'],
  [/eyJ[\w-]{20,}(?:\.[\w-]+)*/g, '<token>'],
  [/-----BEGIN [\s\S]*?-----END [A-Z ]+-----\n?/g, '<pem>'],
  [/\b(resourceVersion\\?"?: ?\\?")\d+/g, '$1<version>'],
  [/\bin record \(\d+\)/g, 'in record (<version>)'],
  [/X509SHA256=[0-9a-f]+/g, '<certificate>'],
  [/127\.0\.0\.1:\d+/g, '<server>'],
  [/^\d+[smhd](\d+[smh])?$/, '<age>'],
  [/:3[0-2]\d{3}\/(TCP|UDP)/g, ':<port>/$1'],
  [/(Node[pP]ort:? )3[0-2]\d{3}\b/g, '$1<port>'],
];

const FIELDS: Record<string, string> = {
  resourceVersion: '<version>',
  uid: '<uid>',
  creationTimestamp: '<time>',
  deletionTimestamp: '<time>',
  continue: '<continue>',
  remainingItemCount: '<count>',
  nodePort: '<port>',
  healthCheckNodePort: '<port>',
};

/** Fields whose values are masked only in this format: clients set other values themselves, and those are compared. */
const FORMS: Record<string, RegExp> = {
  resourceVersion: /^[1-9]\d*$/,
  nodePort: /^3[0-2]\d{3}$/,
  healthCheckNodePort: /^3[0-2]\d{3}$/,
};

export function masked(value: Json, name = ''): Json {
  if (Array.isArray(value))
    return (name === 'managedFields' ? value.toSorted(byManager) : value).map((item) => masked(item));
  if (isMap(value)) return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, masked(item, key)]));
  const form = FORMS[name];
  if (name in FIELDS && value !== '' && value !== null && (form === undefined || form.test(String(value))))
    return FIELDS[name];
  return typeof value === 'string' ? maskedText(value) : value;
}

/** Sorts `managedFields` entries by manager: the servers sort them by time first, so the order depends on when a case runs. */
const byManager = (one: Json, other: Json): number => (managerOf(one) < managerOf(other) ? -1 : 1);
const managerOf = ({ manager, operation, subresource = '' }: Json): string => `${operation} ${manager} ${subresource}`;

export const maskedText = (text: string): string =>
  TEXTS.reduce((result, [pattern, replacement]) => result.replace(pattern, replacement), text);
