import { type FieldError, invalidValue, required } from '../field-error.ts';
import { portNameProblems } from '../names.ts';
import { isDnsLabel, isDnsSubdomain, problemsAt } from '../rules.ts';
import { pathSegmentProblems } from '../texts.ts';
import { type JsonObject, numberAt, objectAt, textAt, valueAt } from '../values.ts';
import { validatePortNumber } from './ports.ts';

/** Validates a backend: either a service or another resource. */
export function validateBackend(field: string, backend: JsonObject): FieldError[] {
  const resource = objectAt(backend, 'resource');
  const service = objectAt(backend, 'service');
  if (resource !== undefined && service !== undefined)
    return [invalidValue(field, '', 'cannot set both resource and service backends')];
  if (resource !== undefined) return validateReference(`${field}.resource`, resource);
  if (service !== undefined) return validateService(field, service);
  return [invalidValue(field, '', 'resource or service backend is required')];
}

/** Validates a reference to a resource by group, kind and name. */
export function validateReference(field: string, reference: JsonObject): FieldError[] {
  const hasGroup = valueAt(reference, 'apiGroup') !== undefined;
  return [
    ...(hasGroup ? isDnsSubdomain(`${field}.apiGroup`, textAt(reference, 'apiGroup')) : []),
    ...validateSegment(`${field}.kind`, textAt(reference, 'kind')),
    ...validateSegment(`${field}.name`, textAt(reference, 'name')),
  ];
}

/** Validates a required path segment. */
export const validateSegment = (field: string, text: string): FieldError[] =>
  text === '' ? [required(field)] : problemsAt(field, text, pathSegmentProblems(text));

function validateService(field: string, service: JsonObject): FieldError[] {
  const name = textAt(service, 'name');
  return [
    ...(name === '' ? [required(`${field}.service.name`)] : isDnsLabel(`${field}.service.name`, name)),
    ...validatePort(field, textAt(service, 'port', 'name'), numberAt(service, 'port', 'number') ?? 0),
  ];
}

function validatePort(field: string, name: string, number: number): FieldError[] {
  if (name !== '' && number !== 0) return [invalidValue(field, '', 'cannot set both port name & port number')];
  if (name !== '') return problemsAt(`${field}.service.port.name`, name, portNameProblems(name));
  if (number !== 0) return validatePortNumber(`${field}.service.port.number`, number);
  return [required(field, 'port name or number is required')];
}
