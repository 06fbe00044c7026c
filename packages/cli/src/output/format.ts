import { InvalidArgumentError } from 'commander';
import { terminalJson } from './terminal-text.ts';

export type OutputFormat = 'text' | 'json' | 'yaml';

/** Reads the value of `-o`. */
export function parseOutputFormat(value: string): OutputFormat {
  if (value === 'json' || value === 'yaml') return value;
  throw new InvalidArgumentError(`must be one of json, yaml`);
}

/** The same of a command that has a table with more columns, too. */
export function parseWideFormat(value: string): OutputFormat | 'wide' {
  if (value === 'json' || value === 'yaml' || value === 'wide') return value;
  throw new InvalidArgumentError(`must be one of wide, json, yaml`);
}

/** Prints `value` as JSON or YAML, or what `text` makes of it, which is to be escaped already. */
export async function printAs(format: OutputFormat | 'wide', value: unknown, text: () => string): Promise<void> {
  if (format === 'json') console.log(terminalJson(value, 2));
  // few want YAML, and its writer takes as long to load as all else
  else if (format === 'yaml') process.stdout.write((await import('./terminal-yaml.ts')).terminalYaml(value));
  else console.log(text());
}
