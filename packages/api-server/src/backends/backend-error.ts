import { ApiError, badRequest, internalError } from '@podwright/api-machinery';

type ErrorWords = { reason: string; message: string };

/**
 * Reason and message by status code, for error responses without a Status: the words of upstream's client library (apimachinery,
 * NewGenericServerResponse).
 */
const WORDS: Readonly<Record<number, ErrorWords>> = {
  401: { reason: 'Unauthorized', message: 'the server has asked for the client to provide credentials' },
  404: { reason: 'NotFound', message: 'the server could not find the requested resource' },
  405: { reason: 'MethodNotAllowed', message: 'the server does not allow this method on the requested resource' },
  409: { reason: 'Conflict', message: 'the server reported a conflict' },
  422: { reason: 'Invalid', message: 'the server rejected our request due to an error in our request' },
  429: {
    reason: 'TooManyRequests',
    message: 'the server has received too many requests and has asked us to try again later',
  },
  503: { reason: 'ServiceUnavailable', message: 'the server is currently unable to handle the request' },
  504: {
    reason: 'Timeout',
    message: 'the server was unable to return a response in the time allotted, but may still be processing the request',
  },
};

/**
 * Converts a kubelet's error response, given as status code and text, to an API error. `resource`: the resource that the client requested,
 * e.g. `pods/log`.
 */
export function backendError(
  code: number,
  text: string,
  { resource, name }: { resource: string; name: string },
): ApiError {
  if (code === 500) return internalError(text);
  if (code === 400) return badRequest(text);
  const { reason, message } = wordsOf(code, text);
  return new ApiError(code, reason, {
    message: `${message} ( ${resource} ${name})`,
    details: { name, kind: resource },
  });
}

function wordsOf(code: number, text: string): ErrorWords {
  if (code === 403) return { reason: 'Forbidden', message: text };
  const known = WORDS[code];
  if (known !== undefined) return known;
  if (code > 500) {
    const message = `an error on the server (${JSON.stringify(text)}) has prevented the request from succeeding`;
    return { reason: 'InternalError', message };
  }
  const message = `the server responded with the status code ${code} but did not return more information`;
  return { reason: '', message };
}
