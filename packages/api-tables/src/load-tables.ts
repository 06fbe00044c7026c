/** Loads the tables of all kinds when a table is first requested, because only clients such as kubectl request tables. */
export const loadTables = (): Promise<typeof import('./table-of.ts')> => import('./table-of.ts');

export const loadCustomTables = (): Promise<typeof import('./custom.ts')> => import('./custom.ts');
