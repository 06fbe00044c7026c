import type { Command } from 'commander';
import { forgetEmptyValues } from './empty-values.ts';
import { splitShortValue } from './short-values.ts';

/**
 * Makes all commands accept kubectl's forms of options: `=true` and `=false` for booleans (`--wait=false` is `--no-wait`) and `=` before
 * the value of a short option (`-o=json`). An empty namespace or selector counts as not given.
 */
export function readBooleanValues(program: Command): void {
  for (const command of program.commands) {
    const parseOptions = command.parseOptions.bind(command);
    command.parseOptions = (args) => {
      const parsed = parseOptions(withoutBooleanValues(command, args));
      forgetEmptyValues(command);
      return parsed;
    };
  }
}

function withoutBooleanValues(command: Command, args: string[]): string[] {
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  const words = args.slice(0, end).flatMap((word) => {
    const [, name, value] = /^--([a-z-]+)=(true|false)$/.exec(word) ?? [];
    const option = command.options.find(
      ({ long, required, optional }) => !required && !optional && (long === `--${name}` || long === `--no-${name}`),
    );
    if (name === undefined || option === undefined) return splitShortValue(command.options, word);
    const own = value === 'true' ? `--${name}` : `--no-${name}`;
    return command.options.some(({ long }) => long === own) ? [own] : [];
  });
  return [...words, ...args.slice(end)];
}
