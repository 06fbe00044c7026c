import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { formatDuration } from '@podwright/kube-api';
import { featureGates } from './feature-gates.ts';
import type { Field } from './fields/field.ts';
import { FIELDS, FILE_FIELDS } from './fields/field-table.ts';

const document = readFileSync(new URL('../../../docs/kubelet-configuration.md', import.meta.url), 'utf8');

function initialOf({ type, fallback }: Field): string {
  if (fallback === undefined || fallback === '') return '–';
  return `\`${type.name === 'duration' ? formatDuration(fallback as number) : JSON.stringify(fallback)}\``;
}

function effectOf({ effect }: Field): string {
  if (effect.kind === 'sets') return effect.how === undefined ? 'honoured' : `honoured: ${effect.how}`;
  return effect.kind === 'nothing' ? `changes nothing: ${effect.because}` : `only ${effect.values}: ${effect.because}`;
}

const cell = (text: string) => text.replaceAll('|', '\\|');

/** A row of the document for each field and each flag that is none. */
function expectedRows(): string[][] {
  return [...FIELDS].map(([name, field]) => {
    const flag = field.flag === undefined ? '–' : `\`--${field.flag}\``;
    const first = Object.hasOwn(FILE_FIELDS, name) ? [`\`${name}\``, flag] : [flag];
    return [...first, initialOf(field), field.about, effectOf(field)].map(cell);
  });
}

const rowsOf = (text: string) =>
  text
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .slice(2, -2)
        .split(/(?<!\\)\|/)
        .map((one) => one.trim()),
    );

test('the document has every field and flag with its default and what it does', () => {
  const sorted = (rows: string[][]) => rows.map((row) => row.join(' | ')).sort();
  assert.deepEqual(sorted(rowsOf(document.slice(0, document.indexOf('## Feature gates')))), sorted(expectedRows()));
});

test('the document names the feature gates that can only be set to what this kubelet does', () => {
  const gates = featureGates().flatMap(({ name, behaves }) =>
    behaves === undefined ? [] : [[`\`${name}\``, `\`${behaves}\``]],
  );
  assert.deepEqual(rowsOf(document.slice(document.indexOf('## Feature gates'))), gates);
});
