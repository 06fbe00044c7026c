import { InvalidArgumentError } from 'commander';
import { terminalJson } from './terminal-text.ts';

export type OutputFormat = 'table' | 'wide' | 'json' | 'yaml';

/** Reads the value of `-o`. */
export function parseOutputFormat(value: string): OutputFormat {
  if (value === 'json' || value === 'yaml' || value === 'wide') return value;
  throw new InvalidArgumentError(`"${value}" is not one of json, yaml, wide`);
}

/** Prints `value` as JSON or YAML, or what `table` makes of it, which is to be escaped already. */
export async function printAs(format: OutputFormat, value: unknown, table: () => string): Promise<void> {
  if (format === 'json') console.log(terminalJson(value, 2));
  // few want YAML, and its writer takes as long to load as all else
  else if (format === 'yaml') process.stdout.write((await import('./terminal-yaml.ts')).terminalYaml(value));
  else console.log(table());
}
