export { checkWritable, migrate, openDatabase } from './database.ts';
export { MetadataDatabase, type MetadataStatement } from './metadata-database.ts';
export { type DamagedRecord, type NamedRecord, RecordTable } from './record-table.ts';
