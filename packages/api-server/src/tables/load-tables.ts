/** Loads the tables of all kinds on the first request for a table, because only clients such as kubectl ask for tables. */
export const loadTables = (): Promise<typeof import('./table-of.ts')> => import('./table-of.ts');
