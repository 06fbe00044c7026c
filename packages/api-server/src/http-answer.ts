/** Requests and responses of paths that are not objects: discovery, health, OpenAPI documents. */

/** The parts of a GET request that determine its response. */
export type PathRequest = {
  method: string;
  /** Without the query. */
  path: string;
  query: URLSearchParams;
  /** The value of a header, whose name is in lower case; '' if the request does not have it. */
  header: (name: string) => string;
};

export type PathResponse = {
  status: number;
  /** Names are in lower case. */
  headers: Record<string, string>;
  body: string | Uint8Array;
};

export const textResponse = (status: number, body: string): PathResponse => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
  body,
});

/** The response for a path that belongs to no group version of the server. Unlike other errors, it is not a Status in upstream either. */
export const unknownPath = (): PathResponse => textResponse(404, '404 page not found\n');

/** Headers of a document with an entity tag. `Vary` is needed because the media type of the body depends on the request. */
export const taggedHeaders = (hash: string): Record<string, string> => ({ etag: `"${hash}"`, vary: 'Accept' });

/** The response to a request whose client already has the document with this hash; undefined for other requests. */
export function notModified(request: PathRequest, hash: string): PathResponse | undefined {
  const tags = request.header('if-none-match').split(',');
  const isKnown = tags.some((tag) => tag.trim().replace(/^W\//, '') === `"${hash}"`);
  return isKnown ? { status: 304, headers: taggedHeaders(hash), body: '' } : undefined;
}
