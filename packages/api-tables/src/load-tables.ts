/** Lazily loads the tables of all kinds, as only clients such as kubectl request them. */
export const loadTables = (): Promise<typeof import('./table-of.ts')> => import('./table-of.ts');

export const loadCustomTables = (): Promise<typeof import('./custom.ts')> => import('./custom.ts');
