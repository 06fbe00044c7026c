import { InvalidArgumentError } from 'commander';
import { terminalJson } from './terminal-text.ts';

export type OutputFormat = 'text' | ValueFormatName;
/** Formats that say all of a value. */
export type ValueFormatName = (typeof VALUE_FORMATS)[number];
const VALUE_FORMATS = ['json', 'yaml', 'kyaml'] as const;

export const isValueFormat = (name: string): name is ValueFormatName =>
  (VALUE_FORMATS as readonly string[]).includes(name);

/** Reads the value of `-o`. */
export function parseOutputFormat(value: string): OutputFormat {
  if (isValueFormat(value)) return value;
  throw new InvalidArgumentError(`must be one of ${VALUE_FORMATS.join(', ')}`);
}

/** The same of a command that has a table with more columns, too. */
export function parseWideFormat(value: string): OutputFormat | 'wide' {
  if (isValueFormat(value) || value === 'wide') return value;
  throw new InvalidArgumentError(`must be one of wide, ${VALUE_FORMATS.join(', ')}`);
}

/** Prints `value` as JSON or YAML, or what `text` makes of it, which is to be escaped already. */
export async function printAs(format: OutputFormat | 'wide', value: unknown, text: () => string): Promise<void> {
  if (format === 'text' || format === 'wide') console.log(text());
  else await printWhole(format, value);
}

/** Prints all of `value`. */
export async function printWhole(format: ValueFormatName, value: unknown): Promise<void> {
  if (format === 'json') return console.log(terminalJson(value, 2));
  // few want them, and the writer of YAML takes as long to load as all else
  if (format === 'yaml') process.stdout.write((await import('./terminal-yaml.ts')).terminalYaml(value));
  else process.stdout.write((await import('./terminal-kyaml.ts')).terminalKyaml(value));
}
