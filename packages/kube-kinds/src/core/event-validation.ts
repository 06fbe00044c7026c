/** Validates events in their core/v1 form (core/validation/events.go). */
import type { ApiObject } from '../api-object.ts';
import { type FieldError, invalidValue, required } from '../field-error.ts';
import { dns1123SubdomainProblems, qualifiedNameProblems } from '../names.ts';
import { immutable, problemsAt } from '../rules.ts';
import { isSameValue, numberAt, objectAt, textAt } from '../values.ts';

const MAX_TEXT_BYTES = 128;
const MAX_NOTE_BYTES = 1024;

/** Validates an event of any version. Errors use the field names of core/v1. */
export function validateEvent(event: ApiObject): FieldError[] {
  const namespace = event.metadata.namespace ?? '';
  const isNew = textAt(event, 'eventTime') !== '';
  return [
    ...validateNamespace(event, namespace, isNew),
    ...(isNew ? validateNewFields(event) : []),
    ...problemsAt('namespace', namespace, dns1123SubdomainProblems(namespace)),
  ];
}

function validateNamespace(event: ApiObject, namespace: string, isNew: boolean): FieldError[] {
  const involved = textAt(event, 'involvedObject', 'namespace');
  const allowed = isNew ? ['default', 'kube-system'] : ['', 'default'];
  const isValid = involved === '' ? allowed.includes(namespace) : isNew || namespace === involved;
  if (isValid) return [];
  return [invalidValue('involvedObject.namespace', involved, 'does not match event.namespace')];
}

/** Validates the fields required in events with an `eventTime`. */
function validateNewFields(event: ApiObject): FieldError[] {
  const controller = textAt(event, 'reportingComponent');
  const limited = ['reportingInstance', 'action', 'reason'].flatMap((field) => [
    ...(textAt(event, field) === '' ? [required(field)] : []),
    ...atMost(event, field, MAX_TEXT_BYTES),
  ]);
  return [
    ...(controller === '' ? [required('reportingComponent')] : []),
    ...problemsAt('reportingComponent', controller, qualifiedNameProblems(controller)),
    ...limited,
    ...atMost(event, 'message', MAX_NOTE_BYTES),
  ];
}

/** Limits the size of a field in bytes. As in upstream, the error omits the value and says characters instead of bytes. */
function atMost(event: ApiObject, field: string, maxBytes: number): FieldError[] {
  const isLonger = Buffer.byteLength(textAt(event, field)) > maxBytes;
  return isLonger ? [invalidValue(field, '', `can have at most ${maxBytes} characters`)] : [];
}

/** Returns the errors of a new event specific to events.k8s.io/v1, in addition to those of core/v1. */
export function validateNewEvent(event: ApiObject): FieldError[] {
  const type = textAt(event, 'type');
  const unset = (field: string, isUnset: boolean) => (isUnset ? [] : [invalidValue(field, '', 'needs to be unset')]);
  return [
    ...validateSeries(event),
    ...(textAt(event, 'eventTime') === '' ? [required('eventTime')] : []),
    ...(type === 'Normal' || type === 'Warning' ? [] : [invalidValue('type', '', `has invalid value: ${type}`)]),
    ...unset('firstTimestamp', textAt(event, 'firstTimestamp') === ''),
    ...unset('lastTimestamp', textAt(event, 'lastTimestamp') === ''),
    ...unset('count', (numberAt(event, 'count') ?? 0) === 0),
    ...unset('source', textAt(event, 'source', 'component') === '' && textAt(event, 'source', 'host') === ''),
  ];
}

function validateSeries(event: ApiObject): FieldError[] {
  if (objectAt(event, 'series') === undefined) return [];
  return [
    ...((numberAt(event, 'series', 'count') ?? 0) < 2
      ? [invalidValue('series.count', '', 'should be at least 2')]
      : []),
    ...(textAt(event, 'series', 'lastObservedTime') === '' ? [required('series.lastObservedTime')] : []),
  ];
}

const FIXED = ['involvedObject', 'reason', 'message', 'source', 'firstTimestamp', 'lastTimestamp', 'count', 'reason'];
const FIXED_TOO = ['type', 'eventTime', 'action', 'related'];

/** Returns the additional errors of an updated events.k8s.io/v1 event: only its series may change. */
export function validateEventChange(event: ApiObject, old: ApiObject): FieldError[] {
  return [
    ...(isSameValue(event.series, old.series) ? [] : validateSeries(event)),
    ...[...FIXED, ...FIXED_TOO].flatMap((field) => fixed(field, event[field], old[field])),
    ...immutable('reportingController', event.reportingComponent, old.reportingComponent),
    ...immutable('reportingInstance', event.reportingInstance, old.reportingInstance),
  ];
}

/** Requires a field to be unchanged. As in upstream, errors show references and sources in their internal form. */
function fixed(field: string, value: unknown, old: unknown): FieldError[] {
  if (field === 'involvedObject' || field === 'related')
    return immutable(field, internalReference(value), internalReference(old));
  return field === 'source'
    ? immutable(field, internalSource(value), internalSource(old))
    : immutable(field, value, old);
}

const internalSource = (source: unknown) => ({ Component: textAt(source, 'component'), Host: textAt(source, 'host') });

const internalReference = (reference: unknown) =>
  objectAt(reference) && {
    Kind: textAt(reference, 'kind'),
    Namespace: textAt(reference, 'namespace'),
    Name: textAt(reference, 'name'),
    UID: textAt(reference, 'uid'),
    APIVersion: textAt(reference, 'apiVersion'),
    ResourceVersion: textAt(reference, 'resourceVersion'),
    FieldPath: textAt(reference, 'fieldPath'),
  };
