/** The `scale` subresource of custom kinds (apiextensions-apiserver, registry/customresource). */
import {
  type ApiObject,
  type FieldError,
  invalidValue,
  numberAt,
  objectsAt,
  type ScaleStrategy,
  textAt,
  withValue,
} from '@podwright/kube-kinds';

type Paths = { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath?: string };

const METADATA = ['name', 'namespace', 'uid', 'resourceVersion', 'creationTimestamp'];

const namesOf = (path: string): string[] => path.replace(/^\./, '').split('.');

/** Returns the JSON path of the replica count in each version of a definition. */
export function replicasPaths(definition: ApiObject): ScaleStrategy['replicasPaths'] {
  const group = textAt(definition, 'spec', 'group');
  const paths = objectsAt(definition, 'spec', 'versions').map((version) => {
    const path = textAt(version, 'subresources', 'scale', 'specReplicasPath');
    return [`${group}/${textAt(version, 'name')}`, path === '' ? null : namesOf(path)] as const;
  });
  return Object.fromEntries(paths);
}

export function scaleStrategy(
  { specReplicasPath, statusReplicasPath, labelSelectorPath = '' }: Paths,
  replicasPaths: ScaleStrategy['replicasPaths'],
): ScaleStrategy {
  const [specPath, statusPath, selectorPath] = [specReplicasPath, statusReplicasPath, labelSelectorPath].map(namesOf);
  return {
    replicasPaths,
    scaleOf: (object) => {
      const replicas = numberAt(object, ...specPath!) ?? 0;
      const selector = labelSelectorPath === '' ? undefined : textAt(object, ...selectorPath!);
      return {
        apiVersion: 'autoscaling/v1',
        kind: 'Scale',
        metadata: Object.fromEntries(Object.entries(object.metadata).filter(([name]) => METADATA.includes(name))),
        spec: replicas === 0 ? {} : { replicas },
        status: { replicas: numberAt(object, ...statusPath!) ?? 0, ...(selector && { selector }) },
      };
    },
    withScale: (object, scale) => {
      const { resourceVersion = object.metadata.resourceVersion } = scale.metadata;
      const scaled = withValue(object, specPath!, numberAt(scale, 'spec', 'replicas') ?? 0);
      return { ...scaled, metadata: { ...object.metadata, resourceVersion } };
    },
    validate: () => [], // the object's own rules are those of its scale
  };
}

const MAX_REPLICAS = 2 ** 31 - 1;

/** Validates the fields of a custom object that its Scale exposes. */
export function scaleErrors(object: ApiObject, { specReplicasPath, statusReplicasPath }: Paths): FieldError[] {
  return [specReplicasPath, statusReplicasPath].flatMap((path) => {
    const { value, problem } = integerAt(object, path);
    if (problem !== undefined) return [invalidValue(path, 0, problem)];
    if (value < 0) return [invalidValue(path, value, 'should be a non-negative integer')];
    return value > MAX_REPLICAS ? [invalidValue(path, value, `should be less than or equal to ${MAX_REPLICAS}`)] : [];
  });
}

function integerAt(object: ApiObject, path: string): { value: number; problem?: string } {
  let found: unknown = object;
  const wrong = (expected: string) => {
    const type = typeof found === 'number' ? (Number.isInteger(found) ? 'int64' : 'float64') : GO_TYPES[typeOf(found)];
    return {
      value: 0,
      problem: `${path} accessor error: ${shown(found)} is of the type ${type}, expected ${expected}`,
    };
  };
  for (const name of namesOf(path)) {
    if (found === null || typeof found !== 'object' || Array.isArray(found)) return wrong('map[string]interface{}');
    if (!Object.hasOwn(found, name)) return { value: 0 };
    found = (found as Record<string, unknown>)[name];
  }
  return typeof found === 'number' && Number.isInteger(found) ? { value: found } : wrong('int64');
}

const GO_TYPES: Readonly<Record<string, string>> = {
  ...{ string: 'string', boolean: 'bool', null: '<nil>' },
  ...{ array: '[]interface {}', object: 'map[string]interface {}' },
};

const typeOf = (value: unknown) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);
const shown = (value: unknown): string =>
  value === null ? '<nil>' : typeof value === 'object' ? JSON.stringify(value) : String(value);
