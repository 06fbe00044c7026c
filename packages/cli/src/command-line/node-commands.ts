import { type Command, Option } from 'commander';
import { settingsText } from '../help/settings.ts';
import type { ConfigFlags } from '../settings/config-flags.ts';
import type { Action } from './action.ts';
import { outputOption } from './options.ts';

/** The options that set a node up are those of every command. */
const settingsHelp = ({ command }: { command: Command }) =>
  `\nSettings, which '--config FILE' has as well:\n${settingsText(command.parent!)}`;

/** The daemons, and commands about the node and its host. */
export function addNodeCommands(program: Command, action: Action): void {
  program
    .command('node')
    .description('the daemon in the foreground: kubelet and runtime in one')
    .addHelpText('after', settingsHelp)
    .action(
      action(async (context) => {
        const config = await context.settings();
        process.chdir('/'); // paths are absolute by now, and a daemon keeps no directory from being unmounted
        return (await import('../daemon/node.ts')).runNode(config);
      }),
    );
  const runtime = program
    .command('runtime')
    .description('the container runtime alone, for any kubelet')
    .addHelpText('after', settingsHelp)
    .action(action(async (context) => (await import('../daemon/runtime.ts')).runRuntime(await context.settings())));
  runtime
    .command('plugins')
    .description("the runtime's plugins, and how each got on")
    .addOption(outputOption())
    .action(
      action(async (context, [options]: [import('../commands/plugins.ts').PluginsOptions]) =>
        (await import('../commands/plugins.ts')).plugins(context, options),
      ),
    );
  program
    .command('kubelet')
    .description("the kubelet alone, on any container runtime, with upstream's flags and configuration")
    .usage('[options] [flags]')
    .addHelpText('after', settingsHelp)
    .helpOption(false) // upstream's flags, which are loaded with the daemon, are part of it
    .option('-h, --help', "display help for command, with the flags, which are those of upstream's kubelet")
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
    .action(
      action(async (context, [options]: [import('../commands/version.ts').VersionOptions]) =>
        (await import('../commands/version.ts')).version(context, options),
      ),
    );
}
