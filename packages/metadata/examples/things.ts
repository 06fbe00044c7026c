import { migrate, openDatabase, RecordTable } from '@podwright/metadata';

type Thing = { id: string; name: string; color: string };

const database = openDatabase(process.argv[2] ?? 'things.db');
migrate(database, 'things', [
  'CREATE TABLE things (id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, record TEXT NOT NULL) STRICT',
]);
const things = new RecordTable<Thing>(database, 'things', 'thing');
things.put({ id: '4f1d', name: 'first', color: 'red' });
things.update('4f1d', (thing) => ({ ...thing, color: 'green' }));
console.log(things.find('4f')?.name, things.byName('first')?.color);
database.close();
