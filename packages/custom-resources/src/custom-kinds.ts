/** The kinds that a CustomResourceDefinition defines. */
import { type ApiObject, booleanAt, objectAt, objectsAt, textAt, textsAt } from '@podwright/kube-kinds';
import type { CustomColumn, CustomSchema, Resource, Subresource } from '@podwright/kube-schema';
import { replicasPaths } from './custom-scale.ts';
import type { CustomVersion } from './custom-strategy.ts';

const VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
const ENDING_VERBS = ['delete', 'deletecollection', 'get', 'list', 'watch'];
const SUBRESOURCE_VERBS = ['get', 'patch', 'update'];

/** The kinds of one definition. */
export type DefinedKinds = { versions: readonly CustomVersion[]; stored: CustomVersion };

/**
 * Returns the served versions of a definition, and the version in which objects are stored, which may not be served. `isEnding`: the
 * definition is being deleted, so that its objects can only be read and deleted.
 */
export function definedKinds(definition: ApiObject, isEnding = false): DefinedKinds | undefined {
  const versions = objectsAt(definition, 'spec', 'versions');
  const all = versions.map((version) => ({ version, kind: customVersion(definition, version, isEnding) }));
  const stored = all.find(({ version }) => booleanAt(version, 'storage'))?.kind;
  if (stored === undefined) return undefined;
  return { versions: all.filter(({ version }) => booleanAt(version, 'served')).map(({ kind }) => kind), stored };
}

function customVersion(definition: ApiObject, version: object, isEnding: boolean): CustomVersion {
  const hasStatus = objectAt(version, 'subresources', 'status') !== undefined;
  const scale = objectAt(version, 'subresources', 'scale');
  const preserves = booleanAt(definition, 'spec', 'preserveUnknownFields');
  const given = (objectAt(version, 'schema', 'openAPIV3Schema') ?? { type: 'object' }) as CustomSchema;
  const schema = preserves ? { ...given, 'x-kubernetes-preserve-unknown-fields': true } : given;
  const verbs = isEnding ? ENDING_VERBS : VERBS;
  const resource = customResource(definition, textAt(version, 'name'), {
    ...{ hasStatus, hasScale: scale !== undefined, verbs },
  });
  const columns = objectsAt(version, 'additionalPrinterColumns') as unknown as readonly CustomColumn[];
  const selectablePaths = objectsAt(version, 'selectableFields').map((one) => textAt(one, 'jsonPath'));
  const { group, version: name, kind } = resource;
  const warning = textAt(version, 'deprecationWarning') || `${group}/${name} ${kind} is deprecated`;
  return {
    resource,
    type: {
      schema,
      ...(columns.length === 0 ? {} : { columns }),
      ...(selectablePaths.length === 0 ? {} : { selectablePaths }),
      ...(booleanAt(version, 'deprecated') ? { deprecationWarning: warning } : {}),
    },
    hasStatus,
    scale: scale as CustomVersion['scale'],
    replicasPaths: replicasPaths(definition),
  };
}

function customResource(
  definition: ApiObject,
  version: string,
  { hasStatus, hasScale, verbs }: { hasStatus: boolean; hasScale: boolean; verbs: readonly string[] },
): Resource {
  const group = textAt(definition, 'spec', 'group');
  const names = objectAt(definition, 'status', 'acceptedNames');
  const [kind, shortNames, categories] = [
    textAt(names, 'kind'),
    textsAt(names, 'shortNames'),
    textsAt(names, 'categories'),
  ];
  const scale: Subresource = { group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: SUBRESOURCE_VERBS };
  const status: Subresource = { group, version, kind, verbs: SUBRESOURCE_VERBS };
  return {
    group,
    version,
    kind,
    plural: textAt(names, 'plural'),
    singular: textAt(names, 'singular'),
    listKind: textAt(names, 'listKind'),
    namespaced: textAt(definition, 'spec', 'scope') === 'Namespaced',
    verbs,
    isCustom: true,
    storageVersion: objectsAt(definition, 'spec', 'versions')
      .filter((one) => booleanAt(one, 'storage'))
      .map((one) => textAt(one, 'name'))[0],
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(hasStatus || hasScale
      ? { subresources: { ...(hasStatus ? { status } : {}), ...(hasScale ? { scale } : {}) } }
      : {}),
  };
}
