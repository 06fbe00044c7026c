import { type Command, Option } from 'commander';
import { settingsText } from '../help/settings.ts';
import type { ClusterFlags, ConfigFlags, DockershimFlags } from '../settings/config-flags.ts';
import type { Action } from './action.ts';
import { outputOption } from './options.ts';

/** Help text for the node's configuration options, which every command accepts. */
const settingsHelp = ({ command }: { command: Command }) =>
  `\nSettings, also available in the file of '--config FILE':\n${settingsText(command.parent!)}`;

const UP_HELP = `
The node stays until 'podwright stop'. With --ephemeral, the command stays in
the foreground and prints the path of a kubeconfig; Ctrl-C removes the node
with its pods, objects, images and files.

Examples:
  podwright up; podwright apply app.yaml; podwright rollout status deploy/web
  podwright up --ephemeral
`;

/** Adds the commands for the daemons, the node and its host. */
export function addNodeCommands(program: Command, action: Action): void {
  program
    .command('up')
    .description('start a node with a Kubernetes API in the background, and wait until it is ready')
    .option('--ephemeral', 'start a separate node in the foreground, and remove it with all its data at the end')
    .addHelpText('after', UP_HELP)
    .action(
      action(async (context, [options]: [import('../commands/up.ts').UpOptions]) =>
        (await import('../commands/up.ts')).up(context, options),
      ),
    );
  addDaemons(program, action);
}

function addDaemons(program: Command, action: Action): void {
  program
    .command('node')
    .description('the daemon in the foreground: kubelet and runtime in one')
    .option('--kubeconfig <file>', "kubeconfig of the cluster's API server (default: the one of 'podwright join')")
    .option(
      '--bootstrap-kubeconfig <file>',
      'kubeconfig to request the first certificate, which is written to --kubeconfig',
    )
    .option('--kubelet-configuration <file>', 'KubeletConfiguration of the cluster')
    .addHelpText('after', settingsHelp)
    .action(async (options: ClusterFlags) =>
      (await import('../daemon/node-command.ts')).nodeCommand({ ...program.opts<ConfigFlags>(), ...options }),
    );
  const runtime = program
    .command('runtime')
    .description('the container runtime alone, for any kubelet')
    .addHelpText('after', settingsHelp)
    .action(action(async (context) => (await import('../daemon/runtime.ts')).runRuntime(await context.settings())));
  runtime
    .command('plugins')
    .description("the runtime's plugins and their states")
    .addOption(outputOption())
    .action(
      action(async (context, [options]: [import('../commands/plugins.ts').PluginsOptions]) =>
        (await import('../commands/plugins.ts')).plugins(context, options),
      ),
    );
  addDockershim(program);
  program
    .command('kubelet')
    .description("the kubelet alone, on any container runtime, with upstream's flags and configuration")
    .usage('[options] [flags]')
    .addHelpText('after', settingsHelp)
    .helpOption(false) // replaced below: the help includes upstream's flags, which are loaded with the daemon
    .option('-h, --help', "display help for command, with the flags of upstream's kubelet")
    .allowUnknownOption()
    .allowExcessArguments()
    .addOption(
      new Option('--cri-api-version <version>', 'which version of the CRI to speak')
        .choices(['auto', 'v1', 'v1alpha2'])
        .default('auto'),
    )
    .action(async (options: import('../daemon/kubelet.ts').KubeletFlags & { help?: true }, command: Command) => {
      const { kubeletCommand, kubeletFlagsHelp } = await import('../daemon/kubelet-command.ts');
      if (options.help !== true) return kubeletCommand(program.opts<ConfigFlags>(), options, command.args);
      command.outputHelp();
      process.stdout.write(kubeletFlagsHelp());
    });
  program
    .command('doctor')
    .description('what this host can do, and what is missing')
    .option('--fix', "install missing programs by the host's package manager, after a question")
    .option('-y, --yes', 'with --fix: without the question')
    .addOption(outputOption())
    .action(
      action(async (context, [options]: [import('../commands/doctor.ts').DoctorOptions]) =>
        (await import('../commands/doctor.ts')).doctor(context, options),
      ),
    );
  program
    .command('version')
    .description('versions of the client, the node and its runtime')
    .addOption(outputOption())
    .addOption(new Option('--trial', 'fail if this host lacks a library for a node').hideHelp())
    .action(
      action(async (context, [options]: [import('../commands/version.ts').VersionOptions]) =>
        (await import('../commands/version.ts')).version(context, options),
      ),
    );
}

const DOCKERSHIM_EXAMPLES = `
Serves the CRI, v1 and v1alpha2, for any kubelet and for crictl, on a Docker
Engine (20.10 or later). Pods keep running without it.

Examples:
  podwright dockershim                                 Docker's usual socket; the CRI is at /run/podwright/dockershim.sock
  podwright dockershim --listen unix:///run/cri-dockerd.sock --network-plugin cni
                                                       instead of cri-dockerd, with its pods
  podwright kubelet --container-runtime=docker         kubelet and dockershim in one
  crictl -r unix:///run/podwright/dockershim.sock ps   what runs
`;

function addDockershim(program: Command): void {
  program
    .command('dockershim')
    .description('the CRI on a Docker Engine, for any kubelet')
    .option('--docker-endpoint <socket>', "the Engine's socket (default: unix:///var/run/docker.sock)")
    .option('--listen <socket>', 'socket of the CRI (default: unix://STATE/dockershim.sock)')
    .option('--pod-infra-container-image <image>', 'image of infra containers (default: registry.k8s.io/pause:3.10)')
    .option('--network-plugin <name>', "cni, or none for Docker's own bridge (default: none)")
    .option('--cni-bin-dir <dirs>', 'directories of CNI plugins, with commas between them')
    .option('--cni-cache-dir <dir>', 'cached results of CNI plugins (default: /var/lib/cni/cache)')
    .option('--hairpin-mode <mode>', 'hairpin-veth, promiscuous-bridge or none (default: promiscuous-bridge)')
    .option('--non-masquerade-cidr <cidr>', 'destinations that see pod IPs, without masquerading (default: 10.0.0.0/8)')
    .option('--network-plugin-mtu <bytes>', "MTU of pods' links, 0 leaves it to the plugin (default: 0)")
    .option('--runtime-cgroups <cgroup>', 'cgroup to move the dockershim to')
    .option('--streaming-address <address>', 'where exec, attach and port-forward are served (default: 127.0.0.1)')
    .option('--streaming-port <port>', 'port of the streaming server, 0 for any free one (default: 0)')
    .option('--experimental-dockershim-root-directory <dir>', 'lasting data (default: ROOT/dockershim)')
    .option('--image-pull-progress-deadline <time>', 'cancel a pull without progress for this long (default: 1m)')
    .addHelpText('after', (context) => DOCKERSHIM_EXAMPLES + settingsHelp(context))
    .action(async (options: DockershimFlags) => {
      const { runDockershim } = await import('../daemon/dockershim.ts');
      return runDockershim({ ...program.opts<ConfigFlags>(), ...options });
    });
}
