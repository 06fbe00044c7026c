import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';

/** Matches a position in a stack trace: the path of a bundle, line and column. */
const POSITION = /(?:file:\/\/)?(\/[^\s():]+\.js):(\d+:\d+)/g;

/**
 * Translates the stack trace positions in a text from bundles to sources. The source maps are read on each call and not cached:
 * Node.js' own `--enable-source-maps` holds them in memory from the start, 35 MiB in a node (November 2026). Positions in files
 * without a map are not changed.
 */
export function withSourcePositions(text: string): string {
  const maps = new Map<string, SourceMap | undefined>();
  return text.replaceAll(POSITION, (position, path: string, place: string) => {
    if (!maps.has(path)) maps.set(path, readMap(path));
    const [line, column] = place.split(':').map(Number);
    return originOf(path, maps.get(path)?.findOrigin(line!, column!)) ?? position;
  });
}

/** Reads the source map of a file. esbuild writes the map next to the file. */
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
