import type { IncomingMessage, ServerResponse } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { securityHeaders } from '../access/security-headers.ts';
import type { PageFile } from './page-files.ts';

const CACHED_FOR_A_YEAR = 'public, max-age=31536000, immutable';

/**
 * Sends a file of the page. All file names except the document's contain a content hash, so browsers may cache these files. The document is
 * not cached, so that it always refers to the files of the running version.
 */
export function serveFile(
  { request, response }: { request: IncomingMessage; response: ServerResponse },
  path: string,
  { type, gzipped }: PageFile,
): void {
  const accepts = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$))/.test(request.headers['accept-encoding']?.toString() ?? '');
  const body = accepts ? gzipped : gunzipSync(gzipped);
  response.writeHead(200, {
    ...securityHeaders(path === '/' ? 'document' : 'data'),
    'content-type': type,
    'content-length': body.length,
    'cache-control': path === '/' ? 'no-store' : CACHED_FOR_A_YEAR,
    vary: 'accept-encoding',
    ...(accepts ? { 'content-encoding': 'gzip' } : {}),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}
