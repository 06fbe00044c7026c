import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodwrightError } from '@podwright/base';
import * as z from 'zod';
import { kubeletOptionsOf, UPSTREAM_DEFAULTS } from '../daemon/kubelet-options.ts';
import { runtimeOptions } from '../daemon/runtime-options.ts';
import { FileSchema } from './file-schema.ts';
import { configOfText } from './node-config.ts';

/** Unusual numbers to use as configuration values, in TOML syntax. */
const ODD = [
  '0',
  '-0',
  '-1',
  '0.5',
  '1e300',
  'nan',
  'inf',
  '-inf',
  '2147483648',
  '9007199254740991',
  '9007199254740993',
];
/** Keys that a table requires in addition to the tested one, by table name. */
const NEEDED: Record<string, string> = { 'runtime.tcp': 'insecure = true\n' };

type JsonSchema = { type?: string; properties?: Record<string, JsonSchema>; additionalProperties?: JsonSchema | false };

function numberKeys({ properties = {} }: JsonSchema, path: string[] = []): string[][] {
  return Object.entries(properties).flatMap(([name, at]) => {
    const here = [...path, name];
    if (at.type === 'integer' || at.type === 'number') return [here];
    return numberKeys(at, here);
  });
}

const keys = numberKeys(z.toJSONSchema(FileSchema, { io: 'input', unrepresentable: 'any' }) as JsonSchema);

function numbersIn(value: unknown, seen = new Set<unknown>()): number[] {
  if (typeof value === 'number') return [value];
  if (typeof value !== 'object' || value === null || seen.has(value)) return [];
  seen.add(value);
  return Object.values(value).flatMap((one) => numbersIn(one, seen));
}

test('an odd number in the configuration is rejected with its line and key, or yields valid options', () => {
  assert.ok(keys.length > 15, String(keys.length));
  for (const path of keys)
    for (const number of ODD) {
      const [table, key] = [path.slice(0, -1).join('.'), path.at(-1)!];
      const text = `${table === '' ? '' : `[${table}]\n`}${NEEDED[table] ?? ''}${key} = ${number}\n`;
      try {
        const config = configOfText(text, { file: '/c.toml', flags: {} });
        const node = { defaults: UPSTREAM_DEFAULTS, runtimeEndpoint: 'unix:///none', criApiVersion: 'v1' } as const;
        const used = numbersIn([kubeletOptionsOf(config, node), runtimeOptions(config)]);
        assert.ok(!used.some(Number.isNaN), `${text}: a number of the options is NaN`);
        assert.ok(!['nan', 'inf', '-inf', '0.5', '1e300'].includes(number), `${text}: accepted`);
      } catch (error) {
        assert.ok(error instanceof PodwrightError && error.code === 'invalid_argument', `${text}: ${error}`);
        assert.match(error.message, new RegExp(`/c\\.toml:\\d+.*(?:${key}|number|integer|Integer)`), text);
      }
    }
});
