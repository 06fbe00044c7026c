/** Requests and responses for non-resource paths: discovery, health and OpenAPI documents. */

/** The parts of a GET request that determine its response. */
export type PathRequest = {
  method: string;
  /** The path without the query string. */
  path: string;
  query: URLSearchParams;
  /** Returns the value of a header, whose name must be in lower case. '' if the request does not have the header. */
  header: (name: string) => string;
};

export type PathResponse = {
  status: number;
  /** Header names are in lower case. */
  headers: Record<string, string>;
  body: string | Uint8Array;
};

export const textResponse = (status: number, body: string): PathResponse => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
  body,
});

/** The response for a path that belongs to none of the server's group versions. As in upstream, it is not a Status, unlike other errors. */
export const unknownPath = (): PathResponse => textResponse(404, '404 page not found\n');

/** Headers for a document with an ETag. `Vary` is needed because the media type of the body depends on the request. */
export const taggedHeaders = (hash: string): Record<string, string> => ({ etag: `"${hash}"`, vary: 'Accept' });

/** Returns the 304 response if the client already has the document with this hash; otherwise `undefined`. */
export function notModified(request: PathRequest, hash: string): PathResponse | undefined {
  const tags = request.header('if-none-match').split(',');
  const isKnown = tags.some((tag) => tag.trim().replace(/^W\//, '') === `"${hash}"`);
  return isKnown ? { status: 304, headers: taggedHeaders(hash), body: '' } : undefined;
}
