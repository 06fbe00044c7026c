import type { ArrivingBlob } from '../content/arriving-blob.ts';

/** Options of `UnpackLayer`. */
export type UnpackOptions = {
  /** Path of the layer's blob. It may be uncompressed, gzip or zstd, regardless of the media type. */
  blobPath: string;
  /** Set if the blob is still being downloaded; its bytes are then unpacked as they arrive. */
  arriving?: ArrivingBlob | undefined;
  mediaType: string;
  /** Private directory of the layer: empty or, if `overlayWhiteouts` is false, a full copy of the lower layers. */
  directory: string;
  /** If true, the layer's whiteouts are converted to overlayfs whiteouts; if false, they delete files from `directory`. */
  overlayWhiteouts: boolean;
  /** Directories of the lower layers, topmost first. Hard link targets and directory attributes are looked up there. */
  parentDirectories?: string[];
  /** If true, only computes the diff ID, without writing anything. */
  isDryRun?: boolean;
  /** Maximum length of the uncompressed stream in bytes. Default: 1 TiB. Free disk space is an additional limit. */
  maxBytes?: number;
  signal: AbortSignal;
  /** Called with the progress at most ten times a second. */
  onProgress?: (progress: UnpackProgress) => void;
};

/** Progress of unpacking: blob bytes read and entries created so far. */
export type UnpackProgress = { blobBytes: number; entries: number };

/**
 * `diffId` is the `sha256:…` digest of the uncompressed stream, `streamBytes` is the stream's length, and `sizeBytes` is the total size of
 * all files. A dry run counts neither files nor entries.
 */
export type UnpackResult = { diffId: string; streamBytes: number; sizeBytes: number; entries: number };

/**
 * Unpacks a layer (image-spec v1, layer.md). On failure, the files created so far remain in `directory`, and the caller must remove them.
 * Errors: `invalid_argument` (not a layer, or a hostile one), `data_loss` (truncated or damaged), `resource_exhausted` (no space, or a
 * limit exceeded), `unimplemented` (unsupported entry type or compression), or the signal's reason.
 */
export type UnpackLayer = (options: UnpackOptions) => Promise<UnpackResult>;
