import { errorCode } from '@podwright/base';
import { type Pod, podSummary } from '@podwright/kube-api';
import type { NodeInfo } from '@podwright/node-api';
import { NodeClient } from '../client/node-client.ts';
import { versionSkew } from '../client/version-skew.ts';
import { watchProblem } from '../daemon/user-limits.ts';
import { type OutputFormat, printAs } from '../output/format.ts';
import { terminalWidth } from '../output/terminal.ts';
import { escapeLine } from '../output/terminal-text.ts';
import { formatAge } from '../output/units.ts';
import { wrapText } from '../output/wrap.ts';
import { objectNames } from '../run/replacing.ts';
import { leftoverRecords } from '../run/run-records.ts';
import type { CommandContext } from '../settings/node-config.ts';
import type { NodePaths } from '../settings/node-paths.ts';

export type StatusOptions = { output: OutputFormat };

/** Exit code if the program is not running, as in `systemctl status` and LSB init scripts. */
const NOT_RUNNING = 3;

type NodeStatus =
  | { running: false; root: string; state: string }
  | ({
      running: true;
      root: string;
      state: string;
      pods: Record<string, number>;
      /** Pods left behind by foreground `podwright run` processes that were killed. */
      left: { namespace: string; name: string }[];
      /** Why the node has to poll directories; `undefined` if it can watch them. */
      polls: string | undefined;
      /** How the node's version differs from this command's; `undefined` if they are the same. */
      skew: string | undefined;
    } & Pick<
      NodeInfo,
      | 'name'
      | 'version'
      | 'commit'
      | 'build'
      | 'pid'
      | 'startedAt'
      | 'runtime'
      | 'manifestDir'
      | 'podLogsDir'
      | 'pressure'
      | 'network'
    >);

/** `podwright status`. Returns exit code 3 if no node is running. */
export async function status({ config }: CommandContext, options: StatusOptions): Promise<number> {
  const found = await nodeStatus(config);
  await printAs(options.output, found, () =>
    wrapText(found.running ? table(found) : notRunning(found), terminalWidth()),
  );
  return found.running ? 0 : NOT_RUNNING;
}

async function nodeStatus({ apiSocket, root, state }: NodePaths): Promise<NodeStatus> {
  const client = new NodeClient(apiSocket);
  try {
    const [node, pods] = await Promise.all([client.node(), client.pods()]);
    const {
      name,
      version,
      commit,
      build,
      pid,
      startedAt,
      runtime,
      manifestDir,
      podLogsDir,
      pressure,
      network,
      rootDir = root,
      stateDir = state,
    } = node;
    const paths = { root: rootDir, state: stateDir, manifestDir, podLogsDir };
    return {
      running: true,
      name,
      version,
      commit,
      build,
      pid,
      startedAt,
      ...paths,
      runtime,
      pressure,
      network,
      pods: countStates(pods),
      left: leftPods(state, pods),
      polls: watchProblem(),
      skew: versionSkew(node),
    };
  } catch (error) {
    if (errorCode(error) === 'unavailable') return { running: false, root, state };
    throw error;
  }
}

function leftPods(stateDirectory: string, pods: Pod[]): { namespace: string; name: string }[] {
  const left = new Set(leftoverRecords(stateDirectory).flatMap(({ objects }) => objects.map(({ uid }) => uid)));
  return pods.flatMap(({ metadata: { namespace, name, uid } }) => (left.has(uid) ? [{ namespace, name }] : []));
}

function countStates(pods: Pod[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status } of pods.map((pod) => podSummary(pod))) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

function notRunning({ root, state }: NodeStatus): string {
  return `${lines([
    ['node', 'not running'],
    ['root', root],
    ['state', state],
  ])}\n'podwright run FILE' or 'podwright node' starts one`;
}

function table(node: NodeStatus & { running: true }): string {
  const { name, version, pid, startedAt, root, state, manifestDir, podLogsDir, runtime, pods, left, polls } = node;
  const up = startedAt === undefined ? '' : `, up ${formatAge(startedAt, Date.now())}`;
  const phases = Object.entries(pods).map(([phase, count]) => `${count} ${phase}`);
  return lines([
    ['node', `${name}, process ${pid}, podwright ${version}${up}`],
    ['root', root],
    ['state', state],
    ['manifests', manifestDir],
    ['logs', podLogsDir],
    ['runtime', `${runtime.name} ${runtime.version}, CRI ${runtime.apiVersion}, ${runtime.endpoint}`],
    ['pods', phases.length === 0 ? 'none' : phases.join(', ')],
    ...(node.network === undefined ? [] : [['network', node.network] as [string, string]]),
    ...pressureRows(node),
    ...leftRows(left),
    ...(node.skew === undefined ? [] : [['version', node.skew] as [string, string]]),
    ...(polls === undefined ? [] : [['watches', polls] as [string, string]]),
  ]);
}

/** Returns rows for the node's pressure conditions, which make it reject and evict pods. */
function pressureRows({ pressure }: Pick<NodeInfo, 'pressure'>): [string, string][] {
  const { conditions = [], reasons = [], detail = '' } = pressure ?? {};
  if (conditions.length + reasons.length === 0) return [];
  const what = conditions.length === 0 ? 'no condition yet' : conditions.join(', ');
  const why = reasons.length === 0 ? 'it has recovered, and the condition ends soon' : reasons.join('; ');
  const cause = detail === '' ? '' : `; ${detail}`;
  return [['pressure', `${what}: ${why}; pods are refused or evicted meanwhile${cause}`]];
}

function leftRows(left: { namespace: string; name: string }[]): [string, string][] {
  if (left.length === 0) return [];
  const names = objectNames(left.map((pod) => ({ kind: 'Pod', ...pod })));
  return [
    ['leftovers', `${names}: of a killed 'run'; run it again to adopt them, or remove them with 'podwright delete'`],
  ];
}

function lines(rows: [string, string][]): string {
  return rows.map(([what, text]) => `${what.padEnd(12)}${escapeLine(text)}`).join('\n');
}
