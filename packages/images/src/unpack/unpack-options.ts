import type { ArrivingBlob } from '../content/arriving-blob.ts';

/** What to unpack, and where. */
export type UnpackOptions = {
  /** The packed layer in the content store: plain, gzip or zstd, whatever the media type says. */
  blobPath: string;
  /** The blob, if its file is still being written: it is unpacked as its bytes come. */
  arriving?: ArrivingBlob | undefined;
  mediaType: string;
  /** Private directory of the layer: empty, or (without `overlayWhiteouts`) a full copy of the layers below. */
  directory: string;
  /** True: deleted files become overlay whiteouts. False: they are deleted from `directory`. */
  overlayWhiteouts: boolean;
  /** Directories of the layers below, the topmost first: hard links and attributes of directories may refer to them. */
  parentDirectories?: string[];
  /** True: nothing is written, only the diff id is found. */
  isDryRun?: boolean;
  /** Most bytes that the stream may unpack to; never more than the disk has free. 1 TiB unless given. */
  maxBytes?: number;
  signal: AbortSignal;
  /** Called at most ten times a second. */
  onProgress?: (progress: UnpackProgress) => void;
};

/** How far an unpacking is: bytes of the blob that are read, and entries that are made. */
export type UnpackProgress = { blobBytes: number; entries: number };

/**
 * `diffId` is `sha256:…` of the uncompressed stream, `streamBytes` its length, `sizeBytes` the content of all files. A dry run
 * looks for neither files nor entries.
 */
export type UnpackResult = { diffId: string; streamBytes: number; sizeBytes: number; entries: number };

/**
 * Unpacks a layer (image-spec v1, layer.md). On failure whatever was made stays in `directory`: the caller removes it.
 * Errors: `invalid_argument` (not a layer, or a hostile one), `data_loss` (cut or damaged), `resource_exhausted` (no space,
 * or over a limit), `unimplemented` (a kind of entry or packing that is not supported), the signal's reason.
 */
export type UnpackLayer = (options: UnpackOptions) => Promise<UnpackResult>;
