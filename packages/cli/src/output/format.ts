import { InvalidArgumentError } from 'commander';
import { terminalJson } from './terminal-text.ts';

export type OutputFormat = 'text' | ValueFormatName;
/** Names of the formats that print the complete value. */
export type ValueFormatName = (typeof VALUE_FORMATS)[number];
const VALUE_FORMATS = ['json', 'yaml', 'kyaml'] as const;

export const isValueFormat = (name: string): name is ValueFormatName =>
  (VALUE_FORMATS as readonly string[]).includes(name);

/** Parses the value of `-o` for a command whose default output is text. */
export function parseOutputFormat(value: string): OutputFormat {
  if (isValueFormat(value)) return value;
  throw new InvalidArgumentError(`must be one of ${VALUE_FORMATS.join(', ')}`);
}

/** Parses the value of `-o` for a command with a wide table. */
export function parseWideFormat(value: string): OutputFormat | 'wide' {
  if (isValueFormat(value) || value === 'wide') return value;
  throw new InvalidArgumentError(`must be one of wide, ${VALUE_FORMATS.join(', ')}`);
}

/** Prints `value` as JSON or YAML or, in other formats, the text returned by `text`, which must already be escaped for the terminal. */
export async function printAs(format: OutputFormat | 'wide', value: unknown, text: () => string): Promise<void> {
  if (format === 'text' || format === 'wide') console.log(text());
  else await printWhole(format, value);
}

/** Prints the complete `value`. */
export async function printWhole(format: ValueFormatName, value: unknown): Promise<void> {
  if (format === 'json') return console.log(terminalJson(value, 2));
  // load the YAML library lazily, because this takes as long as loading everything else
  if (format === 'yaml') process.stdout.write((await import('./terminal-yaml.ts')).terminalYaml(value));
  else process.stdout.write((await import('./terminal-kyaml.ts')).terminalKyaml(value));
}
