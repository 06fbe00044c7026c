import type { KubeObject } from '@podwright/kube-api';
import { AGE, type Column, type KindTables, kindTable, NAME, sizeOf, text } from './column.ts';
import { type JsonQuantity, quantityText } from './quantity-text.ts';
import { compare } from './selector-text.ts';

type Namespace = KubeObject & { status?: { phase?: string } };

const NAMESPACE: Column<Namespace>[] = [
  NAME,
  text('Status', 'Phase of the namespace', ({ status }) => status?.phase ?? ''),
  AGE,
];

type ConfigMap = KubeObject & { data?: object; binaryData?: object };

const CONFIG_MAP: Column<ConfigMap>[] = [
  NAME,
  text('Data', 'Number of its keys', ({ data, binaryData }) => sizeOf(data) + sizeOf(binaryData)),
  AGE,
];

type Secret = KubeObject & { type?: string; data?: object };

const SECRET: Column<Secret>[] = [
  NAME,
  text('Type', 'Kind of the data', ({ type }) => type ?? ''),
  text('Data', 'Number of its keys', ({ data }) => sizeOf(data)),
  AGE,
];

type Amounts = Record<string, JsonQuantity>;
type ResourceQuota = KubeObject & { status?: { hard?: Amounts; used?: Amounts } };

const RESOURCE_QUOTA: Column<ResourceQuota>[] = [
  NAME,
  text('Request', 'Used and allowed amounts of requests and objects', (quota) => usageOf(quota, false)),
  text('Limit', 'Used and allowed amounts of limits', (quota) => usageOf(quota, true)),
  AGE,
];

function usageOf({ status }: ResourceQuota, isLimit: boolean): string {
  return Object.entries(status?.hard ?? {})
    .filter(([resource]) => resource.startsWith('limits.') === isLimit)
    .sort(([a], [b]) => compare(a, b))
    .map(([resource, hard]) => `${resource}: ${quantityText(status?.used?.[resource])}/${quantityText(hard)}`)
    .join(', ');
}

/** Tables for namespaces and configuration kinds. LimitRanges use the default columns. */
export const CONFIGURATION: KindTables = {
  Namespace: kindTable(NAMESPACE),
  ConfigMap: kindTable(CONFIG_MAP),
  Secret: kindTable(SECRET),
  ResourceQuota: kindTable(RESOURCE_QUOTA),
};
