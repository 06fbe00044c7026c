import assert from 'node:assert/strict';
import type { ApiObject } from '@podwright/kube-kinds';
import type { Cell } from './column.ts';
import { type Table, tableOf } from './table-of.ts';

export const NOW_MS = Date.parse('2026-01-01T12:00:00Z');

export const ago = (seconds: number): string => new Date(NOW_MS - seconds * 1000).toISOString();

export const DAY = 86_400;

/** Returns the table for objects of one kind. `key`: `Kind.group`. */
export function tableWith(key: string, ...objects: object[]): Table {
  const [kind = '', ...group] = key.split('.');
  const complete = objects.map((object) => ({ metadata: { name: 'x' }, ...object })) as ApiObject[];
  return tableOf({ kind, group: group.join('.') }, complete, {
    includeObject: 'None',
    resourceVersion: '7',
    nowMs: NOW_MS,
  });
}

export function checkRow(key: string, object: object, expected: Record<string, Cell>): void {
  const { columnDefinitions, rows } = tableWith(key, object);
  const names = columnDefinitions!.map(({ name }) => name);
  const cells = Object.fromEntries(Object.keys(expected).map((name) => [name, rows[0]!.cells[names.indexOf(name)]]));
  assert.deepEqual(cells, expected);
}
