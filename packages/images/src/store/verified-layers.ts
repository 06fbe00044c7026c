import { type MetadataDatabase, migrate } from '@podwright/metadata';

const SCHEMA = `
CREATE TABLE verified_layers (
  digest TEXT NOT NULL, diff_id TEXT NOT NULL, stream_bytes INTEGER NOT NULL, PRIMARY KEY (digest, diff_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX verified_layers_by_diff_id ON verified_layers (diff_id);`;

/** A layer's blob, and the diff ID claimed for it by a manifest and config. */
export type LayerBlob = { digest: string; diffId: string };

/**
 * Records the verified diff IDs of blobs. A manifest claiming that an unverified blob is an existing layer must not be trusted: the image
 * might be recorded with a blob that it cannot be unpacked from again, and a user who knows only a private layer's diff ID could gain
 * access to that layer. Images from earlier versions have no such records; their blobs are verified on the next pull.
 */
export class VerifiedLayers {
  readonly #database: MetadataDatabase;

  constructor(database: MetadataDatabase) {
    migrate(database, 'verified-layers', [SCHEMA]);
    this.#database = database;
  }

  has({ digest, diffId }: LayerBlob): boolean {
    const statement = this.#database.prepare('SELECT 1 FROM verified_layers WHERE digest = ? AND diff_id = ?');
    return statement.get(digest, diffId) !== undefined;
  }

  /** Returns the uncompressed size of the layer with this diff ID; `undefined` if none of its blobs has been verified. */
  streamBytesOf(diffId: string): number | undefined {
    const statement = this.#database.prepare('SELECT stream_bytes FROM verified_layers WHERE diff_id = ?');
    return (statement.get(diffId) as { stream_bytes: number } | undefined)?.stream_bytes;
  }

  /** Records a verified blob. */
  note({ digest, diffId }: LayerBlob, streamBytes: number): void {
    const statement = this.#database.prepare('INSERT OR IGNORE INTO verified_layers VALUES (?, ?, ?)');
    statement.run(digest, diffId, streamBytes);
  }

  /** Deletes the records of a deleted blob. */
  forget(digest: string): void {
    const statement = this.#database.prepare('DELETE FROM verified_layers WHERE digest = ?');
    this.#database.writeEvenIfFull(() => statement.run(digest));
  }
}
