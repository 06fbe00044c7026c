/** Validates a pod's volumes (ValidateVolumes). */
import { compareQuantities } from '@podwright/kube-api';
import type { Field } from '../field.ts';
import { dns1123LabelProblems, dns1123SubdomainProblems } from '../names.ts';
import { type JsonObject, numberAt, objectAt, objectsAt, textAt, valueAt } from '../values.ts';
import { validateClaimTemplate } from './claim-spec.ts';
import { validatePullPolicy } from './containers.ts';
import { validateCsiDriverName } from './csi-driver-name.ts';
import { validateDownwardItems } from './downward-items.ts';
import type { PodOptions } from './options.ts';
import { validateProjectedVolume } from './projected-volume.ts';
import { RARE_SOURCES } from './rare-volume-sources.ts';
import type { Volumes } from './volume-mounts.ts';
import { validateKeyToPath, validateMode, validateNoBacksteps } from './volume-paths.ts';

export type VolumeContext = {
  /** The pod's name; '' for templates, and for pods with a name yet to be generated. */
  podName: string;
  options: PodOptions;
};

type Rule = (source: JsonObject, field: Field, context: VolumeContext) => void;

const HOST_PATH_TYPES = [
  ...['', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket'],
];

/** The volume sources and their validation rules, in upstream's order. */
const SOURCES: readonly (readonly [name: string, rule: Rule])[] = [
  ['emptyDir', validateEmptyDir],
  ['hostPath', validateHostPath],
  ...rare('gitRepo', 'gcePersistentDisk', 'awsElasticBlockStore'),
  ['secret', (source, field) => validateFiles(source, field, 'secretName')],
  ['nfs', validateNfs],
  ...rare('iscsi', 'glusterfs', 'flocker'),
  ['persistentVolumeClaim', (source, field) => requireText(source, field, 'claimName')],
  ...rare('rbd', 'cinder', 'cephfs', 'quobyte'),
  ['downwardAPI', validateDownward],
  ...rare('fc', 'flexVolume'),
  ['configMap', (source, field) => validateFiles(source, field, 'name')],
  ...rare('azureFile', 'vsphereVolume', 'photonPersistentDisk', 'portworxVolume', 'azureDisk', 'storageos'),
  ['projected', (source, field, { options }) => validateProjectedVolume(source, field, options)],
  ...rare('scaleIO'),
  ['csi', validateCsi],
  ['ephemeral', validateEphemeral],
  ['image', validateImage],
];

function rare(...names: (keyof typeof RARE_SOURCES)[]): [string, Rule][] {
  return names.map((name) => [name, RARE_SOURCES[name]]);
}

/** Validates all volumes, and returns the valid ones by name. */
export function validateVolumes(volumes: readonly JsonObject[], field: Field, context: VolumeContext): Volumes {
  const valid = new Map<string, JsonObject>();
  const created = createdClaims(volumes, context.podName);
  for (const [index, volume] of volumes.entries()) {
    const at = field.at(index);
    const before = field.errors.length;
    const name = textAt(volume, 'name');
    validateSource(volume, at, context);
    if (name === '') at.at('name').required();
    else at.at('name').invalidEach(name, dns1123LabelProblems(name));
    if (valid.has(name)) at.at('name').duplicate(name);
    if (field.errors.length === before) valid.set(name, volume);
    const claim = textAt(volume, 'persistentVolumeClaim', 'claimName');
    if (objectAt(volume, 'persistentVolumeClaim') !== undefined && created.has(claim))
      at.at('persistentVolumeClaim', 'claimName').invalid(
        claim,
        'must not reference a PVC that gets created for an ephemeral volume',
      );
  }
  return valid;
}

/** Returns the names of the claims to be created for the pod's ephemeral volumes. */
function createdClaims(volumes: readonly JsonObject[], podName: string): Set<string> {
  const ephemeral = volumes.filter((volume) => objectAt(volume, 'ephemeral') !== undefined);
  return new Set(podName === '' ? [] : ephemeral.map((volume) => `${podName}-${textAt(volume, 'name')}`));
}

/** Volume sources whose names are spelled differently in upstream's error about a volume with more than one source. */
const MISNAMED: Readonly<Record<string, string>> = { cephfs: 'cephFS', downwardAPI: 'downwarAPI' };

function validateSource(volume: JsonObject, field: Field, context: VolumeContext): void {
  const present = SOURCES.filter(([name]) => objectAt(volume, name) !== undefined);
  for (const [order, [name, rule]] of present.entries()) {
    if (order > 0) field.at(MISNAMED[name] ?? name).forbidden('may not specify more than 1 volume type');
    else rule(objectAt(volume, name)!, field.at(name), context);
  }
  if (present.length === 0) return field.required('must specify a volume type');
  const name = textAt(volume, 'name');
  if (present[0]![0] !== 'ephemeral' || context.podName === '' || name === '') return;
  const claim = `${context.podName}-${name}`;
  for (const problem of dns1123SubdomainProblems(claim))
    field.at('name').invalid(name, `PVC name ${JSON.stringify(claim)}: ${problem}`);
}

export function requireText(source: JsonObject, field: Field, name: string): void {
  if (textAt(source, name) === '') field.at(name).required();
}

function validateEmptyDir(source: JsonObject, field: Field): void {
  const limit = textAt(source, 'sizeLimit');
  if (limit !== '' && compareQuantities(limit, '0') < 0)
    field.at('sizeLimit').forbidden('SizeLimit field must be a valid resource quantity');
}

function validateHostPath(source: JsonObject, field: Field): void {
  const path = textAt(source, 'path');
  if (path === '') return field.at('path').required();
  validateNoBacksteps(path, field.at('path'));
  const type = textAt(source, 'type');
  if (!HOST_PATH_TYPES.includes(type)) field.at('type').notSupported(type, HOST_PATH_TYPES);
}

/** Validates a Secret or ConfigMap volume source. */
function validateFiles(source: JsonObject, field: Field, name: 'name' | 'secretName'): void {
  requireText(source, field, name);
  validateMode(numberAt(source, 'defaultMode'), field.at('defaultMode'));
  for (const [index, item] of objectsAt(source, 'items').entries()) validateKeyToPath(item, field.at('items', index));
}

function validateNfs(source: JsonObject, field: Field): void {
  requireText(source, field, 'server');
  requireText(source, field, 'path');
  const path = textAt(source, 'path');
  if (!path.startsWith('/')) field.at('path').invalid(path, 'must be an absolute path');
}

function validateDownward(source: JsonObject, field: Field): void {
  validateMode(numberAt(source, 'defaultMode'), field.at('defaultMode'));
  validateDownwardItems(objectsAt(source, 'items'), field);
}

function validateCsi(source: JsonObject, field: Field): void {
  validateCsiDriverName(textAt(source, 'driver'), field.at('driver'));
  if (objectAt(source, 'nodePublishSecretRef') === undefined) return;
  const secret = textAt(source, 'nodePublishSecretRef', 'name');
  if (secret === '') field.at('nodePublishSecretRef', 'name').required();
  else field.at('name').invalidEach(secret, dns1123SubdomainProblems(secret));
}

function validateEphemeral(source: JsonObject, field: Field): void {
  const template = objectAt(source, 'volumeClaimTemplate');
  if (template === undefined) field.at('volumeClaimTemplate').required();
  else validateClaimTemplate(template, field.at('volumeClaimTemplate'));
}

function validateImage(source: JsonObject, field: Field, { options }: VolumeContext): void {
  if (options.isPod && valueAt(source, 'reference') === undefined) field.at('reference').required();
  validatePullPolicy(textAt(source, 'pullPolicy'), field.at('pullPolicy'));
}
