import { type MetadataDatabase, migrate } from '@podwright/metadata';
import type { SnapshotInfo, SnapshotKind, SnapshotUsage } from './snapshotter.ts';

/** A snapshot record: the public information and the number that names the snapshot's directory. Numbers are never reused. */
export type SnapshotRecord = SnapshotInfo & { id: number };

type Row = { id: number; key: string; kind: SnapshotKind; parent: string | null; created_at_ms: number };

const MIGRATIONS = [
  `CREATE TABLE snapshots (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    snapshotter TEXT NOT NULL,
    key TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('active', 'committed', 'view')),
    parent_id INTEGER REFERENCES snapshots (id),
    created_at_ms INTEGER NOT NULL,
    size_bytes INTEGER,
    inodes INTEGER,
    UNIQUE (snapshotter, key)
  ) STRICT;
  CREATE INDEX snapshots_by_parent ON snapshots (parent_id);`,
];

const COLUMNS = `SELECT s.id, s.key, s.kind, p.key AS parent, s.created_at_ms
  FROM snapshots s LEFT JOIN snapshots p ON p.id = s.parent_id`;

/** Prepares the SQL statements once: preparing a statement takes longer than running it. */
function statements(database: MetadataDatabase) {
  return {
    find: database.prepare(`${COLUMNS} WHERE s.snapshotter = ? AND s.key = ?`),
    list: database.prepare(`${COLUMNS} WHERE s.snapshotter = ? ORDER BY s.id`),
    ancestors: database.prepare(
      `WITH RECURSIVE chain (id, depth) AS (
        SELECT parent_id, 1 FROM snapshots WHERE id = ?
        UNION ALL SELECT s.parent_id, depth + 1 FROM snapshots s JOIN chain c ON s.id = c.id
      ) SELECT id FROM chain WHERE id IS NOT NULL ORDER BY depth`,
    ),
    children: database.prepare(`${COLUMNS} WHERE s.parent_id = ?`),
    insert: database.prepare(
      'INSERT INTO snapshots (id, snapshotter, key, kind, parent_id, created_at_ms) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    commit: database.prepare("UPDATE snapshots SET kind = 'committed', key = ? WHERE id = ?"),
    delete: database.prepare('DELETE FROM snapshots WHERE id = ?'),
    usage: database.prepare('SELECT size_bytes, inodes FROM snapshots WHERE id = ?'),
    setUsage: database.prepare('UPDATE snapshots SET size_bytes = ?, inodes = ? WHERE id = ?'),
  };
}

/** The records of one snapshotter. Every change is a single transaction. */
export class SnapshotRecords {
  readonly #database: MetadataDatabase;
  readonly #snapshotter: string;
  readonly #statements: ReturnType<typeof statements>;

  constructor(database: MetadataDatabase, snapshotter: string) {
    migrate(database, 'snapshots', MIGRATIONS);
    this.#database = database;
    this.#snapshotter = snapshotter;
    this.#statements = statements(database);
  }

  find(key: string): SnapshotRecord | undefined {
    const row = this.#statements.find.get(this.#snapshotter, key);
    return row === undefined ? undefined : toRecord(row as Row);
  }

  list(): SnapshotRecord[] {
    return (this.#statements.list.all(this.#snapshotter) as Row[]).map(toRecord);
  }

  /** Returns the largest snapshot number ever assigned, or 0 if there is none. */
  lastId(): number {
    const row = this.#database.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'snapshots'").get();
    return (row as { seq: number } | undefined)?.seq ?? 0;
  }

  /** Returns the numbers of the ancestors of `id`, nearest first. */
  ancestors(id: number): number[] {
    return (this.#statements.ancestors.all(id) as { id: number }[]).map((row) => row.id);
  }

  children(id: number): SnapshotRecord[] {
    return (this.#statements.children.all(id) as Row[]).map(toRecord);
  }

  insert(record: SnapshotRecord, parentId: number | undefined): void {
    const { id, key, kind, createdAtMs } = record;
    this.#statements.insert.run(id, this.#snapshotter, key, kind, parentId ?? null, createdAtMs);
  }

  commit(id: number, name: string): void {
    this.#statements.commit.run(name, id);
  }

  delete(id: number): void {
    this.#database.writeEvenIfFull(() => this.#statements.delete.run(id));
  }

  /** Returns the cached usage of a committed snapshot. */
  usage(id: number): SnapshotUsage | undefined {
    const row = this.#statements.usage.get(id);
    const { size_bytes: sizeBytes, inodes } = row as { size_bytes: number | null; inodes: number | null };
    return sizeBytes === null || inodes === null ? undefined : { sizeBytes, inodes };
  }

  setUsage(id: number, { sizeBytes, inodes }: SnapshotUsage): void {
    this.#database.writeEvenIfFull(() => this.#statements.setUsage.run(sizeBytes, inodes, id));
  }
}

function toRecord({ id, key, kind, parent, created_at_ms }: Row): SnapshotRecord {
  return { id, key, kind, parent: parent ?? '', createdAtMs: created_at_ms };
}
