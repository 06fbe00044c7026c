/** Builds the paths and operations of a group version (apiserver, endpoints/installer.go). */
import { listKind, PROTOBUF_MEDIA_TYPE, type Resource, type Schema } from '@podwright/kube-schema';
import { creation, deletion, readAndWrite, type Target } from './object-operations.ts';
import {
  ANY_TYPE,
  OBJECT_TYPES,
  type Operation,
  type OperationContext,
  operation,
  type PathItem,
  pathItem,
  typeName,
} from './operation.ts';
import { operationId } from './operation-id.ts';
import { DELETE_COLLECTION, LIST, NAMESPACE, nameParameter, PRETTY } from './parameters.ts';
import { subresourcePaths } from './subresource-paths.ts';

type GroupVersion = { group: string; version: string };

const STREAM_TYPES = [...OBJECT_TYPES, 'application/json;stream=watch', `${PROTOBUF_MEDIA_TYPE};stream=watch`];
const STATUS = 'meta.v1.Status';

/** Resources for which DELETE returns the deleted object instead of a Status. */
const RETURNED = [
  'persistentvolumeclaims',
  'persistentvolumes',
  'pods',
  'podtemplates',
  'resourcequotas',
  'serviceaccounts',
  'services',
];

function returnsDeleted({ group, plural }: Resource): boolean {
  if (group === 'storage.k8s.io') return plural !== 'csistoragecapacities';
  return group === 'resource.k8s.io' || (group === '' && RETURNED.includes(plural));
}

const rootPath = ({ group, version }: GroupVersion) => (group === '' ? `/api/${version}` : `/apis/${group}/${version}`);

/** Returns the discovery path of a group version. */
export function discoveryPath(groupVersion: GroupVersion): PathItem {
  const get: Operation = {
    method: 'get',
    id: operationId({ ...groupVersion, namespaced: false, kind: 'APIResources' }, 'get', ''),
    description: 'List the resources of this group and version.',
    parameters: [],
    response: 'meta.v1.APIResourceList',
    statusCodes: [200],
    produces: OBJECT_TYPES,
  };
  return { path: `${rootPath(groupVersion)}/`, parameters: [], operations: [get] };
}

/** Returns all paths of a resource and its subresources. */
export function pathsOf(schema: Schema, resource: Resource): PathItem[] {
  const { plural, namespaced, kind, verbs } = resource;
  const root = rootPath(resource);
  const path = `${root}/${namespaced ? 'namespaces/{namespace}/' : ''}${plural}`;
  const context = { schema, resource, path };
  const namespace = namespaced ? [NAMESPACE] : [];
  const target: Target = { verbs, type: typeName(schema, resource), of: kind, kind: resource, suffix: '' };
  const paths = [
    pathItem(path, [...namespace, PRETTY], collectionOperations(context, target)),
    pathItem(`${path}/{name}`, [nameParameter(kind), ...namespace, PRETTY], itemOperations(context, target)),
    ...Object.entries(resource.subresources ?? {}).flatMap((one) => subresourcePaths(context, one)),
  ];
  if (namespaced && verbs.includes('list'))
    paths.push(pathItem(`${root}/${plural}`, [PRETTY], [listOperation(context, 'ForAllNamespaces')]));
  return paths.filter(({ operations }) => operations.length > 0);
}

function collectionOperations(context: OperationContext, target: Target): Operation[] {
  const { kind, verbs } = context.resource;
  const list = verbs.includes('list') ? [listOperation(context, '')] : [];
  const found = [...list, ...creation(context, target)];
  if (!verbs.includes('deletecollection')) return found;
  const remove = operation(context, ['deleteCollection'], {
    ...{ method: 'delete', action: 'deletecollection', parameters: DELETE_COLLECTION },
    ...{ response: STATUS, statusCodes: [200] },
    description: `Delete all selected objects of kind ${kind}.`,
    body: { type: 'meta.v1.DeleteOptions', isRequired: false, mediaTypes: ANY_TYPE },
  });
  return [...found, remove];
}

function itemOperations(context: OperationContext, target: Target): Operation[] {
  const operations = readAndWrite(context, target);
  if (!target.verbs.includes('delete')) return operations;
  return [...operations, deletion(context, returnsDeleted(context.resource) ? target.type : STATUS)];
}

function listOperation(context: OperationContext, suffix: '' | 'ForAllNamespaces'): Operation {
  const { schema, resource } = context;
  const canWatch = resource.verbs.includes('watch');
  return operation(context, ['list', suffix], {
    ...{ method: 'get', action: 'list', parameters: LIST, statusCodes: [200] },
    response: typeName(schema, { ...resource, kind: resource.listKind ?? listKind(resource.kind) }),
    description: `List ${canWatch ? 'or watch ' : ''}objects of kind ${resource.kind}.`,
    produces: canWatch ? STREAM_TYPES : OBJECT_TYPES,
  });
}
