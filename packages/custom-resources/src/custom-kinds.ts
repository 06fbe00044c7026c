/** The kinds defined by a CustomResourceDefinition. */
import { type ApiObject, booleanAt, objectAt, objectsAt, textAt, textsAt } from '@podwright/kube-kinds';
import {
  type CustomColumn,
  type CustomSchema,
  compareVersions,
  type Resource,
  type Subresource,
} from '@podwright/kube-schema';
import { replicasPaths } from './custom-scale.ts';
import type { CustomVersion } from './custom-strategy.ts';

const VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
const ENDING_VERBS = ['delete', 'deletecollection', 'get', 'list', 'watch'];
const SUBRESOURCE_VERBS = ['get', 'patch', 'update'];

/** The kinds defined by one CustomResourceDefinition. */
export type DefinedKinds = { versions: readonly CustomVersion[]; stored: CustomVersion };

/**
 * Returns the served versions of a definition and its storage version, which might not be served. `isEnding`: the definition is being
 * deleted, so its objects can only be read and deleted.
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
  return {
    resource,
    type: {
      schema,
      ...(columns.length === 0 ? {} : { columns }),
      ...(selectablePaths.length === 0 ? {} : { selectablePaths }),
      ...(booleanAt(version, 'deprecated') ? { deprecationWarning: deprecationWarning(definition, version) } : {}),
    },
    hasStatus,
    scale: scale as CustomVersion['scale'],
    replicasPaths: replicasPaths(definition),
  };
}

/**
 * Returns the warning for a deprecated version: the one set in the definition or, by default, one that names the newest version that is not
 * deprecated.
 */
function deprecationWarning(definition: ApiObject, version: object): string {
  const given = textAt(version, 'deprecationWarning');
  if (given !== '') return given;
  const [group, kind] = [textAt(definition, 'spec', 'group'), textAt(definition, 'spec', 'names', 'kind')];
  const name = textAt(version, 'name');
  const [newest] = objectsAt(definition, 'spec', 'versions')
    .filter((one) => booleanAt(one, 'served') && !booleanAt(one, 'deprecated'))
    .map((one) => textAt(one, 'name'))
    .filter((one) => compareVersions(one, name) > 0)
    .sort((one, other) => compareVersions(other, one));
  const advice = newest === undefined ? '' : `; use ${group}/${newest} ${kind}`;
  return `${group}/${name} ${kind} is deprecated${advice}`;
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
