import { errorCode, errorMessage, PodwrightError } from '@podwright/base';
import { type MetadataDatabase, migrate } from '@podwright/metadata';
import * as z from 'zod';
import { chainIds, isDigest } from '../content/digest.ts';
import { decode } from '../spec/decode-json.ts';
import type { ImageConfig } from '../spec/manifest.ts';
import { imageConfigSchema } from '../spec/manifest.ts';
import type { ImageRecord } from './image-service.ts';

/** An image to record after a pull or load. */
export type NewImage = {
  id: string;
  manifestDigest: string;
  config: ImageConfig;
  /** Chain IDs of all layers, bottom first. */
  chain: string[];
  /** Digests of the blobs that the image needs. */
  content: string[];
  sizeBytes: number;
  /** Canonical names: `repo:tag` and `repo@digest`. A name that belongs to another image is moved to this one. */
  tags: string[];
  digests: string[];
  /** Whether the image was loaded from a file. Such an image might not exist in any registry under its name. */
  isLoaded: boolean;
};

/**
 * A stored record. `pinned` is not stored, because it is derived from the options. `unsyncedBoot` is the ID of the boot during which the
 * image was written, or '' once it has been synced to disk.
 */
export type StoredImage = Omit<ImageRecord, 'pinned'> & { chain: string[]; unsyncedBoot: string };

/** An image whose record cannot be decoded. `names` are read from the table of image names. */
export type DamagedImage = { id: string; names: string[]; reason: string };

/** Version of the JSON format in a row of the table. Older records have no version and count as version 1. */
const RECORD_VERSION = 1;

const TABLES = `
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

/**
 * The names of images loaded from archives. Pulling a name removes it from here. The table is versioned separately, so that earlier
 * versions of Podwright ignore it after a downgrade. They do not update it, so a row is valid only while the name belongs to the same
 * image.
 */
const LOADED_NAMES = `
CREATE TABLE loaded_image_names (
  name TEXT PRIMARY KEY REFERENCES image_names (name) ON DELETE CASCADE, image_id TEXT NOT NULL
) STRICT, WITHOUT ROWID;`;

const SELECT_NAMES = `
SELECT image_names.*, loaded.name IS NOT NULL AS is_loaded
FROM image_names LEFT JOIN loaded_image_names AS loaded USING (name, image_id)`;

/** A row of the `images` table. The tables are STRICT, so SQLite enforces these column types. */
type ImageRow = {
  id: string;
  manifest_digest: string;
  config: string;
  chain: string;
  size_bytes: number;
  unsynced_boot: string;
};
type NameRow = { name: string; kind: 'tag' | 'digest'; image_id: string; is_loaded: number };

const chainSchema = z.array(z.string());
const versionSchema = z.object({ recordVersion: z.number().int().default(RECORD_VERSION) });

/** The image record tables. An image and its `image_needs` rows are written in one transaction. */
export class ImageRecords {
  readonly #database: MetadataDatabase;
  readonly #bootId: string;
  /** Cache of all records in creation order; invalidated by every change. */
  #cache: Records | undefined;

  constructor(database: MetadataDatabase, bootId: string) {
    migrate(database, 'images', [TABLES]);
    migrate(database, 'loaded images', [LOADED_NAMES]);
    this.#database = database;
    this.#bootId = bootId;
  }

  /** Returns all images with valid records, in creation order. */
  list(): StoredImage[] {
    return this.#records().images;
  }

  get(id: string): StoredImage | undefined {
    return this.#records().byId.get(id);
  }

  /** Returns the images with damaged records. `list` omits them, but their content is retained until they are removed. */
  damaged(): DamagedImage[] {
    return this.#records().damaged;
  }

  put(image: NewImage): void {
    this.putAll([image]);
  }

  /** Records images, or additional names of known images, in one transaction. Names that belong to other images are moved to these. */
  putAll(images: NewImage[]): void {
    this.#database.write(() => {
      for (const image of images) this.#put(image);
    });
    this.#cache = undefined;
  }

  remove(id: string): void {
    const statement = this.#database.prepare('DELETE FROM images WHERE id = ?');
    this.#database.writeEvenIfFull(() => statement.run(id));
    this.#cache = undefined;
  }

  removeNames(names: string[]): void {
    const statement = this.#database.prepare('DELETE FROM image_names WHERE name = ?');
    this.#database.writeEvenIfFull(() => {
      for (const name of names) statement.run(name);
    });
    this.#cache = undefined;
  }

  /** Marks images as synced to disk. */
  markSynced(ids: string[]): void {
    const statement = this.#database.prepare("UPDATE images SET unsynced_boot = '' WHERE id = ?");
    this.#database.writeEvenIfFull(() => {
      for (const id of ids) statement.run(id);
    });
    this.#cache = undefined;
  }

  /** Marks an image as written since the last boot and not yet synced. */
  markUnsynced(id: string): void {
    this.#database.prepare('UPDATE images SET unsynced_boot = ? WHERE id = ?').run(this.#bootId, id);
    this.#cache = undefined;
  }

  /** Returns the digests and chain IDs that an image needs. */
  needsOf(id: string): string[] {
    const rows = this.#database.prepare('SELECT key FROM image_needs WHERE image_id = ?').all(id);
    return (rows as { key: string }[]).map(({ key }) => key);
  }

  /** Whether any image needs the blob with this digest or the snapshot with this chain ID. */
  needs(key: string): boolean {
    return this.#database.prepare('SELECT 1 FROM image_needs WHERE key = ?').get(key) !== undefined;
  }

  #put(image: NewImage): void {
    const database = this.#database;
    database
      .prepare(
        `INSERT INTO images (id, manifest_digest, config, chain, size_bytes, unsynced_boot) VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET manifest_digest = excluded.manifest_digest, size_bytes = excluded.size_bytes,
           config = excluded.config, chain = excluded.chain`,
      )
      .run(
        image.id,
        image.manifestDigest,
        JSON.stringify({ recordVersion: RECORD_VERSION, ...image.config }),
        JSON.stringify(image.chain),
        image.sizeBytes,
        this.#bootId,
      );
    for (const tag of image.tags) this.#putName(tag, 'tag', image);
    for (const digest of image.digests) this.#putName(digest, 'digest', image);
    const need = database.prepare('INSERT OR IGNORE INTO image_needs (key, image_id) VALUES (?, ?)');
    for (const key of [...image.content, ...image.chain]) need.run(key, image.id);
  }

  #putName(name: string, kind: NameRow['kind'], { id, tags, isLoaded }: NewImage): void {
    const database = this.#database;
    database
      .prepare(
        `INSERT INTO image_names (name, kind, image_id) VALUES (?, ?, ?)
         ON CONFLICT (name) DO UPDATE SET image_id = excluded.image_id`,
      )
      .run(name, kind, id);
    database.prepare('DELETE FROM loaded_image_names WHERE name = ?').run(name);
    // A `repo@digest` name remains when the image's tag moves to another image. Such a name alone must not retain the old image.
    if (isLoaded && (kind === 'tag' || tags.length === 0))
      database.prepare('INSERT INTO loaded_image_names (name, image_id) VALUES (?, ?)').run(name, id);
  }

  #records(): Records {
    this.#cache ??= this.#read();
    return this.#cache;
  }

  #read(): Records {
    const rows = this.#database.prepare('SELECT * FROM images ORDER BY rowid').all() as ImageRow[];
    const names = this.#database.prepare(SELECT_NAMES).all() as NameRow[];
    const namesOf = (id: string) => names.filter((row) => row.image_id === id);
    const records: Records = { images: [], byId: new Map(), damaged: [] };
    for (const row of rows) {
      const own = namesOf(row.id);
      try {
        const image = decodeRow(row, own);
        records.images.push(image);
        records.byId.set(image.id, image);
      } catch (error) {
        if (errorCode(error) === 'failed_precondition') throw error;
        records.damaged.push({ id: row.id, names: own.map(({ name }) => name), reason: errorMessage(error) });
      }
    }
    return records;
  }
}

type Records = { images: StoredImage[]; byId: Map<string, StoredImage>; damaged: DamagedImage[] };

/** Decodes a row. Throws `failed_precondition` if the record was written by a newer version, and `invalid_argument` if it is damaged. */
function decodeRow({ id, ...row }: ImageRow, names: NameRow[]): StoredImage {
  const json = Buffer.from(row.config);
  const { recordVersion } = decode(versionSchema, json, 'config');
  if (recordVersion > RECORD_VERSION) throw tooNew(names[0]?.name ?? id, recordVersion);
  const { rootfs, ...config } = decode(imageConfigSchema, json, 'config');
  const diffIds = rootfs.diff_ids ?? [];
  const chain = decode(chainSchema, Buffer.from(row.chain), 'chain');
  if (chain.join() !== chainIds(diffIds).join()) throw damaged('the chain ids do not match the diff ids');
  if (![id, row.manifest_digest].every(isDigest)) throw damaged('an id is not a digest');
  if (row.size_bytes < 0) throw damaged('the size is negative');
  const ofKind = (kind: NameRow['kind']) => names.filter((name) => name.kind === kind).map(({ name }) => name);
  return {
    id,
    repoTags: ofKind('tag'),
    repoDigests: ofKind('digest'),
    sizeBytes: row.size_bytes,
    manifestDigest: row.manifest_digest,
    config: { ...config, rootfs: { ...rootfs, diff_ids: diffIds } },
    chainId: chain.at(-1) ?? '',
    isLoaded: names.some(({ is_loaded }) => is_loaded === 1),
    chain,
    unsyncedBoot: row.unsynced_boot,
  };
}

const damaged = (reason: string): PodwrightError => new PodwrightError('invalid_argument', reason);

function tooNew(name: string, version: number): PodwrightError {
  return new PodwrightError(
    'failed_precondition',
    `read the record of image ${name}: it has version ${version}, this Podwright supports up to ${RECORD_VERSION}; use the newer Podwright or another root directory`,
  );
}
