import { join } from 'node:path';
import { styleText } from 'node:util';
import { errorCode, errorMessage, PodwrightError } from '@podwright/base';
import { type CgroupHierarchy, discoverCgroups, isSystemdHost } from '@podwright/host';
import type { PodDefaults } from '@podwright/kubelet';
import type { NodeInfo } from '@podwright/node-api';
import {
  fastPathsOf,
  type HostAbilities,
  knownHoles,
  lookAtNetwork,
  measureCgroupMove,
  type NetworkDescription,
  probeHost,
} from '@podwright/runtime';
import { NodeClient } from '../client/node-client.ts';
import { chooseCgroupDriver } from '../daemon/cgroup-place.ts';
import { runtimeOptions } from '../daemon/runtime-options.ts';
import { type OutputFormat, printAs } from '../output/format.ts';
import { terminalWidth } from '../output/terminal.ts';
import { escapeLine } from '../output/terminal-text.ts';
import { formatBytes } from '../output/units.ts';
import { wrapText } from '../output/wrap.ts';
import { clusterFiles } from '../settings/cluster-files.ts';
import type { CommandContext, NodeConfig } from '../settings/node-config.ts';
import { limitFindings } from './doctor-limits.ts';
import { type Finding, placeFindings } from './doctor-places.ts';
import { conmonFinding, initFinding } from './doctor-programs.ts';
import { type HostProgram, installHint } from './install-hint.ts';

export type DoctorOptions = { output: OutputFormat; fix?: boolean; yes?: boolean };

/** The column of the report where the messages start. */
const INDENT = 23;
const MARKS = { ok: ['ok', 'green'], note: ['note', 'magenta'], missing: ['MISSING', 'red'] } as const;

/** `podwright doctor`. With `--fix`, installs missing programs first. Returns exit code 1 if something that pods require is missing. */
export async function doctor({ settings }: CommandContext, options: DoctorOptions): Promise<number> {
  if (options.yes && !options.fix) throw new PodwrightError('invalid_argument', '--yes requires --fix');
  const config = await settings();
  if (options.fix) {
    if (process.getuid?.() !== 0)
      throw new PodwrightError('permission_denied', 'install packages: only root may; call podwright with sudo');
    const { planFix, runFix } = await import('./doctor-fix.ts');
    if (!(await runFix(planFix(await findingsOf(config)), options))) return 1;
  }
  const findings = await findingsOf(config);
  await printAs(options.output, findings, () => wrapText(findings.map(line).join('\n'), terminalWidth()));
  return findings.some(({ level }) => level === 'missing') ? 1 : 0;
}

async function findingsOf(config: NodeConfig): Promise<Finding[]> {
  const root = process.getuid?.() === 0;
  const [node, host] = await Promise.all([nodeFindings(config.apiSocket), root ? hostOfNode(config) : []]);
  return [rootFinding(root), ...node, ...placeFindings(config), ...host];
}

/** Returns the findings about the host and the container runtime, which only root can determine. */
async function hostOfNode(config: NodeConfig): Promise<Finding[]> {
  const { shutdownFindings } = await import('./doctor-shutdown.ts');
  const cluster = clusterFiles(config) && (await import('./doctor-cluster.ts')).clusterFindings(config);
  const { nameFindings } = await import('./doctor-names.ts');
  const { leftoverFindings } = await import('./doctor-leftovers.ts');
  const findings = [
    ...[cluster ?? [], runtimeFindings(config), limitFindings()],
    ...[nameFindings(), shutdownFindings(config), leftoverFindings()],
  ];
  return (await Promise.all(findings)).flat();
}

async function runtimeFindings(config: NodeConfig): Promise<Finding[]> {
  if (config.container_runtime === 'docker') return (await import('./doctor-docker.ts')).dockerFindings(config);
  // measure cgroup moves before trying the OCI runtimes, which also move processes and would distort the measurement
  const cgroups = await discoverCgroups();
  const fastPaths = fastPathsOf(runtimeOptions(config));
  const [move, network] = await Promise.all([
    moveFinding(cgroups, fastPaths.expediteRcu),
    networkFinding(lookAtNetwork(runtimeOptions(config))),
  ]);
  const abilities = await probeHost({
    state: join(config.state, 'host'),
    root: join(config.root, 'runtime'),
    cgroupParent: config.cgroup_parent,
    ociRuntime: config.runtime.oci_runtime,
    conmon: config.runtime.conmon,
    fastPaths: fastPaths.oci,
  });
  const [hierarchy, ...others] = hostFindings(abilities);
  return [hierarchy!, driverFinding(config.runtime.cgroup_driver, abilities), move, ...others, network];
}

function line({ what, level, message, fix }: Finding): string {
  const [mark, colour] = MARKS[level];
  const head = `${styleText(colour, mark.padEnd(8), { stream: process.stdout })}${what.padEnd(INDENT - 9)} ${escapeLine(message)}`;
  return fix === undefined ? head : `${head}\n${' '.repeat(INDENT)}${escapeLine(fix)}`;
}

function rootFinding(root: boolean): Finding {
  if (root) return { what: 'root', level: 'ok', message: 'yes' };
  return {
    what: 'root',
    level: 'missing',
    message: 'no: namespaces, mounts, cgroups and networks need it',
    fix: 'call podwright with sudo',
  };
}

async function nodeFindings(socket: string): Promise<Finding[]> {
  try {
    const { name, pid, runtime, podDefaults, pressure } = await new NodeClient(socket).node();
    return [
      { what: 'node', level: 'ok', message: `${name}, process ${pid}, on ${runtime.name} ${runtime.version}` },
      ...(podDefaults === undefined ? [] : podFindings(podDefaults)), // older nodes do not report pod defaults
      ...pressureFindings(pressure),
    ];
  } catch (error) {
    if (errorCode(error) === 'permission_denied')
      return [{ what: 'node', level: 'note', message: `only root may use ${socket}` }];
    return [{ what: 'node', level: 'note', message: 'not running', fix: "'podwright run FILE' starts one" }];
  }
}

/** Reports the conditions that make the node refuse and evict pods, and what fills the disk. */
function pressureFindings({
  conditions,
  reasons,
  detail = '',
}: NonNullable<NodeInfo['pressure']> = NO_PRESSURE): Finding[] {
  if (conditions.length === 0) return [];
  const message = [`${conditions.join(', ')}: the node refuses and evicts pods`, ...reasons, detail];
  return [{ what: 'pressure', level: 'note', message: message.filter((text) => text !== '').join('; ') }];
}

const NO_PRESSURE = { conditions: [], reasons: [] };

/** Reports the restrictions that apply to pods by default. */
function podFindings({ seccomp, netRaw = true, pidsPerPod, allPods }: PodDefaults): Finding[] {
  const together = allPods && `${formatBytes(allPods.memoryBytes)} of memory and ${allPods.pids} processes`;
  return [
    {
      what: 'pod defaults',
      level: seccomp === 'RuntimeDefault' && pidsPerPod !== undefined && !netRaw ? 'ok' : 'note',
      message: [
        `seccomp ${seccomp}`,
        `${pidsPerPod === undefined ? 'any number of' : `at most ${pidsPerPod}`} processes a pod`,
        `${netRaw ? 'with' : 'without'} NET_RAW`,
      ].join(', '),
    },
    {
      what: 'all pods',
      level: together === undefined ? 'note' : 'ok',
      message: together === undefined ? 'may use up the memory and processes of the node' : `at most ${together}`,
    },
  ];
}

function hostFindings(abilities: HostAbilities): Finding[] {
  const { kernel, cgroups, conmon, init } = abilities;
  return [
    {
      what: 'cgroups',
      level: 'ok',
      message: `${cgroups.mode}: ${cgroups.trees.flatMap(({ controllers }) => controllers).join(', ')}`,
    },
    ...ociFindings(abilities),
    conmonFinding(conmon),
    initFinding(init),
    userNamespaceFinding(abilities),
    {
      what: 'seccomp',
      level: kernel.seccomp ? 'ok' : 'note',
      message: kernel.seccomp ? 'yes' : 'not in this kernel: profiles are refused',
    },
    { what: 'AppArmor', level: 'ok', message: kernel.apparmor ? 'yes' : 'not in this kernel' },
    { what: 'SELinux', level: 'ok', message: kernel.selinux ? 'yes' : 'off' },
  ];
}

function driverFinding(
  requested: Parameters<typeof chooseCgroupDriver>[0],
  { cgroups: { mode } }: HostAbilities,
): Finding {
  try {
    const { driver, reason } = chooseCgroupDriver(requested, { systemd: isSystemdHost(), mode });
    return { what: 'cgroup driver', level: 'ok', message: `${driver}: ${reason}` };
  } catch (error) {
    const fix = 'leave runtime.cgroup_driver out of the configuration';
    return { what: 'cgroup driver', level: 'missing', message: errorMessage(error), fix };
  }
}

/** A cgroup move that takes longer than this has had to wait for an RCU grace period. */
const RCU_WAIT_MS = 4;

/** Reports how long the kernel takes to move a process to a different cgroup, which happens for every pod. */
async function moveFinding(cgroups: CgroupHierarchy, expediting: boolean): Promise<Finding> {
  const what = 'cgroup moves';
  const cost = await measureCgroupMove(cgroups).catch(errorMessage);
  if (typeof cost === 'string') return { what, level: 'note', message: `cannot be measured: ${cost}` };
  const time = `${cost.ms.toFixed(1)} ms for the first of a pod`;
  if (cost.ms < RCU_WAIT_MS)
    return { what, level: 'ok', message: cost.expedited ? `${time}, as RCU is expedited` : time };
  if (expediting) return { what, level: 'ok', message: `${time}, less while pods start: expedite_rcu is set` };
  return {
    what,
    level: 'note',
    message: `${time}: the kernel waits for an RCU grace period, as it does when a pod ends`,
    fix: 'expedite_rcu = true in [runtime] expedites them while pods start and end',
  };
}

function ociFindings({ ociRuntimes }: HostAbilities): Finding[] {
  const findings = ociRuntimes.map((runtime): Finding => {
    if (!runtime.works)
      return {
        what: runtime.name,
        level: 'note',
        message: `${runtime.version}, does not work here: ${runtime.reason}`,
      };
    const how = runtime.wrapped ? ', in a mount namespace without the unified cgroup tree' : '';
    return ociFinding(runtime, `${runtime.version}${how}`);
  });
  if (ociRuntimes.some(({ works }) => works)) return findings;
  const none: Finding = { what: 'OCI runtime', level: 'missing', message: 'none that works' };
  // suggest crun first, since it starts containers faster
  const other = (['crun', 'runc'] as const).find((name) => !ociRuntimes.some((runtime) => runtime.name === name));
  return [...findings, other === undefined ? none : { ...none, fix: installHint(other), lacks: [other] }];
}

/**
 * Reports an OCI runtime. If its version has a known vulnerability, that is only a note: distributions backport fixes without changing the
 * version number.
 */
function ociFinding({ name, version }: HostAbilities['ociRuntimes'][number], message: string): Finding {
  const known = knownHoles(name, version);
  if (known === undefined) return { what: name, level: 'ok', message };
  return {
    what: name,
    level: 'note',
    message: `${message}; the project's own ${version} has ${known.holes.join(', ')}`,
    fix: `install ${known.fixedIn.join(', ')} or later, or check whether the package of your distribution has the fixes`,
  };
}

function userNamespaceFinding({ ociRuntimes, idMapping }: HostAbilities): Finding {
  const able = ociRuntimes.filter(({ works, features }) => works && features.userNamespaces).map(({ name }) => name);
  const what = 'user ns';
  if (!idMapping.works) return { what, level: 'note', message: `no pods with user namespaces: ${idMapping.reason}` };
  if (able.length > 0) return { what, level: 'ok', message: `with ${able.join(', ')}` };
  return { what, level: 'note', message: 'no pods with user namespaces: no OCI runtime supports them here' };
}

/** Reports the pod network, why it was chosen, and how to fix any problems. */
async function networkFinding(looked: Promise<NetworkDescription>): Promise<Finding> {
  const what = 'network';
  try {
    const { source, why, problem, warnings } = await looked;
    const message = `${source === 'host' ? 'of the host' : 'our own'}: ${why}`;
    if (problem !== undefined)
      return { what, level: 'missing', message, fix: problem, lacks: programsOfNetwork(problem) };
    if (warnings.length > 0) return { what, level: 'note', message, fix: warnings.join('; ') };
    return { what, level: 'ok', message };
  } catch (error) {
    const problem = errorMessage(error);
    return { what, level: 'missing', message: problem, lacks: programsOfNetwork(problem) };
  }
}

/** Returns the programs that a network problem's message recommends installing and that are available as packages. */
function programsOfNetwork(problem: string): HostProgram[] | undefined {
  if (problem.includes('install containernetworking-plugins')) return ['cni-plugins'];
  return problem.includes('install iptables') ? ['iptables'] : undefined;
}
