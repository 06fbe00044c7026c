import { type MetadataDatabase, migrate } from '@podwright/metadata';

const SCHEMA = `
CREATE TABLE verified_layers (
  digest TEXT NOT NULL, diff_id TEXT NOT NULL, stream_bytes INTEGER NOT NULL, PRIMARY KEY (digest, diff_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX verified_layers_by_diff_id ON verified_layers (diff_id);`;

/** A packed layer by the digest of its blob, and what it is said to unpack to. */
export type PackedLayer = { digest: string; diffId: string };

/**
 * Which blobs were seen to unpack to which diff ids. A manifest that names another blob for a layer that is there must not be
 * believed: the image would be recorded with a blob that it cannot be made from again, and a user who does not have a layer would get
 * it by its diff id. Records of earlier versions have no such notes; their blobs are read once when they are pulled again.
 */
export class VerifiedLayers {
  readonly #database: MetadataDatabase;

  constructor(database: MetadataDatabase) {
    migrate(database, 'verified-layers', [SCHEMA]);
    this.#database = database;
  }

  has({ digest, diffId }: PackedLayer): boolean {
    const statement = this.#database.prepare('SELECT 1 FROM verified_layers WHERE digest = ? AND diff_id = ?');
    return statement.get(digest, diffId) !== undefined;
  }

  /** Bytes that every packing of this layer unpacks to; undefined if none was seen yet. */
  streamBytesOf(diffId: string): number | undefined {
    const statement = this.#database.prepare('SELECT stream_bytes FROM verified_layers WHERE diff_id = ?');
    return (statement.get(diffId) as { stream_bytes: number } | undefined)?.stream_bytes;
  }

  /** Notes what unpacking, or reading, has shown. */
  note({ digest, diffId }: PackedLayer, streamBytes: number): void {
    const statement = this.#database.prepare('INSERT OR IGNORE INTO verified_layers VALUES (?, ?, ?)');
    statement.run(digest, diffId, streamBytes);
  }

  /** Drops what is known of a blob that is gone. */
  forget(digest: string): void {
    const statement = this.#database.prepare('DELETE FROM verified_layers WHERE digest = ?');
    this.#database.writeEvenIfFull(() => statement.run(digest));
  }
}
