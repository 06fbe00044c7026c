import { didYouMean, isNotFound, linesOf, PodwrightError } from '@podwright/base';
import { type Event, eventSelector, type KubeObject, type Resource } from '@podwright/kube-api';
import { pathOf } from '@podwright/kube-verbs';
import { EXPLAINED, type Explanation, why as explain, VIEWED, type ViewReader } from '@podwright/kube-view';
import { NodeClient } from '../client/node-client.ts';
import { ObjectClient } from '../client/object-client.ts';
import { OBJECT_KINDS } from '../client/object-names.ts';
import { type OutputFormat, printAs } from '../output/format.ts';
import { terminalWidth } from '../output/terminal.ts';
import { escapeLine } from '../output/terminal-text.ts';
import { wrapText } from '../output/wrap.ts';
import { quotedLine } from '../run/log-text.ts';
import type { CommandContext } from '../settings/node-config.ts';

export type WhyOptions = { namespace: string; output: OutputFormat };

const LOG_LINES = 5;
const MAX_LINE_BYTES = 4 << 10;

/** Short names of kinds, in addition to their singular and plural names. */
const SHORT: Record<string, Resource> = {
  po: VIEWED.pods,
  svc: VIEWED.services,
  rc: VIEWED.replicationControllers,
  deploy: VIEWED.deployments,
  rs: VIEWED.replicaSets,
  sts: VIEWED.statefulSets,
  ds: VIEWED.daemonSets,
  cj: VIEWED.cronJobs,
};

/** `podwright why POD|TYPE/NAME`: prints the chain of objects from the named one to that with the cause. */
export async function why({ config }: CommandContext, word: string, options: WhyOptions): Promise<void> {
  const [type, name] = word.includes('/') ? (word.split('/', 2) as [string, string]) : ['pod', word];
  const resource = resourceOf(type);
  const reader = new NodeReader(config.apiSocket);
  const object = await reader.get(resource, options.namespace, name);
  if (object === undefined) {
    const message = `${resource.plural} "${name}" not found in the namespace "${options.namespace}"`;
    throw new PodwrightError('not_found', message);
  }
  const explanation = await explain(reader, resource, object);
  await printAs(options.output, explanation, () => textOf(explanation));
}

function resourceOf(type: string): Resource {
  const lower = type.toLowerCase();
  const named = EXPLAINED.find(({ kind, plural }) => kind.toLowerCase() === lower || plural === lower);
  const found = named ?? (Object.hasOwn(SHORT, lower) ? SHORT[lower] : undefined);
  if (found !== undefined) return found;
  const plurals = EXPLAINED.map(({ plural }) => plural);
  throw new PodwrightError(
    'invalid_argument',
    `why explains ${plurals.join(', ')}, not ${type}${didYouMean(type, plurals)}`,
  );
}

/** Formats an explanation: a line for each object of the chain, each indented below the previous one, then log lines and advice. */
export function textOf({ chain, finding, change, isWell }: Explanation): string {
  const width = terminalWidth();
  const lines = chain.map(({ subject, sentence }, depth) => {
    const who =
      depth === 0 ? `${subject.kind} ${subject.namespace}/${subject.name}` : `${subject.kind} ${subject.name}`;
    return `${'  '.repeat(depth)}${depth === 0 ? '' : '└ '}${escapeLine(`${who}: ${sentence}`)}`;
  });
  const log = finding?.log;
  if (log !== undefined && log.lines.length > 0)
    lines.push(`the end of the log of ${log.container}:`, ...log.lines.map((line) => `  ${quotedLine(line)}`));
  if (change !== undefined) lines.push('before that:', `  ${escapeLine(change)}`);
  if (!isWell && (finding?.advice.length ?? 0) > 0)
    lines.push('what to do:', ...finding!.advice.map((sentence) => `  ${escapeLine(sentence)}`));
  return wrapText(lines.join('\n'), width);
}

/** A reader that sends its requests through the socket of a node. */
class NodeReader implements ViewReader {
  readonly #nodes: NodeClient;
  readonly #objects: ObjectClient;

  constructor(socketPath: string) {
    this.#nodes = new NodeClient(socketPath);
    this.#objects = new ObjectClient(socketPath);
  }

  get(resource: Resource, namespace: string, name: string): Promise<KubeObject | undefined> {
    return absentAsUndefined(this.#nodes.readObject(pathOf(resource, { namespace, name })));
  }

  async list(resource: Resource, namespace: string): Promise<KubeObject[]> {
    return (await absentAsUndefined(this.#nodes.listObjects(pathOf(resource, { namespace })))) ?? [];
  }

  async events({ namespace, ...about }: Parameters<ViewReader['events']>[0]): Promise<Event[]> {
    const events = OBJECT_KINDS.find((known) => known.kind === 'Event')!;
    const found = (await this.#objects.list(events, { namespace, fieldSelector: eventSelector(about) })) as Event[];
    return found.sort((a, b) => Date.parse(a.lastTimestamp ?? '') - Date.parse(b.lastTimestamp ?? ''));
  }

  async log(pod: { metadata: { namespace: string; name: string } }, container: string, previous: boolean) {
    const chunks = await absentAsUndefined(
      this.#nodes.log(pod.metadata, { container, previous, tailLines: LOG_LINES }, AbortSignal.timeout(5000)),
    );
    const lines: string[] = [];
    if (chunks !== undefined) for await (const line of linesOf(chunks, MAX_LINE_BYTES)) lines.push(line.toString());
    return lines.slice(-LOG_LINES);
  }
}

/** Resolves to undefined if the object or its kind does not exist: a node without a Kubernetes API has few kinds. */
function absentAsUndefined<T>(read: Promise<T>): Promise<T | undefined> {
  return read.catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
}
