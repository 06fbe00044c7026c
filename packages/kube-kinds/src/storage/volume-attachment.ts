import type { ApiObject } from '../api-object.ts';
import { type FieldError, forbiddenField, invalidValue, required, tooLong } from '../field-error.ts';
import { dns1123SubdomainProblems } from '../names.ts';
import { immutable, problemsAt } from '../rules.ts';
import { statusWith } from '../status-update.ts';
import type { Strategy } from '../strategy.ts';
import { numberAt, objectAt, textAt, textEntriesAt, valueAt, withValue } from '../values.ts';
import { validateDriverName } from './driver-name.ts';
import { sizeOf } from './parameters.ts';
import { withVolumeDefaults } from './persistent-volume-defaults.ts';
import { validateVolumeSpec } from './persistent-volume-spec.ts';

const MAX_METADATA_BYTES = 256 * 1024;
const MAX_MESSAGE_BYTES = 1024;
const INLINE_SPEC = ['spec', 'source', 'inlineVolumeSpec'];

function applyDefaults(object: ApiObject): ApiObject {
  const spec = objectAt(object, ...INLINE_SPEC);
  return spec === undefined ? object : withValue(object, INLINE_SPEC, withVolumeDefaults(spec));
}

function validate(object: ApiObject): FieldError[] {
  const nodeName = textAt(object, 'spec', 'nodeName');
  const volume = textAt(object, 'spec', 'source', 'persistentVolumeName');
  const hasVolume = valueAt(object, 'spec', 'source', 'persistentVolumeName') !== undefined;
  const volumeProblems = hasVolume ? dns1123SubdomainProblems(volume) : [];
  return [
    ...validateDriverName('spec.attacher', textAt(object, 'spec', 'attacher')),
    ...validateSource('spec.source', object),
    ...problemsAt('spec.nodeName', nodeName, dns1123SubdomainProblems(nodeName)),
    ...validateStatus('status', object),
    ...problemsAt('spec.source.persistentVolumeName', volume, volumeProblems),
  ];
}

function validateSource(field: string, object: ApiObject): FieldError[] {
  const inline = objectAt(object, ...INLINE_SPEC);
  const volume = valueAt(object, 'spec', 'source', 'persistentVolumeName');
  const one = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
  if (inline === undefined && volume === undefined) return [required(field, one)];
  if (inline !== undefined && volume !== undefined) return [forbiddenField(field, one)];
  if (inline !== undefined) return validateVolumeSpec(`${field}.inlineVolumeSpec`, inline, {});
  const empty = required(`${field}.persistentVolumeName`, 'must specify non empty persistentVolumeName');
  return volume === '' ? [empty] : [];
}

function validateStatus(field: string, object: ApiObject): FieldError[] {
  const metadata = textEntriesAt(object, 'status', 'attachmentMetadata');
  return [
    ...(sizeOf(metadata) > MAX_METADATA_BYTES ? [tooLong(`${field}.attachmentMetadata`, MAX_METADATA_BYTES)] : []),
    ...validateError(`${field}.attachError`, objectAt(object, 'status', 'attachError')),
    ...validateError(`${field}.detachError`, objectAt(object, 'status', 'detachError')),
  ];
}

/**
 * Validates the error of an attach or detach operation. As in upstream, the error for a message that is too long names the limit for
 * metadata instead of the one for messages.
 */
function validateError(field: string, error: unknown): FieldError[] {
  const isLong = Buffer.byteLength(textAt(error, 'message')) > MAX_MESSAGE_BYTES;
  const code = numberAt(error, 'errorCode') ?? 0;
  const range = 'must be between 0 and 2147483647, inclusive';
  return [
    ...(isLong ? [tooLong(`${field}.message`, MAX_METADATA_BYTES)] : []),
    ...(code < 0 ? [invalidValue(`${field}.errorCode`, code, range)] : []),
  ];
}

const validateUpdate = (object: ApiObject, old: ApiObject): FieldError[] => [
  ...validate(object),
  ...immutable('spec', object.spec, old.spec),
];

export const VOLUME_ATTACHMENT: Strategy = {
  applyDefaults,
  validate,
  validateUpdate,
  subresources: { status: statusWith(validateUpdate) },
  allowUnconditionalUpdate: false,
};
