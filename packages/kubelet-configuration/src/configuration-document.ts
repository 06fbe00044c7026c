/** Formats a configuration as a KubeletConfiguration file. */
import { formatDuration } from '@podwright/kube-api';
import { FIELDS, FILE_FIELDS, type KubeletConfiguration } from './fields/field-table.ts';

/** Upstream's placeholder for secrets. */
const MASK = '<masked>';

/** Returns the configuration as a KubeletConfiguration (v1beta1): durations in Go's format, no empty fields, secrets masked. */
export function configurationDocument(configuration: KubeletConfiguration): Record<string, unknown> {
  const document: Record<string, unknown> = {
    kind: 'KubeletConfiguration',
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
  };
  for (const [name, value] of Object.entries(configuration)) {
    if (!Object.hasOwn(FILE_FIELDS, name) || isEmpty(value)) continue;
    const isDuration = FIELDS.get(name)!.type.name === 'duration' && typeof value === 'number';
    put(document, name.split('.'), isDuration ? formatDuration(value) : withoutSecrets(name, value));
  }
  return document;
}

/** Masks the values of staticPodURLHeader, which may contain credentials. */
export function withoutSecrets(field: string, value: unknown): unknown {
  if (field !== 'staticPodURLHeader') return value;
  return Object.fromEntries(Object.keys(value as object).map((name) => [name, [MASK]]));
}

function put(table: Record<string, unknown>, [key, ...rest]: string[], value: unknown): void {
  if (rest.length === 0) table[key!] = value;
  else {
    table[key!] ??= {};
    put(table[key!] as Record<string, unknown>, rest, value);
  }
}

function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return value === undefined || value === '';
}
