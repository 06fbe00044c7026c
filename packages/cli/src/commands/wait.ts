import { PodwrightError } from '@podwright/base';
import { podSummary } from '@podwright/kubelet';
import { type ApiObject, type ObjectChange, ObjectClient } from '../client/object-client.ts';
import { type ObjectKind, type ObjectSelection, POD, parseObjects } from '../client/object-names.ts';
import { LONGEST_WAIT_MS } from '../limits.ts';
import { print } from '../output/terminal-text.ts';
import { formatDuration } from '../output/units.ts';
import type { CommandContext } from '../settings/node-config.ts';
import { meets, parseWaitCondition, type WaitCondition } from './wait-condition.ts';

/** `timeout` in ms: 0 looks once, a negative one waits for a week, as with kubectl. */
export type WaitOptions = { namespace: string; for: string; selector?: string; all?: boolean; timeout: number };

/** What is still waited for, by name; the value is what was seen of it last. */
type Pending = Map<string, ApiObject | undefined>;

/** `podwright wait --for=CONDITION POD…`, `wait TYPE/NAME…`, `wait TYPE -l SELECTOR`: returns once all are so. */
export async function wait({ config }: CommandContext, words: string[], options: WaitOptions): Promise<void> {
  const condition = parseWaitCondition(options.for);
  const selection = parseObjects(words, { bare: POD });
  if (selection.named.length === 0 && options.selector === undefined && options.all !== true)
    throw new PodwrightError('invalid_argument', 'wait: name objects, or choose them with -l or --all');
  const client = new ObjectClient(config.apiSocket);
  const waits = selection.kinds.map((kind) => waitForKind(client, { kind, selection, condition, options }));
  const failed = (await Promise.allSettled(waits)).filter((result) => result.status === 'rejected');
  if (failed.length > 0) throw failed[0]!.reason;
}

type KindWait = { kind: ObjectKind; selection: ObjectSelection; condition: WaitCondition; options: WaitOptions };

async function waitForKind(client: ObjectClient, wait: KindWait): Promise<void> {
  const { kind, condition, options } = wait;
  const timeoutMs = options.timeout < 0 ? LONGEST_WAIT_MS : options.timeout;
  const given = new AbortController();
  const timer = setTimeout(() => given.abort(), timeoutMs);
  const pending: Pending = new Map();
  const present: ApiObject[] = [];
  let listed = false;
  try {
    const query = { namespace: options.namespace, labelSelector: options.selector };
    // looking once takes what the list says, however long that takes
    const signal = timeoutMs === 0 ? new AbortController().signal : given.signal;
    for await (const change of client.watch(kind, query, signal)) {
      if (change.type === 'listed') {
        listed = true;
        begin(pending, present, wait);
      } else if (listed) note(pending, change, { kind, condition });
      else present.push(change.object);
      if (listed && (pending.size === 0 || timeoutMs === 0)) break;
    }
  } finally {
    clearTimeout(timer);
  }
  if (!listed || pending.size > 0) throw timedOut(pending, { kind, timeoutMs });
}

/** Who is waited for: those that are named, or everything that is there now. */
function begin(pending: Pending, present: ApiObject[], { kind, selection, condition }: KindWait): void {
  const named = selection.named.filter((one) => one.kind === kind).map(({ name }) => name);
  const wanted = selection.named.length === 0 ? present.map(({ metadata }) => metadata.name) : named;
  if (wanted.length === 0 && condition.type !== 'delete')
    throw new PodwrightError('not_found', `wait: no ${kind.plural} match`);
  for (const name of wanted) {
    const object = present.find(({ metadata }) => metadata.name === name);
    if (object === undefined && condition.type !== 'create' && condition.type !== 'delete')
      throw new PodwrightError('not_found', `wait: there is no ${kind.singular} ${name}; --for=create waits for one`);
    const met = object === undefined ? condition.type === 'delete' : meets(object, condition);
    if (met) tellMet(kind, name);
    else pending.set(name, object);
  }
}

function note(
  pending: Pending,
  change: Exclude<ObjectChange, { type: 'listed' }>,
  { kind, condition }: { kind: ObjectKind; condition: WaitCondition },
): void {
  const { type, object } = change;
  const { name, uid } = object.metadata;
  if (!pending.has(name)) return;
  if (type === 'DELETED') {
    const waitedFor = pending.get(name);
    if (waitedFor !== undefined && waitedFor.metadata.uid !== uid) return; // a pod before it, of the same name
    if (condition.type === 'create') return;
    if (condition.type !== 'delete')
      throw new PodwrightError('failed_precondition', `wait: ${kind.singular}/${name} was deleted meanwhile`);
  } else if (!meets(object, condition)) return void pending.set(name, object);
  pending.delete(name);
  tellMet(kind, name);
}

function tellMet(kind: ObjectKind, name: string): void {
  print(`${kind.singular}/${name} condition met`);
}

function timedOut(pending: Pending, { kind, timeoutMs }: { kind: ObjectKind; timeoutMs: number }): PodwrightError {
  const states = [...pending].map(([name, object]) => {
    const state =
      object?.kind === 'Pod' ? `: ${podSummary(object).status}` : object === undefined ? ': it is not there' : '';
    return `${kind.singular}/${name}${state}`;
  });
  const after = timeoutMs === 0 ? '' : ` after ${formatDuration(timeoutMs)}`;
  return new PodwrightError(
    'deadline_exceeded',
    `timed out waiting for the condition${after}\n${states.join('\n')}`.trimEnd(),
  );
}
