export * from './database.ts';
export * from './disk-reserve.ts';
export * from './record-table.ts';
