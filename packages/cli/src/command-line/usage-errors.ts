import { PodwrightError } from '@podwright/base';
import type { Command } from 'commander';

/** Makes usage errors throw `invalid_argument` with a hint, like all other errors. Must be called after all commands have been added. */
export function reportUsageErrors(program: Command): void {
  for (const command of commandsOf(program)) {
    command.error = (message: string) => {
      throw new PodwrightError('invalid_argument', usageError(command, message));
    };
  }
}

function commandsOf(command: Command): Command[] {
  return [command, ...command.commands.flatMap(commandsOf)];
}

/** Rewrites commander's message about a usage error: prepends the command and appends how to get help. */
export function usageError(command: Command, message: string): string {
  const path = pathOf(command);
  const text = reworded(command, message.replace(/^error: /, '').replace(/\n\((D)id (.*)\)$/, '; did $2'));
  const help = `podwright ${path === '' ? '' : `${path} `}--help`;
  const hasHint = /; did you mean|: podwright /.test(text);
  return `${path === '' ? '' : `${path}: `}${text}${hasHint ? '' : `; '${help}' explains`}`;
}

function reworded(command: Command, message: string): string {
  const [, missing] = /^missing required argument '(.*)'$/.exec(message) ?? [];
  if (missing !== undefined) return `${missing.toUpperCase()} is missing: ${usage(command)}`;
  const [, option] = /^required option '(.*)' not specified$/.exec(message) ?? [];
  if (option !== undefined) return `${option} is missing`;
  const [, bare] = /^option '(.*)' argument missing$/.exec(message) ?? [];
  if (bare !== undefined) return `${bare}: the value is missing`;
  const [, words] =
    /^too many arguments(?: for '.*?')?\. Expected \d+ arguments? but got \d+: (.*)\.$/s.exec(message) ?? [];
  if (words !== undefined) return `too many words (${words}): ${usage(command)}`;
  const [, flags, value, why] = /^option '(.*?)' argument '(.*)' is invalid\. (.*)$/s.exec(message) ?? [];
  if (flags === undefined) return message;
  const flag = flags.split(/[ ,]+/).findLast((word) => word.startsWith('-'))!;
  return `${flag} ${value}: ${why!.replace(/\.$/, '').replace(/^Allowed choices are/, 'must be one of')}`;
}

const usage = (command: Command) => `podwright ${pathOf(command)} ${command.usage()}`;

/** Returns the words that invoke a subcommand, such as `runtime plugins`, without the program name. */
function pathOf(command: Command): string {
  return command.parent === null ? '' : `${pathOf(command.parent)} ${command.name()}`.trim();
}
