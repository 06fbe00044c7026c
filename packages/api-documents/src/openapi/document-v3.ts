/** OpenAPI 3.0 documents, one per group version. */
import type { JsonObject, Resource, Schema } from '@podwright/kube-schema';
import { definitionName } from './definition-names.ts';
import { definitionsFor } from './definitions.ts';
import type { DocumentInfo } from './document-info.ts';
import { type Operation, type PathItem, REASONS } from './operation.ts';
import { operationTag } from './operation-id.ts';
import type { Parameter } from './parameters.ts';
import { discoveryPath, pathsOf } from './paths.ts';

/** Builds the document for a single group version. `resources`: the resources of that group version. */
export function documentV3(schema: Schema, resources: readonly Resource[], info: DocumentInfo): JsonObject {
  const items = [discoveryPath(resources[0]!), ...resources.flatMap((resource) => pathsOf(schema, resource))];
  const schemas = definitionsFor(items, {
    schema,
    dialect: 'v3',
    describe: info.describe,
    groupVersions: [resources[0]!],
  });
  const paths = items.map((item) => [item.path, pathObject(item, operationTag(resources[0]!))] as const);
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: info.version },
    paths: Object.fromEntries(paths.sort(([a], [b]) => (a < b ? -1 : 1))),
    components: {
      schemas,
      securitySchemes: {
        BearerToken: { type: 'apiKey', in: 'header', name: 'authorization', description: 'A bearer token.' },
      },
    },
  };
}

const pathObject = ({ parameters, operations }: PathItem, tag: string): JsonObject => ({
  ...Object.fromEntries(operations.map((operation) => [operation.method, operationObject(operation, tag)])),
  ...parametersOf(parameters),
});

const parametersOf = (parameters: readonly Parameter[]): JsonObject =>
  parameters.length === 0 ? {} : { parameters: parameters.map(parameterObject) };

const parameterObject = ({ name, in: place, type, description }: Parameter): JsonObject => ({
  name,
  in: place,
  description,
  ...(place === 'path' ? { required: true } : {}),
  schema: { type },
});

function operationObject(operation: Operation, tag: string): JsonObject {
  const { id, action, kind, description, parameters, body, statusCodes } = operation;
  const content = contentOf(operation.produces, operation.response);
  const responses = statusCodes.map((code) => [code, { description: REASONS[code], content }]);
  return {
    tags: [tag],
    description,
    operationId: id,
    ...parametersOf(parameters),
    ...(body === undefined ? {} : { requestBody: bodyObject(body) }),
    responses: Object.fromEntries([...responses, [401, { description: REASONS[401] }]]),
    ...(kind === undefined ? {} : { 'x-kubernetes-action': action, 'x-kubernetes-group-version-kind': kind }),
  };
}

const bodyObject = ({ mediaTypes, type, isRequired }: NonNullable<Operation['body']>): JsonObject => ({
  content: contentOf(mediaTypes, type),
  ...(isRequired ? { required: true } : {}),
});

function contentOf(mediaTypes: readonly string[], type: string | undefined): JsonObject {
  const schema = type === undefined ? { type: 'string' } : { $ref: `#/components/schemas/${definitionName(type)}` };
  return Object.fromEntries(mediaTypes.map((mediaType) => [mediaType, { schema }]));
}
