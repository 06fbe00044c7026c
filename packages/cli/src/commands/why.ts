import { didYouMean, PodwrightError } from '@podwright/base';
import type { Resource } from '@podwright/kube-api';
import { ApiViewReader, EXPLAINED, type Explanation, why as explain, VIEWED } from '@podwright/kube-view';
import type { ClusterChoice } from '../client/cluster-choice.ts';
import { openSource } from '../client/object-source.ts';
import { type OutputFormat, printAs } from '../output/format.ts';
import { terminalWidth } from '../output/terminal.ts';
import { escapeLine } from '../output/terminal-text.ts';
import { wrapText } from '../output/wrap.ts';
import { quotedLine } from '../run/log-text.ts';
import type { CommandContext } from '../settings/node-config.ts';

export type WhyOptions = ClusterChoice & { namespace?: string; output: OutputFormat };

/** kubectl's short names for kinds. Singular and plural names are accepted as well. */
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

/** `podwright why POD|TYPE/NAME`: prints the chain of objects from the named one to the cause. */
export async function why({ config }: CommandContext, word: string, options: WhyOptions): Promise<void> {
  const [type, name] = word.includes('/') ? (word.split('/', 2) as [string, string]) : ['pod', word];
  const resource = resourceOf(type);
  const source = await openSource(config.apiSocket, options);
  try {
    const namespace = options.namespace ?? source.namespace;
    const reader = new ApiViewReader(source);
    const object = await reader.get(resource, namespace, name);
    if (object === undefined) {
      const message = `${resource.plural} "${name}" not found in the namespace "${namespace}"`;
      throw new PodwrightError('not_found', message);
    }
    const explanation = await explain(reader, resource, object);
    await printAs(options.output, explanation, () => textOf(explanation));
  } finally {
    source.close();
  }
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

/** Formats an explanation: one line per object in the chain, each indented further than the previous one, then log lines and advice. */
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
