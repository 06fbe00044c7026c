export { loadCustomTables, loadTables } from './load-tables.ts';
export type { IncludeObject, TableOptions } from './table-of.ts';
