import { formatTime } from '@podwright/kube-api';
import type { ApiObject } from '../api-object.ts';
import { type FieldError, forbiddenField, required } from '../field-error.ts';
import { jsonDiff } from '../json-diff.ts';
import { hasInvalidNodeSelectorValues } from '../node-selector.ts';
import { immutable } from '../rules.ts';
import { withStatusAndMetadataOf } from '../status-update.ts';
import type { CreateContext, Strategy } from '../strategy.ts';
import { isSameValue, type JsonObject, objectAt, textAt, valueAt, withValue } from '../values.ts';
import { validateAffinityChange } from './affinity-change.ts';
import { withVolumeDefaults } from './persistent-volume-defaults.ts';
import { type SpecOptions, validateVolumeSpec } from './persistent-volume-spec.ts';
import { VOLUME_SOURCES } from './volume-sources.ts';
import { volumeWarnings } from './volume-warnings.ts';

function applyDefaults(object: ApiObject): ApiObject {
  const spec = withVolumeDefaults(objectAt(object, 'spec') ?? {});
  const phase = textAt(object, 'status', 'phase') || 'Pending';
  const persistentVolumeReclaimPolicy = textAt(spec, 'persistentVolumeReclaimPolicy') || 'Retain';
  const volumeMode = spec.volumeMode ?? 'Filesystem';
  const status = { ...objectAt(object, 'status'), phase };
  return { ...object, spec: { ...spec, persistentVolumeReclaimPolicy, volumeMode }, status };
}

const prepareForCreate = (object: ApiObject, { nowMs }: CreateContext): ApiObject => ({
  ...object,
  status: { phase: 'Pending', lastPhaseTransitionTime: formatTime(nowMs) },
});

const specOf = (object: ApiObject): JsonObject => objectAt(object, 'spec') ?? {};

const validate = (object: ApiObject): FieldError[] => validateWith(object, {});

function validateWith(object: ApiObject, options: SpecOptions): FieldError[] {
  const volume = object.metadata.name ?? '';
  return [
    ...validateVolumeSpec('spec', specOf(object), { ...options, volume }),
    ...validateMountOptions('metadata.annotations', object),
  ];
}

const MOUNT_OPTIONS = 'volume.beta.kubernetes.io/mount-options';
const WITH_MOUNT_OPTIONS = [
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'nfs',
  'rbd',
  'quobyte',
  'iscsi',
  'cinder',
  'cephfs',
  'azureFile',
  'vsphereVolume',
  'azureDisk',
  'photonPersistentDisk',
];

function validateMountOptions(field: string, object: ApiObject): FieldError[] {
  const isSupported = WITH_MOUNT_OPTIONS.some((name) => objectAt(object, 'spec', name) !== undefined);
  if (isSupported || valueAt(object.metadata, 'annotations', MOUNT_OPTIONS) === undefined) return [];
  return [forbiddenField(`${field}.${MOUNT_OPTIONS}`, 'may not specify mount options for this volume type')];
}

function validateUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  const allowInvalidValues = hasInvalidNodeSelectorValues(valueAt(old, 'spec', 'nodeAffinity', 'required'));
  const [spec, oldSpec] = [specOf(object), specOf(old)];
  return [
    ...validateWith(object, { allowInvalidValues }),
    ...validateVolumeSpec('spec', spec, { allowInvalidValues, volume: object.metadata.name ?? '' }),
    ...validateSourceChange(spec, oldSpec),
    ...immutable('volumeMode', spec.volumeMode, oldSpec.volumeMode),
    ...validateAffinityChange('nodeAffinity', spec.nodeAffinity, oldSpec.nodeAffinity),
    ...validateAttributesChange('spec.volumeAttributesClassName', spec, oldSpec),
  ];
}

const SECRET = ['csi', 'controllerExpandSecretRef'];

/** A volume's source is immutable, except that an expansion secret can be added to a CSI volume. */
function validateSourceChange(spec: JsonObject, old: JsonObject): FieldError[] {
  const getsSecret = objectAt(old, 'csi') !== undefined && valueAt(old, ...SECRET) === undefined;
  const [before, after] = [sourcesOf(old), sourcesOf(getsSecret ? withoutSecret(spec) : spec)];
  if (isSameValue(before, after)) return [];
  const message = 'spec.persistentvolumesource is immutable after creation';
  return [forbiddenField('spec.persistentvolumesource', `${message}\n${jsonDiff(before, after)}`)];
}

const withoutSecret = (spec: JsonObject): JsonObject =>
  objectAt(spec, 'csi') === undefined ? spec : withValue(spec, SECRET, undefined);

const sourcesOf = (spec: JsonObject): JsonObject =>
  Object.fromEntries(VOLUME_SOURCES.flatMap(({ name }) => (spec[name] ? [[name, spec[name]]] : [])));

function validateAttributesChange(field: string, spec: JsonObject, old: JsonObject): FieldError[] {
  const hadClass = valueAt(old, 'volumeAttributesClassName') !== undefined;
  if (!hadClass || valueAt(spec, 'volumeAttributesClassName') !== undefined) return [];
  return [forbiddenField(field, 'update from non-nil value to nil is forbidden')];
}

/** Sets the last phase transition time when the phase changes, unless set by the client. */
function prepareForStatusUpdate(object: ApiObject, old: ApiObject): ApiObject {
  const prepared = withStatusAndMetadataOf(object, old);
  const time = ['status', 'lastPhaseTransitionTime'];
  const before = valueAt(old, ...time);
  const given = valueAt(object, ...time);
  if (textAt(object, 'status', 'phase') === textAt(old, 'status', 'phase'))
    return given === undefined ? withValue(prepared, time, before) : prepared;
  const isUnchanged = given === undefined || given === before;
  return isUnchanged ? withValue(prepared, time, formatTime(Date.now())) : prepared;
}

const validateStatusUpdate = (object: ApiObject): FieldError[] =>
  object.metadata.resourceVersion ? [] : [required('resourceVersion')];

export const PERSISTENT_VOLUME: Strategy = {
  applyDefaults,
  prepareForCreate,
  validate,
  validateUpdate,
  warnings: volumeWarnings,
  subresources: {
    status: { prepareForUpdate: prepareForStatusUpdate, validateUpdate: validateStatusUpdate },
  },
};
