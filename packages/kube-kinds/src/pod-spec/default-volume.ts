/** Volume defaults (SetDefaults_Volume, and those for individual volume sources). */
import { CONTAINER_FILE } from '@podwright/base';
import { defaultPullPolicy } from '@podwright/kube-api';
import { type JsonObject, objectAt, textAt, valueAt, withItems, withValue } from '../values.ts';
import { defaultFieldRef, defaultResources, withDefaults } from './default-container.ts';

const TOKEN_SECONDS = 3600;

/** Constant defaults of volume sources. */
const SOURCES: Readonly<Record<string, JsonObject>> = {
  secret: { defaultMode: CONTAINER_FILE },
  configMap: { defaultMode: CONTAINER_FILE },
  downwardAPI: { defaultMode: CONTAINER_FILE },
  projected: { defaultMode: CONTAINER_FILE },
  iscsi: { iscsiInterface: 'default' },
  rbd: { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' },
  scaleIO: { storageMode: 'ThinProvisioned', fsType: 'xfs' },
};

/** Defaults of fields that are pointers in Go, where an empty string counts as set. */
const AZURE_DISK: JsonObject = { cachingMode: 'ReadWrite', fsType: 'ext4', readOnly: false, kind: 'Shared' };

export function defaultVolume(volume: JsonObject): JsonObject {
  if (Object.keys(volume).every((name) => name === 'name')) return { ...volume, emptyDir: {} };
  let complete = volume;
  for (const [name, defaults] of Object.entries(SOURCES)) {
    const source = objectAt(complete, name);
    if (source !== undefined) complete = { ...complete, [name]: withDefaults(source, defaults) };
  }
  complete = defaultOtherSources(complete);
  complete = withItems(complete, ['downwardAPI', 'items'], (item) => defaultFieldRef(item, ['fieldRef']));
  return withItems(complete, ['projected', 'sources'], defaultProjection);
}

function defaultOtherSources(volume: JsonObject): JsonObject {
  let complete = volume;
  const hostPath = objectAt(volume, 'hostPath');
  // the type of a hostPath volume defaults to an empty string, which is not the same as an absent type
  if (hostPath !== undefined && valueAt(hostPath, 'type') === undefined)
    complete = { ...complete, hostPath: { ...hostPath, type: '' } };
  const azureDisk = objectAt(volume, 'azureDisk');
  if (azureDisk !== undefined) complete = { ...complete, azureDisk: { ...AZURE_DISK, ...azureDisk } };
  const image = objectAt(volume, 'image');
  if (image !== undefined)
    complete = {
      ...complete,
      image: withDefaults(image, { pullPolicy: defaultPullPolicy(textAt(image, 'reference')) }),
    };
  const template = objectAt(volume, 'ephemeral', 'volumeClaimTemplate');
  if (template === undefined) return complete;
  return withValue(complete, ['ephemeral', 'volumeClaimTemplate'], defaultClaim(template));
}

/** Returns a claim or claim template with its spec's defaults set. */
export function defaultClaim(claim: JsonObject): JsonObject {
  const spec: JsonObject = { volumeMode: 'Filesystem', ...objectAt(claim, 'spec') };
  return { ...claim, spec: defaultResources(spec, ['resources']) };
}

function defaultProjection(source: JsonObject): JsonObject {
  const complete = withItems(source, ['downwardAPI', 'items'], (item) => defaultFieldRef(item, ['fieldRef']));
  const token = objectAt(source, 'serviceAccountToken');
  if (token === undefined) return complete;
  return { ...complete, serviceAccountToken: withDefaults(token, { expirationSeconds: TOKEN_SECONDS }) };
}
