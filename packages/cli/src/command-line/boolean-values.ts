import type { Command, Option } from 'commander';
import { forgetEmptyValues } from './empty-values.ts';

/**
 * Makes all commands accept kubectl's option syntax: `=true` and `=false` for booleans (`--wait=false` is the same as `--no-wait`), and `=`
 * before the value of a short option (`-o=json`). An empty namespace or selector is treated as unset.
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

/**
 * Splits a word such as `-o=json` or `-fn=team` at its equals sign, which is not part of the value, as in kubectl. Drops `-w=false`, and
 * leaves any other word unchanged.
 */
function splitShortValue(options: readonly Option[], word: string): string[] {
  const [, letters, value] = /^-([A-Za-z]+)=(.*)$/s.exec(word) ?? [];
  if (letters === undefined || value === undefined) return [word];
  const known = [...letters].map((letter) => options.find(({ short }) => short === `-${letter}`));
  const last = known.pop();
  if (last === undefined || known.some((option) => option === undefined || option.required)) return [word];
  if (last.required) return [`-${letters}`, value];
  const before = letters.length > 1 ? [`-${letters.slice(0, -1)}`] : [];
  if (value === 'true') return [`-${letters}`];
  return value === 'false' ? before : [word];
}
