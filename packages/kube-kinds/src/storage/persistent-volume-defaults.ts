import { formatQuantity, quantityMilliValue } from '@podwright/kube-api';
import { type JsonObject, objectAt, textEntriesAt, withValue } from '../values.ts';

/** Defaults of volume source fields, used if a field is absent or ''. */
const SOURCE_DEFAULTS: Readonly<Record<string, JsonObject>> = {
  rbd: { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' },
  iscsi: { iscsiInterface: 'default' },
  scaleIO: { storageMode: 'ThinProvisioned', fsType: 'xfs' },
};
/** Defaults of fields where '' is a valid value, used only if a field is absent. */
const POINTER_DEFAULTS: Readonly<Record<string, JsonObject>> = {
  hostPath: { type: '' },
  azureDisk: { cachingMode: 'ReadWrite', fsType: 'ext4', readOnly: false, kind: 'Shared' },
};

/** Sets the defaults of a PersistentVolume spec's source and capacity, even if the spec is inlined in a VolumeAttachment. */
export function withVolumeDefaults(spec: JsonObject): JsonObject {
  const filled = fill(fill(spec, SOURCE_DEFAULTS, ['']), POINTER_DEFAULTS, []);
  return withRoundedQuantities(filled, ['capacity']);
}

function fill(spec: JsonObject, defaults: Readonly<Record<string, JsonObject>>, unset: readonly unknown[]): JsonObject {
  const sources = Object.entries(defaults).flatMap(([name, fields]) => {
    const source = objectAt(spec, name);
    if (source === undefined) return [];
    const given = Object.entries(source).filter(([, value]) => value !== null && !unset.includes(value));
    return [[name, { ...source, ...fields, ...Object.fromEntries(given) }] as const];
  });
  return { ...spec, ...Object.fromEntries(sources) };
}

/** Rounds the quantities in a resource list up to milli-units (SetDefaults_ResourceList). */
export function withRoundedQuantities<T extends JsonObject>(object: T, path: readonly string[]): T {
  const entries = textEntriesAt(object, ...path);
  const rounded = entries.map(([name, text]) => [name, roundUp(text)] as const);
  const isSame = rounded.every(([, text], index) => text === entries[index]![1]);
  return isSame ? object : withValue(object, path, Object.fromEntries(rounded));
}

/** Rounds a quantity up to milli-units. Only quantities with the suffix `n` or `u` can be finer than that. */
const roundUp = (text: string): string =>
  /[nu]$/.test(text) ? formatQuantity(quantityMilliValue(text) * 1_000_000n, text) : text;
