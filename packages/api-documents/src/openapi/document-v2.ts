/** The OpenAPI 2.0 document, which covers all group versions. Used by Argo CD, Flux and clients older than Kubernetes 1.27. */
import { apiVersionOf, type JsonObject, type Resource, type Schema } from '@podwright/kube-schema';
import { definitionName } from './definition-names.ts';
import { definitionsFor } from './definitions.ts';
import type { DocumentInfo } from './document-info.ts';
import { OBJECT_TYPES, type Operation, type PathItem, REASONS } from './operation.ts';
import { operationTag } from './operation-id.ts';
import type { Parameter } from './parameters.ts';
import { discoveryPath, pathsOf } from './paths.ts';

export function documentV2(schema: Schema, resources: readonly Resource[], info: DocumentInfo): JsonObject {
  const groupVersions = [...new Map(resources.map((one) => [apiVersionOf(one), one])).values()];
  const items = [
    ...groupVersions.map((resource) => ({ resource, paths: [discoveryPath(resource)] })),
    ...resources.map((resource) => ({ resource, paths: pathsOf(schema, resource) })),
  ];
  const all = items.flatMap(({ paths }) => paths);
  const definitions = definitionsFor(all, { schema, dialect: 'v2', describe: info.describe, groupVersions });
  const entries = items.flatMap(({ resource, paths }) =>
    paths.map((item) => [item.path, pathObject(item, operationTag(resource))] as const),
  );
  return {
    swagger: '2.0',
    info: { title: 'Kubernetes', version: info.version },
    paths: Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1))),
    definitions,
    securityDefinitions: {
      BearerToken: { type: 'apiKey', in: 'header', name: 'authorization', description: 'A bearer token.' },
    },
    security: [{ BearerToken: [] }],
  };
}

const pathObject = ({ parameters, operations }: PathItem, tag: string): JsonObject => ({
  ...Object.fromEntries(operations.map((operation) => [operation.method, operationObject(operation, tag)])),
  ...(parameters.length === 0 ? {} : { parameters: parameters.map(parameterObject) }),
});

const parameterObject = ({ name, in: place, type, description }: Parameter): JsonObject => ({
  name,
  in: place,
  type,
  description,
  ...(place === 'path' ? { required: true } : {}),
});

function operationObject(operation: Operation, tag: string): JsonObject {
  const { id, action, kind, description, body, statusCodes, response, produces } = operation;
  const schema = response === undefined ? { type: 'string' } : reference(response);
  const responses = statusCodes.map((code) => [code, { description: REASONS[code], schema }]);
  const bodies = body === undefined ? [] : [bodyObject(body)];
  const parameters = [...bodies, ...operation.parameters.map(parameterObject)];
  return {
    tags: [tag],
    schemes: ['https'],
    description,
    operationId: id,
    consumes: body?.mediaTypes ?? (kind === undefined ? OBJECT_TYPES : ['*/*']),
    produces,
    ...(parameters.length === 0 ? {} : { parameters }),
    responses: Object.fromEntries([...responses, [401, { description: REASONS[401] }]]),
    ...(kind === undefined ? {} : { 'x-kubernetes-action': action, 'x-kubernetes-group-version-kind': kind }),
  };
}

const bodyObject = ({ type, isRequired }: NonNullable<Operation['body']>): JsonObject => ({
  name: 'body',
  in: 'body',
  schema: reference(type),
  ...(isRequired ? { required: true } : {}),
});

const reference = (type: string) => ({ $ref: `#/definitions/${definitionName(type)}` });
