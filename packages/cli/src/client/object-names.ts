import { didYouMean, PodwrightError } from '@podwright/base';

/** A kind that a node can list, and its names on the command line. */
export type ObjectKind = {
  kind: string;
  singular: string;
  plural: string;
  /** Short names of the kind, as in kubectl. */
  short: readonly string[];
  namespaced: boolean;
  /** Category names that stand for several kinds, such as `all`. */
  categories?: readonly string[];
} & Partial<ApiGroup>;

type ApiGroup = { group: string; version: string };

/** A kind available only on nodes with a Kubernetes API. */
export type ApiKind = ObjectKind & ApiGroup;

export const isApiKind = (kind: ObjectKind): kind is ApiKind => kind.version !== undefined;

/**
 * Returns the kind with its API group, which is unset in the kinds that every node supports: they belong to the core group, except for
 * RuntimeClass.
 */
export const withGroup = (kind: ObjectKind): ApiKind =>
  isApiKind(kind) ? kind : { ...kind, group: kind.kind === 'RuntimeClass' ? 'node.k8s.io' : '', version: 'v1' };

/** Returns the kind as kubectl prints it before a name: `deployment.apps`. */
export const qualifiedKind = ({ singular, group }: ObjectKind): string => (group ? `${singular}.${group}` : singular);

export const POD: ObjectKind = {
  kind: 'Pod',
  singular: 'pod',
  plural: 'pods',
  short: ['po'],
  namespaced: true,
  categories: ['all'],
};

export const OBJECT_KINDS: readonly ObjectKind[] = [
  POD,
  { kind: 'ConfigMap', singular: 'configmap', plural: 'configmaps', short: ['cm'], namespaced: true },
  { kind: 'Secret', singular: 'secret', plural: 'secrets', short: [], namespaced: true },
  {
    kind: 'PersistentVolumeClaim',
    singular: 'persistentvolumeclaim',
    plural: 'persistentvolumeclaims',
    short: ['pvc'],
    namespaced: true,
  },
  { kind: 'RuntimeClass', singular: 'runtimeclass', plural: 'runtimeclasses', short: [], namespaced: false },
  { kind: 'Event', singular: 'event', plural: 'events', short: ['ev'], namespaced: true },
  { kind: 'Node', singular: 'node', plural: 'nodes', short: ['no'], namespaced: false },
  { kind: 'Image', singular: 'image', plural: 'images', short: [], namespaced: false },
];

/** An object named on the command line. */
export type NamedObject = { kind: ObjectKind; name: string };

/** The objects selected on the command line: the named ones or, if none are named, all objects of the given kinds. */
export type ObjectSelection = { kinds: ObjectKind[]; named: NamedObject[] };

/** Returns the kind for a singular, plural or short name, ignoring case: `pod`, `Pods`, `po`. Also accepts `deployments.apps`. */
export function kindOfWord(word: string, kinds: readonly ObjectKind[] = OBJECT_KINDS): ObjectKind | undefined {
  const lower = word.toLowerCase();
  return kinds.find((kind) => namesOf(kind).includes(lower));
}

function namesOf(kind: ObjectKind): string[] {
  const { singular, plural, short } = kind;
  if (!isApiKind(kind)) return [singular, plural, ...short];
  const { group, version } = kind;
  const qualified = [singular, plural].flatMap((name) => [`${name}.${group}`, `${name}.${version}.${group}`]);
  return [singular, plural, kind.kind.toLowerCase(), ...short, ...(group === '' ? [] : qualified)];
}

/** Returns the words that name types in `TYPE[,TYPE…] NAME…` and `TYPE/NAME…`. */
export function typeWords(words: readonly string[]): string[] {
  const [first = ''] = words;
  if (!first.includes('/')) return first.split(',').filter((word) => word !== '');
  return words.flatMap((word) => (word.includes('/') ? [word.split('/')[0]!] : []));
}

/**
 * Parses `TYPE[,TYPE…]`, `TYPE NAME…` or `TYPE/NAME…`. With `bare`, a word that is not a type is the name of an object of that kind, so
 * `web` can mean a pod. Throws `invalid_argument` for an unknown type or a mix of the forms.
 */
export function parseObjects(
  words: string[],
  { bare, known = OBJECT_KINDS }: { bare?: ObjectKind; known?: readonly ObjectKind[] } = {},
): ObjectSelection {
  const [first = '', ...rest] = words;
  const kinds = first.includes('/') ? undefined : kindsOfList(first, { strict: bare === undefined, known });
  if (kinds === undefined) {
    const named = words.map((word) => parseObject(word, bare, known));
    return { kinds: [...new Set(named.map(({ kind }) => kind))], named };
  }
  const doubled = rest.find((word) => word.includes('/'));
  if (doubled !== undefined) {
    const message = `"${first} ${doubled}" says the type twice: write '${doubled}' or '${first} ${doubled.split('/')[1]}'`;
    throw new PodwrightError('invalid_argument', message);
  }
  return { kinds, named: kinds.flatMap((kind) => rest.map((name) => ({ kind, name }))) };
}

/** Throws `invalid_argument` if `-A` is combined with names, because a name identifies an object only within a namespace. */
export function refuseNamesInAll(
  command: string,
  { named }: ObjectSelection,
  allNamespaces: boolean | undefined,
): void {
  if (!allNamespaces || named.length === 0) return;
  const message = `${command} ${named[0]!.name}: a name belongs to one namespace: leave -A out`;
  throw new PodwrightError('invalid_argument', message);
}

/** Returns the pod name from `NAME`, `pod/NAME` or `po/NAME`. Throws `invalid_argument` for any other type. */
export function podName(word: string): string {
  const { kind, name } = parseObject(word, POD);
  if (kind === POD) return name;
  throw new PodwrightError('invalid_argument', `${word}: is a ${kind.singular}; the name of a pod is needed`);
}

function parseObject(
  word: string,
  bare: ObjectKind | undefined,
  known: readonly ObjectKind[] = OBJECT_KINDS,
): NamedObject {
  const [type = '', name, ...more] = word.split('/');
  if (name === undefined && bare !== undefined && type !== '') return { kind: bare, name: type };
  if (!type || !name || more.length > 0) throw new PodwrightError('invalid_argument', `"${word}" is not TYPE/NAME`);
  return { kind: kindOfWord(type, known) ?? unknownKind(type, known), name };
}

/** Returns the kinds in a list such as `pods,cm`. Unless `strict`, a single unknown word returns `undefined` rather than being an error. */
function kindsOfList(
  list: string,
  { strict, known }: { strict: boolean; known: readonly ObjectKind[] },
): ObjectKind[] | undefined {
  const words = list.split(',').filter((word) => word !== '');
  const kinds = words.flatMap((word): (ObjectKind | undefined)[] => {
    const kind = kindOfWord(word, known);
    const together = kind === undefined ? known.filter(({ categories }) => categories?.includes(word)) : [kind];
    if (together.length > 0) return together;
    return [strict || words.length > 1 ? unknownKind(word, known) : undefined];
  });
  return kinds.length > 0 && kinds.every((kind) => kind !== undefined) ? [...new Set(kinds)] : undefined;
}

function unknownKind(word: string, known: readonly ObjectKind[]): never {
  const message = known.some(isApiKind)
    ? `the server doesn't have a resource type "${word}"${didYouMean(word, [...new Set(known.flatMap(namesOf))])}`
    : absentKind(word);
  throw new PodwrightError('invalid_argument', message);
}

function absentKind(word: string): string {
  const plurals = OBJECT_KINDS.map(({ plural }) => plural);
  const hint = didYouMean(word, plurals) || `; ${API_HINT}`;
  return `a standalone node has no ${word}, only ${plurals.join(', ')}${hint}`;
}

/** Hint for error messages about workload kinds and verbs, which only a node with a Kubernetes API has. */
export const API_HINT =
  "a node with a Kubernetes API has workloads and Services: start it with 'podwright --api true node' or 'podwright up'";
