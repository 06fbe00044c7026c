const MAX_SHOWN = 30;

/** Returns the start of a request body for use in an error message. Like upstream, prints JSON as text and anything else as hex. */
export function summaryOf(body: Buffer): string {
  if (body.length === 0) return '<empty>';
  const shown = body.subarray(0, MAX_SHOWN).toString(body[0] === 0x7b ? 'utf8' : 'hex');
  return body.length > MAX_SHOWN ? `${shown} ...` : shown;
}
