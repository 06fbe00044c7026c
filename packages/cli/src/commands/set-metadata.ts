import { PodwrightError } from '@podwright/base';
import { knownKinds } from '../client/known-kinds.ts';
import { type ApiObject, ObjectClient } from '../client/object-client.ts';
import { type ObjectKind, type ObjectSelection, POD, parseObjects, qualifiedKind } from '../client/object-names.ts';
import { print } from '../output/terminal-text.ts';
import type { CommandContext } from '../settings/node-config.ts';

export type SetMetadataOptions = {
  namespace: string;
  selector?: string;
  all?: boolean;
  overwrite?: boolean;
  list?: boolean;
};

/** Which map to change, and kubectl's wording for it. */
type Verb = { map: 'labels' | 'annotations'; name: 'label' | 'annotate'; done: string };
const LABEL: Verb = { map: 'labels', name: 'label', done: 'labeled' };
const ANNOTATE: Verb = { map: 'annotations', name: 'annotate', done: 'annotated' };

/** The new values by label or annotation key; null removes the key. */
type Changes = Record<string, string | null>;

/** `podwright label POD KEY=VALUE… KEY-…`; also `TYPE NAME`, `TYPE/NAME` and `TYPE -l SELECTOR`. */
export function label(context: CommandContext, words: string[], options: SetMetadataOptions): Promise<void> {
  return setMetadata(context, words, { options, verb: LABEL });
}

/** `podwright annotate`; accepts the same arguments as `label`. */
export function annotate(context: CommandContext, words: string[], options: SetMetadataOptions): Promise<void> {
  return setMetadata(context, words, { options, verb: ANNOTATE });
}

async function setMetadata(
  { config }: CommandContext,
  words: string[],
  { options, verb }: { options: SetMetadataOptions; verb: Verb },
): Promise<void> {
  const changes = readChanges(words.filter(isChange), verb);
  const client = new ObjectClient(config.apiSocket);
  const named = words.filter((word) => !isChange(word));
  const known = await knownKinds(config.apiSocket, named);
  const selected = await selectedObjects(client, parseObjects(named, { bare: POD, known }), { options, verb });
  const objects = selected.map(({ object }) => object);
  const none = Object.keys(changes).length === 0;
  if (options.list && none) {
    for (const object of objects) list(object, verb);
    return;
  }
  if (none)
    throw new PodwrightError(
      'invalid_argument',
      `${verb.name}: nothing to change: KEY=VALUE sets, KEY- removes, --list shows`,
    );
  if (options.list)
    throw new PodwrightError('invalid_argument', `${verb.name}: --list cannot be combined with changes`);
  if (!options.overwrite) for (const object of objects) refuseOverwriting(object, changes, verb);
  for (const { kind, object } of selected) {
    const differing = differs(object, changes, verb);
    if (differing) await client.patch(kind, object, { [verb.map]: changes });
    print(`${qualifiedKind(kind)}/${object.metadata.name} ${outcome(differing, changes, verb)}`);
  }
}

/** Whether a word is `KEY=VALUE` or `KEY-`, neither of which is a valid object name. */
const isChange = (word: string) => word.includes('=') || (word.endsWith('-') && word.length > 1);

function readChanges(words: string[], { name }: Verb): Changes {
  const changes = new Map<string, string | null>();
  for (const word of words) {
    const at = word.indexOf('=');
    const [key, value] = at < 0 ? [word.slice(0, -1), null] : [word.slice(0, at), word.slice(at + 1)];
    if (changes.has(key)) throw new PodwrightError('invalid_argument', `${name}: ${key} is given twice`);
    changes.set(key, value);
  }
  return Object.fromEntries(changes);
}

type Selected = { kind: ObjectKind; object: ApiObject };

async function selectedObjects(
  client: ObjectClient,
  { kinds, named }: ObjectSelection,
  { options, verb }: { options: SetMetadataOptions; verb: Verb },
): Promise<Selected[]> {
  const { namespace, selector, all } = options;
  if (named.length > 0)
    return Promise.all(
      named.map(async ({ kind, name }) => ({ kind, object: await client.get(kind, name, namespace) })),
    );
  if (kinds.length === 0 || (selector === undefined && !all))
    throw new PodwrightError(
      'invalid_argument',
      `${verb.name}: name objects, or select them with a type and -l or --all`,
    );
  const lists = await Promise.all(
    kinds.map(async (kind) => {
      const objects = await client.list(kind, { namespace, labelSelector: selector });
      return objects.map((object) => ({ kind, object }));
    }),
  );
  if (lists.flat().length > 0) return lists.flat();
  const names = kinds.map(({ plural }) => plural).join(', ');
  throw new PodwrightError('not_found', `${verb.name}: no ${names} in the namespace ${namespace} match`);
}

function refuseOverwriting({ kind, metadata }: ApiObject, changes: Changes, verb: Verb): void {
  for (const [key, value] of Object.entries(changes)) {
    const there = ownValue(metadata[verb.map], key);
    if (value === null || there === undefined || there === value) continue;
    const message = `${verb.name} ${kind.toLowerCase()}/${metadata.name}: ${key} is already "${there}"; --overwrite changes it`;
    throw new PodwrightError('already_exists', message);
  }
}

const differs = ({ metadata }: ApiObject, changes: Changes, { map }: Verb) =>
  Object.entries(changes).some(([key, value]) => (ownValue(metadata[map], key) ?? null) !== value);

/** Returns a label's or annotation's value. Considers only own properties, because a key might be named `constructor`. */
const ownValue = (map: Record<string, string> | undefined, key: string): string | undefined =>
  map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined;

function outcome(differing: boolean, changes: Changes, { done, map }: Verb): string {
  if (!differing) return `not ${done}`;
  return map === 'labels' && Object.values(changes).every((value) => value === null) ? `un${done}` : done;
}

function list({ kind, metadata }: ApiObject, { map }: Verb): void {
  print(`${kind.toLowerCase()}/${metadata.name}`);
  for (const [key, value] of Object.entries(metadata[map] ?? {})) print(`  ${key}=${value}`);
}
