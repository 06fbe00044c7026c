/** Tables of custom kinds (apiextensions-apiserver, registry/customresource/tableconvertor). */
import { jsonPath } from '@podwright/custom-resources';
import type { ApiObject } from '@podwright/kube-kinds';
import type { CustomColumn } from '@podwright/kube-schema';
import { age, type Cell, type Column, CREATED_AT, type KindTable, kindTable, NAME } from './column.ts';

const AGE_COLUMN: CustomColumn = {
  name: 'Age',
  type: 'date',
  description: CREATED_AT.definition!.description,
  jsonPath: '.metadata.creationTimestamp',
};

/** Returns the table of a custom kind. By default, its columns are name and age. */
export const customTable = (columns: readonly CustomColumn[] = [AGE_COLUMN]): KindTable =>
  kindTable([NAME, ...columns.map(customColumn)]);

function customColumn({
  name,
  type,
  format = '',
  description,
  priority = 0,
  jsonPath: path,
}: CustomColumn): Column<ApiObject> {
  const find = jsonPath(path) ?? (() => []);
  const shown = description ?? `Custom resource definition column (in JSONPath format): ${path}`;
  return {
    definition: { name, type, format, description: shown, priority },
    cell: (object, nowMs) => cellOf(find(object), { type, nowMs }),
  };
}

function cellOf([value]: readonly unknown[], { type, nowMs }: { type: string; nowMs: number }): Cell {
  if (value === undefined || value === null) return null;
  switch (type) {
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return dateCell(value, nowMs);
    default:
      return typeof value === 'object' ? JSON.stringify(value) : String(value);
  }
}

const dateCell = (value: unknown, nowMs: number): Cell =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value)) ? age(value, nowMs) : '<invalid>';
