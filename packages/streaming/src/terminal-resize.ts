import type { Readable } from 'node:stream';
import type { TerminalSize } from './remote-process.ts';

/** Maximum length of pending text without a closing brace; longer text is discarded. A resize message is about 30 bytes. */
const MAX_PENDING_BYTES = 4096;

/** Reads terminal sizes as JSON from a resize stream, in chunks of any size. Ignores anything else. */
export function readSizes(stream: Readable, onSize: (size: TerminalSize) => void): void {
  let pending = '';
  stream.on('data', (chunk: Buffer) => {
    pending += chunk.toString('utf8');
    for (let end = pending.indexOf('}'); end >= 0; end = pending.indexOf('}')) {
      const size = parseSize(pending.slice(0, end + 1));
      pending = pending.slice(end + 1);
      if (size !== undefined) onSize(size);
    }
    if (pending.length > MAX_PENDING_BYTES) pending = '';
  });
  stream.on('error', () => undefined); // the session handles the end of the connection
}

/** Parses a terminal size; returns undefined unless width and height are between 1 and 65535. */
export function parseSize(text: string): TerminalSize | undefined {
  try {
    const { Width, Height } = JSON.parse(text) as Partial<TerminalSize>;
    const fits = (side: unknown): side is number =>
      typeof side === 'number' && Number.isInteger(side) && side > 0 && side < 65_536;
    return fits(Width) && fits(Height) ? { Width, Height } : undefined;
  } catch {
    return undefined;
  }
}
