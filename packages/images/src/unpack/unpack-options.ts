import type { ArrivingBlob } from '../content/arriving-blob.ts';

/** Options of `UnpackLayer`. */
export type UnpackOptions = {
  /** Path of the layer's blob. It may be uncompressed, gzip or zstd, whatever the media type says. */
  blobPath: string;
  /** The arriving blob, if its file is still being written: it is unpacked as its bytes arrive. */
  arriving?: ArrivingBlob | undefined;
  mediaType: string;
  /** Private directory of the layer: empty, or (without `overlayWhiteouts`) a full copy of the layers below. */
  directory: string;
  /** True: whiteouts of the layer become overlay whiteouts. False: the files are deleted from `directory`. */
  overlayWhiteouts: boolean;
  /** Directories of the layers below, topmost first. Targets of hard links and attributes of directories may come from them. */
  parentDirectories?: string[];
  /** True: only computes the diff id, and writes nothing. */
  isDryRun?: boolean;
  /** Maximum length of the uncompressed stream in bytes. Default: 1 TiB. Free disk space is another bound. */
  maxBytes?: number;
  signal: AbortSignal;
  /** Called at most ten times a second. */
  onProgress?: (progress: UnpackProgress) => void;
};

/** Progress of unpacking: bytes of the blob read, and entries created. */
export type UnpackProgress = { blobBytes: number; entries: number };

/**
 * `diffId` is `sha256:…` of the uncompressed stream, `streamBytes` its length, `sizeBytes` the total size of all files. A dry run
 * counts neither files nor entries.
 */
export type UnpackResult = { diffId: string; streamBytes: number; sizeBytes: number; entries: number };

/**
 * Unpacks a layer (image-spec v1, layer.md). On failure, the files created so far stay in `directory`: the caller removes them.
 * Errors: `invalid_argument` (not a layer, or a hostile one), `data_loss` (truncated or damaged), `resource_exhausted` (no space,
 * or a limit exceeded), `unimplemented` (an unsupported type of entry or compression), the signal's reason.
 */
export type UnpackLayer = (options: UnpackOptions) => Promise<UnpackResult>;
