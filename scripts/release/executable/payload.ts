/** Reads the parts of the executable that `scripts/release/payload.ts` has appended to the program. */

/** Offset and length in the executable of each embedded part, by name. */
export type PartIndex = Record<string, [offset: number, length: number]>;

/** Marks the end of a complete file; it is preceded by the length of the index, in four bytes. */
export const END_MARK = 'podwright';
const LENGTH_BYTES = 4;

/** Keeps the file open, so that after an upgrade a running node still loads its own parts. */
export function openPayload(): (name: string) => Buffer | undefined {
  const { fstatSync, openSync, readSync } = process.getBuiltinModule('node:fs');
  const file = openSync('/proc/self/exe', 'r');
  const read = (offset: number, length: number): Buffer => {
    const content = Buffer.allocUnsafeSlow(length);
    if (readSync(file, content, 0, length, offset) !== length)
      throw new Error(`read ${process.execPath}: the file has become shorter`);
    return content;
  };
  const end = fstatSync(file).size - END_MARK.length - LENGTH_BYTES;
  const trailer = read(end, LENGTH_BYTES + END_MARK.length);
  if (trailer.toString('latin1', LENGTH_BYTES) !== END_MARK)
    throw new Error(`read ${process.execPath}: the end of the executable is missing; copy it again`);
  const length = trailer.readUInt32LE();
  const index = JSON.parse(read(end - length, length).toString()) as PartIndex;
  return (name) => {
    const [offset, size] = index[name] ?? [];
    return offset === undefined ? undefined : read(offset, size!);
  };
}
