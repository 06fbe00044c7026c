/** Reads the parts of the executable, which `scripts/release/payload.ts` has appended to the program. */

/** Offset and length of each part in the file. */
export type PartIndex = Record<string, [offset: number, length: number]>;

/** The trailer is the length of the index. */
export const TRAILER_BYTES = 4;

/** The file stays open: after an upgrade, a running node still loads its own parts. */
export function openPayload(): (name: string) => Buffer | undefined {
  const { fstatSync, openSync, readSync } = process.getBuiltinModule('node:fs');
  const file = openSync('/proc/self/exe', 'r');
  const read = (offset: number, length: number): Buffer => {
    const content = Buffer.allocUnsafeSlow(length);
    if (readSync(file, content, 0, length, offset) !== length)
      throw new Error(`read ${process.execPath}: the file has been cut off`);
    return content;
  };
  const end = fstatSync(file).size - TRAILER_BYTES;
  const length = read(end, TRAILER_BYTES).readUInt32LE();
  const index = JSON.parse(read(end - length, length).toString()) as PartIndex;
  return (name) => {
    const [offset, size] = index[name] ?? [];
    return offset === undefined ? undefined : read(offset, size!);
  };
}
