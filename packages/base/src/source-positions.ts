import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';

/** A position in a stack trace: the path of a bundle, line and column. */
const POSITION = /(?:file:\/\/)?(\/[^\s():]+\.js):(\d+:\d+)/g;

/**
 * Maps the positions of stack traces in a text from bundles to sources. The source maps are read on each call and not cached:
 * Node.js' own `--enable-source-maps` holds them in memory from the start, 35 MiB in a node (November 2026). Positions in files without a
 * map are not changed.
 */
export function withSourcePositions(text: string): string {
  const maps = new Map<string, SourceMap | undefined>();
  return text.replaceAll(POSITION, (position, path: string, place: string) => {
    if (!maps.has(path)) maps.set(path, readMap(path));
    const [line, column] = place.split(':').map(Number);
    return originOf(path, maps.get(path)?.findOrigin(line!, column!)) ?? position;
  });
}

/** The map is next to its file, where esbuild writes it. */
function readMap(path: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${path}.map`, 'utf8')) as SourceMapPayload);
  } catch {
    return undefined; // an unmapped position is better than none
  }
}

function originOf(path: string, origin: ReturnType<SourceMap['findOrigin']> | undefined): string | undefined {
  if (origin === undefined || !('fileName' in origin)) return undefined;
  const { pathname } = new URL(origin.fileName, `file://${path}`);
  return `${pathname}:${origin.lineNumber}:${origin.columnNumber}`;
}
