/** Operations that create, read, update, patch and delete single objects, including subresources. */
import type { GroupVersionKind } from '@podwright/kube-schema';
import { PATCH as PATCH_DEFINITION } from './definition-names.ts';
import { ANY_TYPE, type Operation, type OperationContext, type OperationFields, operation } from './operation.ts';
import { DELETE, PATCH, WRITE } from './parameters.ts';

const PATCH_TYPES = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
];

/** The target of an operation: a resource, or a subresource with its own verbs and kind. */
export type Target = {
  verbs: readonly string[];
  /** Name of the struct that requests and responses contain. */
  type: string;
  /** The target as named in the descriptions of operations: `Deployment`, or `scale of the Deployment` for a subresource. */
  of: string;
  kind: GroupVersionKind;
  /** The subresource's name, or '' for the resource itself. */
  suffix: string;
};

type VerbFields = Omit<OperationFields, 'response' | 'kind' | 'description'> & { name: string; does: string };

const READ: VerbFields = {
  ...{ name: 'read', does: 'Read', method: 'get', action: 'get' },
  ...{ parameters: [], statusCodes: [200] },
};

const replace = (type: string): VerbFields => ({
  ...{ name: 'replace', does: 'Replace', method: 'put', action: 'put' },
  ...{ parameters: WRITE, statusCodes: [200, 201] },
  body: { type, isRequired: true, mediaTypes: ANY_TYPE },
});

const CHANGE: VerbFields = {
  ...{ name: 'patch', does: 'Change parts of', method: 'patch', action: 'patch' },
  ...{ parameters: PATCH, statusCodes: [200, 201] },
  body: { type: PATCH_DEFINITION, isRequired: true, mediaTypes: PATCH_TYPES },
};

const create = (type: string): VerbFields => ({
  ...{ name: 'create', does: 'Create', method: 'post', action: 'post' },
  ...{ parameters: WRITE, statusCodes: [200, 201, 202] },
  body: { type, isRequired: true, mediaTypes: ANY_TYPE },
});

/** Returns the operations for the get, update and patch verbs. */
export function readAndWrite(context: OperationContext, target: Target): Operation[] {
  const byVerb = { get: READ, update: replace(target.type), patch: CHANGE };
  return Object.entries(byVerb)
    .filter(([verb]) => target.verbs.includes(verb))
    .map(([, fields]) => verbOperation(context, target, context.resource.isCustom ? withoutStrategic(fields) : fields));
}

const withoutStrategic = ({ body, ...fields }: VerbFields): VerbFields => {
  const mediaTypes = (body?.mediaTypes ?? []).filter((type) => type !== 'application/strategic-merge-patch+json');
  return body === undefined ? fields : { ...fields, body: { ...body, mediaTypes } };
};

/** Returns the operation for the create verb, if the target supports it. */
export const creation = (context: OperationContext, target: Target): Operation[] =>
  target.verbs.includes('create') ? [verbOperation(context, target, create(target.type))] : [];

function verbOperation(
  context: OperationContext,
  { type, of, kind, suffix }: Target,
  { name, does, ...fields }: VerbFields,
): Operation {
  return operation(context, [name, suffix], { ...fields, kind, response: type, description: `${does} the ${of}.` });
}

/** Returns the delete operation. `response`: the type of the response, either the deleted object's type or Status. */
export const deletion = (context: OperationContext, response: string): Operation =>
  operation(context, ['delete'], {
    ...{ method: 'delete', action: 'delete', parameters: DELETE, statusCodes: [200, 202], response },
    description: `Delete the ${context.resource.kind}.`,
    body: { type: 'meta.v1.DeleteOptions', isRequired: false, mediaTypes: ANY_TYPE },
  });
