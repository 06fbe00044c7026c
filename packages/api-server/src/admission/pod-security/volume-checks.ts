/** Volume type checks. */
import { type JsonObject, objectsAt, valueAt } from '@podwright/kube-kinds';
import { type CheckPod, namesOf, plural, quotedNames, sorted } from './check.ts';

export const hostPathVolumes: CheckPod = ({ spec }) => {
  const names = namesOf(objectsAt(spec, 'volumes').filter((volume) => valueAt(volume, 'hostPath') !== undefined));
  if (names.length === 0) return undefined;
  return { reason: 'hostPath volumes', detail: `${plural('volume', names.length)} ${quotedNames(names)}` };
};

/** Volume types that need no access to the host or to a storage server. */
const VOLUMES = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
];
const OTHER_VOLUMES = [
  ...[
    'hostPath',
    'gcePersistentDisk',
    'awsElasticBlockStore',
    'gitRepo',
    'nfs',
    'iscsi',
    'glusterfs',
    'rbd',
    'flexVolume',
  ],
  ...[
    'cinder',
    'cephfs',
    'flocker',
    'fc',
    'azureFile',
    'vsphereVolume',
    'quobyte',
    'azureDisk',
    'photonPersistentDisk',
  ],
  ...['portworxVolume', 'scaleIO', 'storageos'],
];

export const restrictedVolumes: CheckPod = ({ spec }) => {
  const hasOneOf = (volume: JsonObject) => (type: string) => valueAt(volume, type) !== undefined;
  const bad = objectsAt(spec, 'volumes').filter((volume) => !VOLUMES.some(hasOneOf(volume)));
  if (bad.length === 0) return undefined;
  const types = sorted(bad.map((volume) => OTHER_VOLUMES.find(hasOneOf(volume)) ?? 'unknown'));
  const who = `${plural('volume', bad.length)} ${quotedNames(namesOf(bad))}`;
  const uses = bad.length === 1 ? 'uses' : 'use';
  const noun = plural('restricted volume type', types.length);
  return { reason: 'restricted volume types', detail: `${who} ${uses} ${noun} ${quotedNames(types)}` };
};
