import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as z from 'zod';
import { FIELDS } from '../../../kubelet-configuration/src/fields/field-table.ts';
import { KEY_ONLY_FIELDS } from '../../../kubelet-configuration/src/fields/key-only.ts';
import { FileSchema } from './file-schema.ts';
import { parseConfig } from './parse-config.ts';

const document = readFileSync(new URL('../../../../docs/configuration.md', import.meta.url), 'utf8');

type Key = { type: string; default: string };

type JsonSchema = {
  type?: string;
  enum?: string[];
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: JsonSchema | false;
};

/** A configuration with every optional table, from which the defaults of all keys can be read. */
const everything = parseConfig(
  '[runtime.handlers.name]\ntask = "shim-v2"\nshim = {}\n[runtime.plugins.name]\npackage = "x"\n[runtime.tcp]\nport = 1\ninsecure = true\n',
  'everything',
);
const SET_HERE: Record<string, string> = { 'runtime.tcp.insecure': '`false`', 'runtime.handlers.name.task': '`"oci"`' };

function typeOf({ type, enum: values, items }: JsonSchema): string {
  if (values !== undefined) return values.map((value) => `\`"${value}"\``).join(', ');
  if (type === 'array') return `list of ${typeOf(items!)}s`;
  return type === 'object' ? 'table' : type!;
}

function defaultOf(path: string[], needed: boolean): string {
  if (needed) return 'needed';
  const setHere = SET_HERE[path.join('.')];
  if (setHere !== undefined) return setHere;
  const value = path.reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], everything);
  return value === undefined ? '–' : `\`${JSON.stringify(value)}\``;
}

/** Returns every key in the schema by its path. User-chosen table names are replaced with NAME. */
function schemaKeys(schema: JsonSchema, path: string[] = []): [string, Key][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, at]): [string, Key][] => {
    const here = [...path, name];
    if (at.properties !== undefined) return schemaKeys(at, here);
    if (at.additionalProperties && at.additionalProperties.properties !== undefined)
      return schemaKeys(at.additionalProperties, [...here, 'name']);
    const value = defaultOf(here, schema.required?.includes(name) ?? false);
    return [[here.join('.').replace('.name.', '.NAME.'), { type: typeOf(at), default: value }]];
  });
}

/** Returns every key in the document's tables. The heading above a table names its TOML table. */
function documentKeys(): [string, Key][] {
  let table = '';
  return document.split('\n').flatMap((line): [string, Key][] => {
    const heading = /^## (?:`\[(.+)\]`)?/.exec(line);
    if (heading !== null) table = heading[1] ?? '';
    const cells = line.startsWith('| `') ? line.split('|').map((cell) => cell.trim()) : [];
    const key = /^`(.+)`$/.exec(cells[1] ?? '')?.[1];
    if (key === undefined) return [];
    return [[table === '' ? key : `${table}.${key}`, { type: cells[2]!, default: cells[3]! }]];
  });
}

test('the document and the schema have the same keys, types and defaults', () => {
  const schema = z.toJSONSchema(FileSchema, { io: 'input' }) as JsonSchema;
  assert.deepEqual(Object.fromEntries(documentKeys()), Object.fromEntries(schemaKeys(schema)));
});

test('the document’s examples are valid configurations', () => {
  const examples = [...document.matchAll(/```toml\n(.*?)```/gs)].map((match) => match[1]!);
  assert.ok(examples.length >= 7);
  for (const example of examples) parseConfig(example, 'example');
});

test('the example error has the actual message', () => {
  const message = /^podwright: (read .*)$/m.exec(document)?.[1];
  const text = '\n\n\n\n\n[runtime]\nsnapshotter = "overlay"\n';
  assert.throws(() => parseConfig(text, '/etc/podwright/config.toml'), { message });
});

/** Keys of `[kubelet]` without a field or flag of upstream's kubelet. */
const KEYS_WITHOUT_FIELD = ['kubelet.net_raw_default', 'kubelet.device_plugin_dir'];

test('KubeletConfiguration fields correspond to keys of this file, and each [kubelet] key has a field', () => {
  const keys = schemaKeys(z.toJSONSchema(FileSchema, { io: 'input' }) as JsonSchema).map(([key]) => key);
  const upstreams = [...FIELDS].filter(([name]) => !Object.hasOwn(KEY_ONLY_FIELDS, name));
  const named = upstreams.flatMap(([, { key }]) => key?.path ?? []);
  const isNamed = (key: string) => named.some((one) => key === one || key.startsWith(`${one}.`));
  const unknown = named.filter((one) => !keys.some((key) => key === one || key.startsWith(`${one}.`)));
  assert.deepEqual(unknown, []);
  const missing = keys.filter((key) => key.startsWith('kubelet.') && !isNamed(key));
  assert.deepEqual(missing, KEYS_WITHOUT_FIELD);
});
