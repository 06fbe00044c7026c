import { formatTime } from '@podwright/kube-api';
import type { ApiObject } from '../api-object.ts';
import { type FieldError, invalidValue, notSupported, required } from '../field-error.ts';
import { dns1035LabelProblems, dns1123SubdomainProblems } from '../names.ts';
import { problemsAt } from '../rules.ts';
import type { CreateContext, Strategy, SubresourceStrategy } from '../strategy.ts';
import { pathSegmentProblems, portNumberProblems } from '../texts.ts';
import { booleanAt, type JsonObject, numberAt, objectAt, objectsAt, textAt } from '../values.ts';
import { withServicePort } from './webhook-client.ts';

const MAX_GROUP_PRIORITY = 20_000;
const MAX_VERSION_PRIORITY = 1000;
const STATUSES = ['True', 'False', 'Unknown'];

const specOf = (object: ApiObject): JsonObject => objectAt(object, 'spec') ?? {};

const applyDefaults = (object: ApiObject): ApiObject => ({ ...object, spec: withServicePort(specOf(object)) });

/** Clears the status of a new APIService. If its API version is served by this server itself, also marks it as `Available`. */
function prepareForCreate(object: ApiObject, { nowMs }: CreateContext): ApiObject {
  if (objectAt(object, 'spec', 'service') !== undefined) return { ...object, status: {} };
  const condition = {
    type: 'Available',
    status: 'True',
    lastTransitionTime: formatTime(nowMs),
    reason: 'Local',
    message: 'Local APIServices are always available',
  };
  return { ...object, status: { conditions: [condition] } };
}

function validate(object: ApiObject): FieldError[] {
  const spec = specOf(object);
  const [group, version] = [textAt(spec, 'group'), textAt(spec, 'version')];
  const noGroup = required('spec.group', 'only v1 may have an empty group and it better be legacy kube');
  return [
    ...validateName('metadata.name', object.metadata.name ?? '', `${version}.${group}`),
    ...(group === '' && version !== 'v1' ? [noGroup] : []),
    ...(group === '' ? [] : problemsAt('spec.group', group, dns1123SubdomainProblems(group))),
    ...problemsAt('spec.version', version, dns1035LabelProblems(version)),
    ...validatePriority('spec.groupPriorityMinimum', spec, MAX_GROUP_PRIORITY),
    ...validatePriority('spec.versionPriority', spec, MAX_VERSION_PRIORITY),
    ...validateService('spec', spec),
  ];
}

function validateName(field: string, name: string, expected: string): FieldError[] {
  if (name === expected || pathSegmentProblems(name).length > 0) return [];
  return [invalidValue(field, name, `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(expected)}`)];
}

function validatePriority(field: string, spec: JsonObject, max: number): FieldError[] {
  const priority = numberAt(spec, field.slice('spec.'.length)) ?? 0;
  const isValid = priority > 0 && priority <= max;
  return isValid ? [] : [invalidValue(field, priority, `must be positive and less than ${max}`)];
}

function validateService(field: string, spec: JsonObject): FieldError[] {
  const service = objectAt(spec, 'service');
  const bundle = textAt(spec, 'caBundle');
  const isInsecure = booleanAt(spec, 'insecureSkipTLSVerify');
  const wrongBundle = (detail: string) => [
    invalidValue(`${field}.caBundle`, `${Buffer.from(bundle, 'base64').length} bytes`, detail),
  ];
  const insecure = (detail: string) => [invalidValue(`${field}.insecureSkipTLSVerify`, true, detail)];
  if (service === undefined)
    return [
      ...(bundle === '' ? [] : wrongBundle('local APIServices may not have a caBundle')),
      ...(isInsecure ? insecure('local APIServices may not have insecureSkipTLSVerify') : []),
    ];
  const port = numberAt(service, 'port') ?? 0;
  const problems = portNumberProblems(port);
  const wrongPort = invalidValue(`${field}.service.port`, port, `port is not valid: ${problems.join(', ')}`);
  return [
    ...['namespace', 'name'].flatMap((name) =>
      textAt(service, name) === '' ? [required(`${field}.service.${name}`)] : [],
    ),
    ...(problems.length === 0 ? [] : [wrongPort]),
    ...(isInsecure && bundle !== '' ? insecure('may not be true if caBundle is present') : []),
  ];
}

/** The `status` subresource of APIServices. Its updates do not change labels, annotations, finalizers or owner references. */
const STATUS: SubresourceStrategy = {
  prepareForUpdate: (object, old) => {
    const { labels, annotations, finalizers, ownerReferences } = old.metadata;
    const metadata = { ...object.metadata, labels, annotations, finalizers, ownerReferences };
    const given = Object.entries(metadata).filter(([, value]) => value !== undefined);
    return { ...object, spec: old.spec, metadata: Object.fromEntries(given) as ApiObject['metadata'] };
  },
  resetFields: [['spec'], ['metadata']],
  validateUpdate: (object) =>
    objectsAt(object, 'status', 'conditions').flatMap((condition, index) => {
      const status = textAt(condition, 'status');
      const field = `status.conditions[${index}].status`;
      return STATUSES.includes(status) ? [] : [notSupported(field, status, STATUSES)];
    }),
};

export const API_SERVICE: Strategy = {
  applyDefaults,
  prepareForCreate,
  validate,
  validateUpdate: validate,
  nameProblems: pathSegmentProblems,
  subresources: { status: STATUS },
  allowUnconditionalUpdate: false,
};
