import { VERSION } from '@podwright/base';
import { Command, InvalidArgumentError, Option } from 'commander';
import { parseOutputFormat } from './output/format.ts';
import { type ConfigFlags, flagName } from './settings/config-flags.ts';
import type { CommandContext } from './settings/node-config.ts';
import { loadConfig } from './settings/node-config.ts';

/** The first page of help: fits a screen, and leads on. */
const HELP = `Usage: podwright [options] <command>

Runs Kubernetes pods on this host, with or without a cluster.

  podwright run pod.yaml             in the foreground with logs; Ctrl-C stops the pods
  podwright run --once job.yaml      until they have ended; the exit code is theirs
  podwright run --detach pod.yaml    leave them running; then ps, logs, exec, delete
  podwright doctor                   what this host can do, and what is missing

Pods:      run, apply, delete, ps, logs, exec, describe, events, trace
Images:    images, pull, load, rmi
Daemons:   node (kubelet and runtime in one), kubelet, runtime
Host:      doctor, version, runtime plugins

Options of every command:
  --config <file>   configuration (default: /etc/podwright/config.toml if it is there)
  --root <dir>      lasting data of this node (default: /var/lib/podwright)
  --state <dir>     sockets and what a reboot may lose (default: /run/podwright)
  -V, --version     the version

'podwright <command> --help' explains a command.
`;

function positiveSeconds(value: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(value);
  if (match === null) throw new InvalidArgumentError('a duration such as 30s, 5m or 1h is needed');
  return Number(match[1]) * { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }[(match[2] ?? 's') as 'ms' | 's' | 'm' | 'h'];
}

function count(value: string): number {
  if (!/^\d+$/.test(value)) throw new InvalidArgumentError('a whole number is needed');
  return Number(value);
}

/** The flags that choose a node, as another process of ours takes them. */
function configArguments(flags: ConfigFlags): string[] {
  return Object.entries(flags).flatMap(([name, value]) => [flagName(name), value]);
}

/**
 * The command line. Each command's code is loaded when it is called, so that `ps` does not pay for the daemons.
 * A command returns its exit code, or nothing for 0.
 */
export function createProgram(setExitCode: (code: number) => void): Command {
  const program = new Command('podwright')
    .description('Runs Kubernetes pods on this host, with or without a cluster.')
    .version(VERSION, '-V, --version')
    .showSuggestionAfterError()
    .option('--config <file>', 'configuration file (default: /etc/podwright/config.toml if it is there)')
    .option('--root <dir>', 'lasting data of this node (default: /var/lib/podwright)')
    .option('--state <dir>', 'sockets and what a reboot may lose (default: /run/podwright)');
  for (const [flag, help] of [
    ['--pod-logs <dir>', 'container logs (default: /var/log/pods)'],
    ['--cgroup-parent <path>', 'cgroup above all pods (default: /podwright)'],
    ['--cgroup-driver <driver>', 'auto, cgroupfs or systemd (default: auto)'],
    ['--bridge <name>', 'bridge of the default network (default: podwright0)'],
    ['--subnet <cidr>', 'subnet of the default network (default: 10.83.0.0/16)'],
    ['--cni-conf-dir <dir>', "the host's CNI configuration (default: /etc/cni/net.d)"],
    ['--ready-sandboxes <n>', 'sandboxes that are made ahead at most, 0 for none (default: 8)'],
    ['--metrics-address <[host:]port>', 'where metrics are served (default: nowhere)'],
    ['--log-level <level>', 'debug, info, warn or error (default: info)'],
  ] as const) {
    program.addOption(new Option(flag, help).hideHelp());
  }

  /** Wraps a command's code: configuration in, exit code out. */
  const action: Action =
    (work) =>
    async (...values: unknown[]) => {
      const flags = program.opts<ConfigFlags>();
      const context = { config: loadConfig(flags), configArgs: configArguments(flags) };
      const result = await work(context, values as Parameters<typeof work>[1]);
      setExitCode(typeof result === 'number' ? result : 0);
    };

  program.helpInformation = () => HELP;
  addRunCommands(program, action);
  addPodCommands(program, action);
  addImageCommands(program, action);
  addNodeCommands(program, action);
  return program;
}

/** The values are the command's arguments, then its options. */
type Action = <Values extends unknown[]>(
  work: (context: CommandContext, values: Values) => Promise<unknown>,
) => (...values: unknown[]) => Promise<void>;

const outputOption = () =>
  new Option('-o, --output <format>', 'json, yaml or wide').argParser(parseOutputFormat).default('table', 'a table');
const namespaceOption = () => new Option('-n, --namespace <name>', 'namespace of the pod').default('default');

function addRunCommands(program: Command, action: Action): void {
  program
    .command('run <file...>')
    .description('run the pods of manifests; starts a node if none is running')
    .option('--once', 'end when the pods have ended; exit code 0 only if all succeeded')
    .option('-d, --detach', 'leave the pods and the node running')
    .option('--timeout <duration>', 'give up when the pods are not ready within this time', positiveSeconds)
    .action(
      action(async (context, [files, options]: [string[], import('./commands/run.ts').RunOptions]) =>
        (await import('./commands/run.ts')).run(files, options, context),
      ),
    );
  program
    .command('apply <file...>')
    .description('create or replace the objects of manifests on the running node')
    .action(
      action(async (context, [files]: [string[]]) => (await import('./commands/apply.ts')).apply(context, files)),
    );
  program
    .command('delete [pod...]')
    .description('stop and remove pods, or the objects of a manifest')
    .addOption(namespaceOption())
    .option('-f, --file <file>', 'the objects of this manifest')
    .option('--grace-period <seconds>', 'time to end (default: what the pod says)', count)
    .option('--no-wait', 'do not wait until they are gone')
    .action(
      action(async (context, [names, options]: [string[], import('./commands/delete.ts').DeleteOptions]) =>
        (await import('./commands/delete.ts')).deletePods(context, names, options),
      ),
    );
}

function addPodCommands(program: Command, action: Action): void {
  program
    .command('ps')
    .description('list pods')
    .addOption(outputOption())
    .action(
      action(async (context, [options]: [import('./commands/ps.ts').PsOptions]) =>
        (await import('./commands/ps.ts')).ps(context, options),
      ),
    );
  program
    .command('logs <pod>')
    .description("print a container's log")
    .addOption(namespaceOption())
    .option('-c, --container <name>', 'which container (default: the first)')
    .option('-f, --follow', 'go on as it grows')
    .option('-p, --previous', 'of the run before the last restart')
    .option('--tail <lines>', 'only the last lines', count)
    .option('--since <duration>', 'only what is newer', positiveSeconds)
    .option('--timestamps', 'with the time of each line')
    .action(
      action(async (context, [pod, options]: [string, import('./commands/logs.ts').LogsOptions]) =>
        (await import('./commands/logs.ts')).logs(context, pod, options),
      ),
    );
  program
    .command('exec <pod> [command...]')
    .description('run a command in a container: podwright exec [-it] POD -- COMMAND')
    .addOption(namespaceOption())
    .option('-c, --container <name>', 'which container (default: the first)')
    .option('-i, --stdin', 'pass standard input on')
    .option('-t, --tty', 'with a terminal')
    .action(
      action(async (context, [pod, command, options]: [string, string[], import('./commands/exec.ts').ExecOptions]) =>
        (await import('./commands/exec.ts')).exec(context, { pod, command }, options),
      ),
    );
  program
    .command('describe <pod>')
    .description('everything about a pod, with its events')
    .addOption(namespaceOption())
    .addOption(outputOption())
    .action(
      action(async (context, [pod, options]: [string, import('./commands/describe.ts').DescribeOptions]) =>
        (await import('./commands/describe.ts')).describe(context, pod, options),
      ),
    );
  program
    .command('events')
    .description('what happened lately')
    .option('-w, --watch', 'and what happens from now on')
    .addOption(outputOption())
    .action(
      action(async (context, [options]: [import('./commands/events.ts').EventsOptions]) =>
        (await import('./commands/events.ts')).events(context, options),
      ),
    );
  program
    .command('trace <pod>')
    .description("the waterfall of a pod's start")
    .addOption(namespaceOption())
    .addOption(outputOption())
    .action(
      action(async (context, [pod, options]: [string, import('./commands/trace.ts').TraceOptions]) =>
        (await import('./commands/trace.ts')).trace(context, pod, options),
      ),
    );
}

function addImageCommands(program: Command, action: Action): void {
  program
    .command('images')
    .description('list images')
    .addOption(outputOption())
    .action(
      action(async (context, [options]: [import('./commands/images.ts').ImagesOptions]) =>
        (await import('./commands/images.ts')).images(context, options),
      ),
    );
  program
    .command('pull <image...>')
    .description('pull images from their registries')
    .option('--creds <user[:password]>', 'credentials; without a password it is read from standard input')
    .option('--authfile <file>', "credentials from a docker configuration, as 'docker login' writes it")
    .action(
      action(async (context, [references, options]: [string[], import('./commands/pull-credentials.ts').PullOptions]) =>
        (await import('./commands/pull.ts')).pull(context, references, options),
      ),
    );
  program
    .command('load <path>')
    .description('load images from an OCI layout, an OCI archive or a Docker archive')
    .option('--name <reference>', 'name for an image that the archive does not name')
    .action(
      action(async (context, [path, options]: [string, { name?: string }]) =>
        (await import('./commands/load.ts')).load(context, path, options),
      ),
    );
  program
    .command('rmi <image...>')
    .description('remove images')
    .action(
      action(async (context, [references]: [string[]]) =>
        (await import('./commands/rmi.ts')).removeImages(context, references),
      ),
    );
}

function addNodeCommands(program: Command, action: Action): void {
  program
    .command('node')
    .description('the daemon in the foreground: kubelet and runtime in one')
    .action(
      action(async (context) => {
        process.chdir('/'); // paths are absolute by now, and a daemon keeps no directory from being unmounted
        return (await import('./daemon/node.ts')).runNode(context.config);
      }),
    );
  const runtime = program
    .command('runtime')
    .description('the container runtime alone, for any kubelet')
    .action(action(async (context) => (await import('./daemon/runtime.ts')).runRuntime(context.config)));
  runtime
    .command('plugins')
    .description("the runtime's plugins, and how each got on")
    .addOption(outputOption())
    .action(
      action(async (context, [options]: [import('./commands/plugins.ts').PluginsOptions]) =>
        (await import('./commands/plugins.ts')).plugins(context, options),
      ),
    );
  program
    .command('kubelet')
    .description('the kubelet alone, on any container runtime')
    .requiredOption('--container-runtime-endpoint <endpoint>', 'such as unix:///run/containerd/containerd.sock')
    .option('--image-service-endpoint <endpoint>', "default: the runtime's")
    .addOption(
      new Option('--cri-api-version <version>', 'which version of the CRI to speak')
        .choices(['auto', 'v1', 'v1alpha2'])
        .default('auto'),
    )
    .action(
      action(async (context, [options]: [import('./daemon/kubelet.ts').KubeletFlags]) =>
        (await import('./daemon/kubelet.ts')).runKubelet(context.config, options),
      ),
    );
  program
    .command('doctor')
    .description('what this host can do, and what is missing')
    .addOption(outputOption())
    .action(
      action(async (context, [options]: [import('./commands/doctor.ts').DoctorOptions]) =>
        (await import('./commands/doctor.ts')).doctor(context, options),
      ),
    );
  program
    .command('version')
    .description('versions of the client, the node and its runtime')
    .addOption(outputOption())
    .action(
      action(async (context, [options]: [import('./commands/version.ts').VersionOptions]) =>
        (await import('./commands/version.ts')).version(context, options),
      ),
    );
}
