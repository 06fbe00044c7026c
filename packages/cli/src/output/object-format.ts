import { errorMessage } from '@podwright/base';
import { InvalidArgumentError } from 'commander';
import { renderJsonPath } from './jsonpath.ts';
import { parseTemplate } from './jsonpath-parser.ts';
import { escapeTerminal, print, terminalJson } from './terminal-text.ts';

/** How objects of the API are shown: `-o`. */
export type ObjectFormat = { type: 'table' } | { type: 'wide' } | { type: 'name' } | ValueFormat;
/** Those that need no more than the value. */
export type ValueFormat = { type: 'json' } | { type: 'yaml' } | { type: 'jsonpath'; template: string };

/** Reads the value of `-o`. */
export function parseObjectFormat(value: string): ObjectFormat {
  if (value === 'json' || value === 'yaml') return { type: value };
  if (value === 'wide' || value === 'name') return { type: value };
  const template = /^jsonpath=(.*)$/s.exec(value)?.[1];
  if (template === undefined) {
    const form = value === 'jsonpath' ? `: write -o jsonpath='{.items[*].metadata.name}'` : '';
    throw new InvalidArgumentError(`"${value}" is not one of wide, json, yaml, name, jsonpath=TEMPLATE${form}`);
  }
  try {
    parseTemplate(template);
  } catch (error) {
    throw new InvalidArgumentError(errorMessage(error));
  }
  return { type: 'jsonpath', template };
}

/**
 * Prints a value in a format that is no table. What a template makes is left as it is where no terminal reads it, and gets no line
 * feed of ours, as with kubectl.
 */
export async function printValue(format: ValueFormat, value: unknown): Promise<void> {
  if (format.type === 'json') return print(terminalJson(value, 2));
  // few want YAML, and its writer takes long to load
  if (format.type === 'yaml')
    return void process.stdout.write((await import('./terminal-yaml.ts')).terminalYaml(value));
  const text = renderJsonPath(format.template, value);
  process.stdout.write(process.stdout.isTTY ? escapeTerminal(text) : text);
}
