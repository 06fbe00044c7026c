import { errorMessage } from '@podwright/base';
import { InvalidArgumentError } from 'commander';
import { isValueFormat, printWhole, type ValueFormatName } from './format.ts';
import { renderJsonPath } from './jsonpath.ts';
import { type PathStep, parsePath, parseTemplate } from './jsonpath-parser.ts';
import { escapeTerminal } from './terminal-text.ts';

/** Output formats for API objects (`-o`). */
export type ObjectFormat = TableFormat | { type: 'name' } | ValueFormat;
export type TableFormat =
  | { type: 'table' }
  | { type: 'wide' }
  | { type: 'custom-columns'; columns: { title: string; path: PathStep[] }[] };
/** Formats that can print any value, because they do not need the columns of a kind. */
export type ValueFormat = { type: ValueFormatName } | { type: 'jsonpath'; template: string };

/** Parses the value of `-o` for a command that prints API objects. */
export function parseObjectFormat(value: string): ObjectFormat {
  if (isValueFormat(value)) return { type: value };
  if (value === 'wide' || value === 'name') return { type: value };
  const columns = /^custom-columns=(.*)$/s.exec(value)?.[1];
  if (columns !== undefined) return { type: 'custom-columns', columns: columns.split(',').map(parseColumn) };
  const template = /^jsonpath=(.*)$/s.exec(value)?.[1];
  if (template === undefined) {
    const forms = `wide, json, yaml, kyaml, name, jsonpath='{.items[*].metadata.name}', custom-columns=NAME:.metadata.name`;
    throw new InvalidArgumentError(`must be one of ${forms}`);
  }
  try {
    parseTemplate(template);
  } catch (error) {
    throw new InvalidArgumentError(errorMessage(error));
  }
  return { type: 'jsonpath', template };
}

/** Whether this output format is a table. */
export const isTable = (format: ObjectFormat): format is TableFormat =>
  format.type === 'table' || format.type === 'wide' || format.type === 'custom-columns';

/** Parses `TITLE:PATH`. The title may be empty. As in kubectl, the path needs neither braces nor a leading dot. */
function parseColumn(text: string): { title: string; path: PathStep[] } {
  const [, title, path] = /^([^:]*):(.+)$/s.exec(text) ?? [];
  if (title === undefined) throw new InvalidArgumentError(`"${text}" is not TITLE:PATH, such as NAME:.metadata.name`);
  try {
    return { title, path: parsePath(path!) };
  } catch (error) {
    throw new InvalidArgumentError(errorMessage(error));
  }
}

/**
 * Prints a value in a non-table format. As in kubectl, the result of a template is printed unchanged, without a trailing newline. It is
 * escaped only when printed on a terminal.
 */
export async function printValue(format: ValueFormat, value: unknown): Promise<void> {
  if (format.type !== 'jsonpath') return printWhole(format.type, value);
  const text = renderJsonPath(format.template, value);
  process.stdout.write(process.stdout.isTTY ? escapeTerminal(text) : text);
}
