/** Streaming access to tar archives for other packages: the reader also used to unpack layers, and a writer. */
export { ARCHIVE_END, tarHeader, tarPadding, type WrittenEntry } from './archive/tar-writer.ts';
export { readTar, type TarEntry, type TarHeader } from './unpack/tar-reader.ts';
