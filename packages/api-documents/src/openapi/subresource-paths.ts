import type { GroupVersionKind, Subresource } from '@podwright/kube-schema';
import { creation, readAndWrite } from './object-operations.ts';
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
import { NAMESPACE, nameParameter, optionParameters, type Parameter, PRETTY, PROXY_PATH } from './parameters.ts';

const PROXY_METHODS = ['delete', 'get', 'head', 'options', 'patch', 'post', 'put'];
const STREAM_METHODS = ['get', 'post'];

/** Returns the paths of a subresource. `context.path` is the path of the resource's collection. */
export function subresourcePaths(context: OperationContext, [name, subresource]: [string, Subresource]): PathItem[] {
  const { schema, resource } = context;
  const path = `${context.path}/{name}/${name}`;
  const own = [nameParameter(resource.kind), ...(resource.namespaced ? [NAMESPACE] : [])];
  const below = { ...context, path };
  if (subresource.kind.endsWith('Options')) return connectPaths(below, own, [name, subresource]);
  if (name === 'log') return [pathItem(path, [...own, PRETTY], [logOperation(below, subresource)])];
  const type = typeName(schema, subresource);
  const of = `${name} of the ${resource.kind}`;
  const target = { verbs: subresource.verbs, type, of, kind: subresource, suffix: name };
  return [pathItem(path, [...own, PRETTY], [...readAndWrite(below, target), ...creation(below, target)])];
}

function logOperation(context: OperationContext, kind: GroupVersionKind): Operation {
  const fields = context.schema.type('core.v1.PodLogOptions').byName.values();
  return operation(context, ['read', 'log'], {
    ...{ method: 'get', action: 'get', response: undefined, statusCodes: [200], kind },
    parameters: optionParameters(fields),
    description: 'Read the log of a container.',
    produces: ['text/plain', ...OBJECT_TYPES],
  });
}

/** Returns the paths of streaming and proxy subresources. A proxy has a second path for requests with a target path. */
function connectPaths(context: OperationContext, own: Parameter[], [name, kind]: [string, Subresource]): PathItem[] {
  const isProxy = name === 'proxy';
  const parameters = [...own, ...optionParameters(context.schema.kind(kind)!.byName.values())];
  const item = (path: string, more: Parameter[], ending: string) => {
    const operations = (isProxy ? PROXY_METHODS : STREAM_METHODS).map((method) =>
      operation({ ...context, path }, [`connect ${method}`, `${name}${ending}`], {
        ...{ method, action: 'connect', parameters: [], response: undefined, statusCodes: [200], kind },
        description: `Connect to ${name} of a ${context.resource.kind} by ${method.toUpperCase()}.`,
        produces: ANY_TYPE,
      }),
    );
    return pathItem(path, [...parameters, ...more], operations);
  };
  const direct = item(context.path, [], '');
  return isProxy ? [direct, item(`${context.path}/{path}`, [PROXY_PATH], 'WithPath')] : [direct];
}
