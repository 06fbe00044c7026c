export * from './database.ts';
export { MetadataDatabase, type MetadataStatement } from './metadata-database.ts';
export * from './record-table.ts';
