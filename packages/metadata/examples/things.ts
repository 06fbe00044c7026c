import { migrate, openDatabase, RecordTable } from '@podwright/metadata';

type Thing = { id: string; name: string; color: string };

/** Validates a stored record. Rows for which this throws are deleted and reported to `onDamaged`. */
function decode(value: unknown): Thing {
  const { id, name, color } = value as Record<keyof Thing, unknown>;
  if (typeof id === 'string' && typeof name === 'string' && typeof color === 'string') return { id, name, color };
  throw new Error('id, name and color are strings');
}

const database = openDatabase(process.argv[2] ?? 'things.db');
migrate(database, 'things', [
  'CREATE TABLE things (id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, record TEXT NOT NULL) STRICT',
]);
const things = new RecordTable<Thing>(database, {
  table: 'things',
  noun: 'thing',
  version: 1,
  decode,
  onDamaged: ({ id, reason }) => console.error(`thing ${id}: ${reason}`),
});
things.put({ id: '4f1d', name: 'first', color: 'red' });
things.update('4f1d', (thing) => ({ ...thing, color: 'green' }));
console.log(things.find('4f')?.name, things.byName('first')?.color);
database.close();
