import { Argument, type Command } from 'commander';

/** Adds the commands for help and shell completion, which need neither a node nor a configuration. */
export function addHelpCommands(program: Command): void {
  program
    .command('help [topic]')
    .description('explain a command or a topic')
    .action(async (topic: string | undefined) => (await import('../help/show-help.ts')).showHelp(program, topic));
  program
    .command('completion')
    .description('print the script that completes commands and names in a shell')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
    .addHelpText('after', '\nIn bash: source <(podwright completion bash), also as a line of ~/.bashrc')
    .action(async (shell: 'bash' | 'zsh' | 'fish') => {
      process.stdout.write((await import('../completion/shells.ts')).SHELL_SCRIPTS[shell]);
    });
  program
    .command('__complete [words...]', { hidden: true })
    .action(async (words: string[]) => (await import('../completion/complete.ts')).complete(program, words));
}
