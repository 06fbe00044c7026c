import { PodwrightError, Timer } from '@podwright/base';
import { podSummary } from '@podwright/kube-api';
import { knownKinds } from '../client/known-kinds.ts';
import { type ApiObject, type ObjectChange, ObjectClient } from '../client/object-client.ts';
import {
  type ObjectKind,
  type ObjectSelection,
  POD,
  parseObjects,
  qualifiedKind,
  refuseNamesInAll,
} from '../client/object-names.ts';
import { LONGEST_WAIT_MS } from '../limits.ts';
import { print } from '../output/terminal-text.ts';
import { formatDuration } from '../output/units.ts';
import type { CommandContext } from '../settings/node-config.ts';
import { meets, parseWaitCondition, type WaitCondition } from './wait-condition.ts';

/** `timeout`, in ms, applies to all conditions together. As in kubectl, 0 checks only once, and a negative value means a week. */
export type WaitOptions = {
  namespace: string;
  allNamespaces?: boolean;
  for: string[];
  selector?: string;
  all?: boolean;
  timeout: number;
};

/** The objects that do not meet the condition yet, keyed by `NAMESPACE/NAME`, with their last observed state. */
type Pending = Map<string, ApiObject | undefined>;

/** Key that stands for any object, used for `--for=create` without a name: the first object that appears meets the condition. */
const ANY = '*';

const keyOf = ({ metadata: { namespace = '', name } }: ApiObject) => `${namespace}/${name}`;
const nameOf = (key: string) => key.split('/')[1]!;

/** `podwright wait --for=CONDITION POD…`, `wait TYPE/NAME…`, `wait TYPE -l SELECTOR`: waits until all objects meet the condition. */
export async function wait({ config }: CommandContext, words: string[], options: WaitOptions): Promise<void> {
  const selection = parseObjects(words, { bare: POD, known: await knownKinds(config.apiSocket, words) });
  refuseNamesInAll('wait', selection, options.allNamespaces);
  if (selection.named.length === 0 && options.selector === undefined && options.all !== true)
    throw new PodwrightError('invalid_argument', 'wait: name objects, or select them with -l or --all');
  await waitForAll(new ObjectClient(config.apiSocket), selection, options);
}

type ObjectWatcher = Pick<ObjectClient, 'watch'>;

/** Waits for the conditions one at a time, as kubectl does. The objects are listed once, after all of them have been created. */
export async function waitForAll(
  client: ObjectWatcher,
  selection: ObjectSelection,
  options: WaitOptions,
): Promise<void> {
  const conditions = options.for.map(parseWaitCondition).toSorted(createFirst);
  const timeoutMs = options.timeout < 0 ? LONGEST_WAIT_MS : options.timeout;
  const deadlineMs = performance.now() + timeoutMs;
  const chosen = new Map<ObjectKind, string[]>();
  for (const condition of conditions) {
    const leftMs = timeoutMs === 0 ? 0 : Math.max(1, deadlineMs - performance.now());
    const enough = new AbortController();
    const waits = selection.kinds.map(async (kind) => {
      const wait = { kind, selection, keys: chosen.get(kind), condition, options, timeoutMs, leftMs };
      const keys = await waitForKind(client, wait, enough.signal);
      if (condition.type !== 'create') chosen.set(kind, keys);
      else if (selection.named.length === 0) enough.abort(); // one object of any kind is enough
    });
    const failed = (await Promise.allSettled(waits)).filter((result) => result.status === 'rejected');
    if (failed.length > 0 && !enough.signal.aborted) throw failed[0]!.reason;
    const none = condition.type !== 'create' && [...chosen.values()].every((keys) => keys.length === 0);
    if (none && !conditions.some(({ type }) => type === 'delete'))
      throw new PodwrightError('not_found', `wait: no ${selection.kinds.map(({ plural }) => plural).join(', ')} match`);
  }
}

/** Sorts `create` before the other conditions, as kubectl does. */
const createFirst = (a: WaitCondition, b: WaitCondition) => Number(b.type === 'create') - Number(a.type === 'create');

/**
 * A wait for objects of one kind. `leftMs` is the rest of `timeoutMs`. `keys` are the objects that met the previous condition; `undefined`
 * for the first condition.
 */
type KindWait = {
  kind: ObjectKind;
  selection: ObjectSelection;
  keys: string[] | undefined;
  condition: WaitCondition;
  options: WaitOptions;
  timeoutMs: number;
  leftMs: number;
};

/** Waits until all objects of a kind meet the condition, or until `enough` aborts. Returns the keys of the objects that met it. */
async function waitForKind(client: ObjectWatcher, wait: KindWait, enough: AbortSignal): Promise<string[]> {
  const { kind, keys, condition, options, timeoutMs, leftMs } = wait;
  const given = new AbortController();
  using _timer = new Timer(() => given.abort(), leftMs);
  const pending: Pending = new Map();
  const present: ApiObject[] = [];
  let wanted: string[] | undefined;
  const namespace = options.allNamespaces ? undefined : options.namespace;
  const query = { namespace, labelSelector: keys === undefined ? options.selector : undefined };
  // with a timeout of 0, the initial list decides, however long the node takes to send it
  const signal = timeoutMs === 0 ? enough : AbortSignal.any([enough, given.signal]);
  for await (const change of client.watch(kind, query, signal)) {
    if (change.type === 'listed') wanted = begin(pending, present, wait);
    else if (wanted) note(pending, change, { kind, condition });
    else present.push(change.object);
    if (wanted && (pending.size === 0 || timeoutMs === 0)) break;
  }
  if (!wanted || pending.size > 0) throw timedOut(pending, { kind, timeoutMs });
  return wanted;
}

/** Returns the keys of the objects to wait for: the named objects, or all that existed when the first condition was checked. */
function begin(pending: Pending, present: ApiObject[], wait: KindWait): string[] {
  const { kind, selection, keys, condition, options } = wait;
  const namespace = kind.namespaced ? options.namespace : '';
  const named = selection.named.filter((one) => one.kind === kind).map(({ name }) => `${namespace}/${name}`);
  const wanted = keys ?? (selection.named.length === 0 ? present.map(keyOf) : named);
  if (wanted.length === 0 && condition.type === 'create') pending.set(ANY, undefined);
  for (const key of wanted) {
    const name = nameOf(key);
    const object = present.find((one) => keyOf(one) === key);
    if (object === undefined && condition.type !== 'create' && condition.type !== 'delete') {
      if (keys !== undefined) throw deletedMeanwhile(kind, name);
      throw new PodwrightError('not_found', `wait: there is no ${kind.singular} ${name}; --for=create waits for one`);
    }
    const met = object === undefined ? condition.type === 'delete' : meets(object, condition);
    if (met) reportMet(kind, name);
    else pending.set(key, object);
  }
  return wanted;
}

function note(
  pending: Pending,
  change: Exclude<ObjectChange, { type: 'listed' }>,
  { kind, condition }: { kind: ObjectKind; condition: WaitCondition },
): void {
  const { type, object } = change;
  const { name, uid } = object.metadata;
  const key = pending.has(ANY) ? ANY : keyOf(object);
  if (!pending.has(key)) return;
  if (type === 'DELETED') {
    const waitedFor = pending.get(key);
    if (waitedFor !== undefined && waitedFor.metadata.uid !== uid) return; // an earlier object of the same name
    if (condition.type === 'create') return;
    if (condition.type !== 'delete') throw deletedMeanwhile(kind, name);
  } else if (!meets(object, condition)) return void pending.set(key, object);
  pending.delete(key);
  reportMet(kind, name);
}

const deletedMeanwhile = ({ singular }: ObjectKind, name: string) =>
  new PodwrightError('failed_precondition', `wait: ${singular}/${name} was deleted meanwhile`);

function reportMet(kind: ObjectKind, name: string): void {
  print(`${qualifiedKind(kind)}/${name} condition met`);
}

function timedOut(pending: Pending, { kind, timeoutMs }: { kind: ObjectKind; timeoutMs: number }): PodwrightError {
  const states = [...pending].map(([key, object]) => {
    const state =
      object?.kind === 'Pod' ? `: ${podSummary(object).status}` : object === undefined ? ': it does not exist' : '';
    return key === ANY ? `no ${kind.plural} match` : `${kind.singular}/${nameOf(key)}${state}`;
  });
  const after = timeoutMs === 0 ? '' : ` after ${formatDuration(timeoutMs)}`;
  return new PodwrightError(
    'deadline_exceeded',
    `timed out waiting for the condition${after}\n${states.join('\n')}`.trimEnd(),
  );
}
