/** Tar archives as a stream, for other packages: the reader that layers are unpacked with, and a writer. */
export { ARCHIVE_END, tarHeader, tarPadding, type WrittenEntry } from './archive/tar-writer.ts';
export { readTar, type TarEntry, type TarHeader } from './unpack/tar-reader.ts';
