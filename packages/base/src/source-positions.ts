import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';

/** Matches a position in a stack trace: the bundle's path, line and column. */
const POSITION = /(?:file:\/\/)?(\/[^\s():]+\.js):(\d+:\d+)/g;

/**
 * Translates positions in stack traces from bundles to sources; positions in files without a source map are left unchanged. Source maps are
 * read on each call rather than cached: Node.js's own `--enable-source-maps` would keep them in memory from the start, which costs the node
 * daemon 35 MiB (November 2026).
 */
export function withSourcePositions(text: string): string {
  const maps = new Map<string, SourceMap | undefined>();
  return text.replaceAll(POSITION, (position, path: string, place: string) => {
    if (!maps.has(path)) maps.set(path, readMap(path));
    const [line, column] = place.split(':').map(Number);
    return originOf(path, maps.get(path)?.findOrigin(line!, column!)) ?? position;
  });
}

/** Reads a file's source map, which esbuild writes next to the file. */
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
