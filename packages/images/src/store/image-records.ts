import { type MetadataDatabase, migrate } from '@podwright/metadata';
import type { ImageConfig } from '../spec/oci-image.ts';
import type { ImageRecord } from './image-service.ts';

/** What a pull or a load hands over to be recorded. */
export type NewImage = {
  id: string;
  manifestDigest: string;
  config: ImageConfig;
  /** Chain ids of all layers, bottom first. */
  chain: string[];
  /** Digests of the blobs to keep. */
  content: string[];
  sizeBytes: number;
  /** Canonical names: `repo:tag` and `repo@digest`. A name that another image has moves to this one. */
  tags: string[];
  digests: string[];
};

/**
 * A record as it is stored; `pinned` is not, it follows from the options. `unsyncedBoot` is the id of the boot in which the
 * image came, until it is on the disk for sure ('').
 */
export type StoredImage = Omit<ImageRecord, 'pinned'> & { chain: string[]; unsyncedBoot: string };

const schema = `
CREATE TABLE images (
  id TEXT PRIMARY KEY, manifest_digest TEXT NOT NULL, config TEXT NOT NULL, chain TEXT NOT NULL, size_bytes INTEGER NOT NULL,
  unsynced_boot TEXT NOT NULL
) STRICT;
CREATE TABLE image_names (
  name TEXT PRIMARY KEY, kind TEXT NOT NULL, image_id TEXT NOT NULL REFERENCES images (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE TABLE image_needs (
  key TEXT NOT NULL, image_id TEXT NOT NULL REFERENCES images (id) ON DELETE CASCADE, PRIMARY KEY (key, image_id)
) STRICT, WITHOUT ROWID;`;

type ImageRow = {
  id: string;
  manifest_digest: string;
  config: string;
  chain: string;
  size_bytes: number;
  unsynced_boot: string;
};
type NameRow = { name: string; kind: 'tag' | 'digest'; image_id: string };

/** The images' tables. What each image needs is written with it in one transaction. */
export class ImageRecords {
  readonly #database: MetadataDatabase;
  readonly #bootId: string;
  /** All records in order of creation; read again after a change. */
  #cache: StoredImage[] | undefined;

  constructor(database: MetadataDatabase, bootId: string) {
    migrate(database, 'images', [schema]);
    this.#database = database;
    this.#bootId = bootId;
  }

  list(): StoredImage[] {
    this.#cache ??= this.#read();
    return this.#cache;
  }

  put(image: NewImage): void {
    this.putAll([image]);
  }

  /** Records images, or their further names, all or none, and moves the names that other images have. */
  putAll(images: NewImage[]): void {
    this.#database.transaction(() => {
      for (const image of images) this.#put(image);
    })();
    this.#cache = undefined;
  }

  remove(id: string): void {
    this.#database.prepare('DELETE FROM images WHERE id = ?').run(id);
    this.#cache = undefined;
  }

  /** Notes that images are on the disk. */
  markSynced(ids: string[]): void {
    const statement = this.#database.prepare("UPDATE images SET unsynced_boot = '' WHERE id = ?");
    this.#database.transaction(() => {
      for (const id of ids) statement.run(id);
    })();
    this.#cache = undefined;
  }

  /** Notes that an image was made again in this boot. */
  markUnsynced(id: string): void {
    this.#database.prepare('UPDATE images SET unsynced_boot = ? WHERE id = ?').run(this.#bootId, id);
    this.#cache = undefined;
  }

  /** Digests and chain ids that an image needs. */
  needsOf(id: string): string[] {
    const rows = this.#database.prepare('SELECT key FROM image_needs WHERE image_id = ?').all(id);
    return (rows as { key: string }[]).map(({ key }) => key);
  }

  /** True if some image needs the blob with this digest, or the snapshot with this chain id. */
  needs(key: string): boolean {
    return this.#database.prepare('SELECT 1 FROM image_needs WHERE key = ?').get(key) !== undefined;
  }

  #put(image: NewImage): void {
    const database = this.#database;
    database
      .prepare(
        `INSERT INTO images (id, manifest_digest, config, chain, size_bytes, unsynced_boot) VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET manifest_digest = excluded.manifest_digest, size_bytes = excluded.size_bytes`,
      )
      .run(
        image.id,
        image.manifestDigest,
        JSON.stringify(image.config),
        JSON.stringify(image.chain),
        image.sizeBytes,
        this.#bootId,
      );
    const name = database.prepare(
      'INSERT INTO image_names (name, kind, image_id) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET image_id = excluded.image_id',
    );
    for (const tag of image.tags) name.run(tag, 'tag', image.id);
    for (const digest of image.digests) name.run(digest, 'digest', image.id);
    const need = database.prepare('INSERT OR IGNORE INTO image_needs (key, image_id) VALUES (?, ?)');
    for (const key of [...image.content, ...image.chain]) need.run(key, image.id);
  }

  #read(): StoredImage[] {
    const images = this.#database.prepare('SELECT * FROM images ORDER BY rowid').all() as ImageRow[];
    const names = this.#database.prepare('SELECT * FROM image_names').all() as NameRow[];
    const namesOf = (id: string, kind: NameRow['kind']) =>
      names.filter((row) => row.image_id === id && row.kind === kind).map(({ name }) => name);
    return images.map((row) => {
      const chain = JSON.parse(row.chain) as string[];
      return {
        id: row.id,
        repoTags: namesOf(row.id, 'tag'),
        repoDigests: namesOf(row.id, 'digest'),
        sizeBytes: row.size_bytes,
        manifestDigest: row.manifest_digest,
        config: JSON.parse(row.config) as ImageConfig,
        chainId: chain.at(-1) ?? '',
        chain,
        unsyncedBoot: row.unsynced_boot,
      };
    });
  }
}
