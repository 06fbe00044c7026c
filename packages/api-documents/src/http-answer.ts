/** Requests and responses for non-resource paths: discovery, health and OpenAPI documents. */

/** The parts of a GET request that affect the response. */
export type PathRequest = {
  method: string;
  /** The request's path without the query string. */
  path: string;
  query: URLSearchParams;
  /** Returns the value of a request header, or '' if it is missing. The name must be in lower case. */
  header: (name: string) => string;
};

export type PathResponse = {
  status: number;
  /** Response headers. Their names are in lower case. */
  headers: Record<string, string>;
  body: string | Uint8Array;
};

export const textResponse = (status: number, body: string): PathResponse => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
  body,
});

/** Returns the 404 response for paths outside the server's group versions. Unlike other errors, it is not a Status, as in upstream. */
export const unknownPath = (): PathResponse => textResponse(404, '404 page not found\n');

/** Headers for a document with an ETag. `Vary` is needed because the `Accept` header selects the media type of the body. */
export const taggedHeaders = (hash: string): Record<string, string> => ({ etag: `"${hash}"`, vary: 'Accept' });

/** Returns a 304 response if the client already has the document with this hash, otherwise `undefined`. */
export function notModified(request: PathRequest, hash: string): PathResponse | undefined {
  const tags = request.header('if-none-match').split(',');
  const isKnown = tags.some((tag) => tag.trim().replace(/^W\//, '') === `"${hash}"`);
  return isKnown ? { status: 304, headers: taggedHeaders(hash), body: '' } : undefined;
}
