/** Loads the tables of all kinds at the first request for one: only clients such as kubectl need them. */
export const loadTables = (): Promise<typeof import('./table-of.ts')> => import('./table-of.ts');
