import { InvalidArgumentError } from 'commander';
import { stringify } from 'yaml';

export type OutputFormat = 'table' | 'wide' | 'json' | 'yaml';

/** Reads the value of `-o`. */
export function parseOutputFormat(value: string): OutputFormat {
  if (value === 'json' || value === 'yaml' || value === 'wide') return value;
  throw new InvalidArgumentError(`"${value}" is not one of json, yaml, wide`);
}

/** Prints `value` as JSON or YAML, or what `table` makes of it. */
export function printAs(format: OutputFormat, value: unknown, table: () => string): void {
  if (format === 'json') console.log(JSON.stringify(value, jsonBigInt, 2));
  else if (format === 'yaml') process.stdout.write(stringify(JSON.parse(JSON.stringify(value, jsonBigInt))));
  else console.log(table());
}

function jsonBigInt(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}
