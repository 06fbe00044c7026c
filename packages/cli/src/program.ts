import { VERSION } from '@podwright/base';
import { Command, Option } from 'commander';
import type { Action } from './command-line/action.ts';
import { addApiServerCommands } from './command-line/api-server-commands.ts';
import { readBooleanValues } from './command-line/boolean-values.ts';
import { addClusterCommands } from './command-line/cluster-commands.ts';
import { addContainerCommands } from './command-line/container-commands.ts';
import { addCriProxy } from './command-line/cri-proxy-command.ts';
import { addDashboard } from './command-line/dashboard-command.ts';
import { addExplanationCommands } from './command-line/explanation-commands.ts';
import { answerForeignVerbs } from './command-line/foreign-verbs.ts';
import { addHelpCommands } from './command-line/help-commands.ts';
import { addImageCommands } from './command-line/image-commands.ts';
import { addNodeCommands } from './command-line/node-commands.ts';
import { addNodeControlCommands } from './command-line/node-control-commands.ts';
import { addObjectCommands, addPodCommands } from './command-line/pod-commands.ts';
import { addRunCommands } from './command-line/run-commands.ts';
import { reportUsageErrors } from './command-line/usage-errors.ts';
import { addWorkloadCommands } from './command-line/workload-commands.ts';
import { terminalWidth } from './output/terminal.ts';
import { wrapText } from './output/wrap.ts';
import { commandContext } from './settings/command-context.ts';
import type { ConfigFlags } from './settings/config-flags.ts';

/** The top-level help. It fits on one screen and refers to more help. */
const HELP = `Usage: podwright [options] <command>

Runs Kubernetes pods on this host, with or without a cluster.

  podwright run pod.yaml             in the foreground with logs; Ctrl-C stops the pods
  podwright run --once pod.yaml      until the pods end; exits with their exit code
  podwright run --detach pod.yaml    in the background; then ps, logs, exec, delete, stop
  podwright check DIR                find errors in manifests, and what they lack here
  podwright doctor                   what this host can do, and what is missing

Pods:      run, check, apply, delete, ps, why, trace, dashboard
Objects:   get, describe, events, wait, label, annotate, patch, edit, top
Workloads: rollout, scale, expose, create, autoscale (with --api true)
In pods:   logs, exec, attach, debug, cp, port-forward, restart
Images:    images, pull, load, save, rmi, prune
Daemons:   up, node (kubelet and runtime in one), kubelet, runtime, dockershim, status, stop
Clusters:  join, leave, kubeconfig, controllers, proxy
Host:      doctor, version, upgrade, runtime plugins, cri-proxy, completion, help

Options of every command:
  --config <file>   configuration (default: /etc/podwright/config.toml if it exists)
  --root <dir>      persistent data of this node (default: /var/lib/podwright)
  --state <dir>     sockets and volatile data (default: /run/podwright)
  -V, --version     the version

'podwright <command> --help' explains a command, 'podwright help <topic>' a topic:
manifests, exit-codes, files, networking, settings.
`;

const GROUPS: { names: string[]; add: (program: Command, action: Action) => void }[] = [
  { names: ['run', 'apply', 'check', 'delete'], add: addRunCommands },
  { names: ['get', 'ps', 'describe', 'events'], add: addPodCommands },
  { names: ['why', 'trace'], add: addExplanationCommands },
  { names: ['wait', 'label', 'annotate', 'patch', 'edit', 'top'], add: addObjectCommands },
  { names: ['rollout', 'scale', 'expose', 'create', 'autoscale'], add: addWorkloadCommands },
  { names: ['exec', 'attach', 'cp', 'restart', 'debug', 'port-forward', 'logs'], add: addContainerCommands },
  { names: ['images', 'pull', 'load', 'save', 'rmi', 'prune'], add: addImageCommands },
  { names: ['up', 'node', 'runtime', 'kubelet', 'dockershim', 'doctor', 'version'], add: addNodeCommands },
  { names: ['cri-proxy'], add: addCriProxy },
  { names: ['dashboard'], add: addDashboard },
  { names: ['join', 'leave'], add: addClusterCommands },
  { names: ['apiserver', 'controllers', 'kubeconfig', 'proxy'], add: addApiServerCommands },
  { names: ['status', 'stop', 'upgrade'], add: addNodeControlCommands },
];

/**
 * Builds the command line. A command's code is loaded lazily, so that `ps` does not load the daemons. A command returns its exit code, or
 * nothing for 0. Only the group of the command in `words` is created, which saves a tenth of a short command's run time; all groups are
 * created if `words` names no command.
 */
export function createProgram(setExitCode: (code: number) => void, words: string[] = []): Command {
  const program = new Command('podwright')
    .description('Runs Kubernetes pods on this host, with or without a cluster.')
    .version(VERSION, '-V, --version')
    .showSuggestionAfterError()
    .option('--config <file>', 'configuration file (default: /etc/podwright/config.toml if it exists)')
    .option('--root <dir>', 'persistent data of this node (default: /var/lib/podwright)')
    .option('--state <dir>', 'sockets and volatile data (default: /run/podwright)');
  for (const [flag, help] of [
    ['--pod-logs <dir>', 'container logs (default: /var/log/pods)'],
    ['--cgroup-parent <path>', 'cgroup above all pods (default: /podwright)'],
    ['--cgroup-driver <driver>', 'auto, cgroupfs or systemd (default: auto)'],
    ['--bridge <name>', 'bridge of the default network (default: podwright0)'],
    ['--subnet <cidr>', 'subnet of the default network (default: 10.83.0.0/16)'],
    ['--cni-conf-dir <dir>', "the host's CNI configuration (default: /etc/cni/net.d)"],
    ['--ready-sandboxes <n>', 'maximum number of sandboxes prepared in advance, 0 for none (default: 8)'],
    ['--fast-paths <true|false>', 'false: no shortcuts around other programs and the kernel (default: true)'],
    ['--api <true|false>', 'true: the node has a Kubernetes API (default: false, or true if it had one before)'],
    ['--api-listen <[host:]port>', 'with --api true: TCP address of the Kubernetes API (default: none)'],
    ['--service-cidr <cidr>', 'with --api true: addresses of Services (default: 10.96.0.0/12)'],
    ['--metrics-address <[host:]port>', 'address of the metrics server (default: none)'],
    ['--log-level <level>', 'debug, info, warn or error (default: info)'],
  ] as const) {
    program.addOption(new Option(flag, help).hideHelp());
  }

  const action: Action =
    (work) =>
    async (...values: unknown[]) => {
      const result = await work(
        await commandContext(program.opts<ConfigFlags>()),
        values as Parameters<typeof work>[1],
      );
      setExitCode(typeof result === 'number' ? result : 0);
    };

  program.helpInformation = () => wrapText(HELP, terminalWidth());
  // commander must throw rather than exit: `main` exits the process once all output has been written
  program.exitOverride();
  program.helpCommand(false); // our own help command also has topics
  const called = calledName(words);
  const group = GROUPS.find(({ names }) => called !== undefined && names.includes(called));
  for (const { add } of group === undefined ? GROUPS : [group]) add(program, action);
  if (group === undefined) addHelpCommands(program);
  answerForeignVerbs(program);
  readBooleanValues(program);
  reportUsageErrors(program);
  return program;
}

/** Returns the first word that is not an option. All of podwright's global options take a value. */
function calledName([word, ...rest]: string[]): string | undefined {
  if (!word?.startsWith('-')) return word;
  return word.startsWith('--') ? calledName(word.includes('=') ? rest : rest.slice(1)) : undefined;
}
