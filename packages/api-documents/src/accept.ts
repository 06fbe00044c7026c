/** Content negotiation using the `Accept` header (apiserver, endpoints/handlers/negotiation). */

/** A media range in an `Accept` header. */
export type AcceptClause = {
  /** The type before the slash, such as `application` or `*`. */
  type: string;
  subtype: string;
  /** The media range's parameters, except `q`. */
  params: Readonly<Record<string, string>>;
};

/** Maximum number of clauses considered, which is more than any client sends. Excess clauses are ignored. */
const MAX_CLAUSES = 100;

/**
 * Parses an `Accept` header and returns its clauses in order of preference: by quality, with specific types before wildcards. An empty
 * header accepts anything.
 */
export function parseAccept(header: string): AcceptClause[] {
  const text = header.trim() === '' ? '*/*' : header;
  return text
    .split(',', MAX_CLAUSES)
    .map(parseClause)
    .filter((clause) => clause !== undefined)
    .sort((a, b) => b.quality - a.quality || wildcards(a) - wildcards(b));
}

/** Whether a clause matches a media type such as `application/json`. */
export function accepts({ type, subtype }: AcceptClause, mediaType: string): boolean {
  const [offeredType, offeredSubtype] = mediaType.split('/');
  return (type === '*' || type === offeredType) && (subtype === '*' || subtype === offeredSubtype);
}

const wildcards = ({ type, subtype }: AcceptClause) => Number(type === '*') + Number(subtype === '*');

function parseClause(text: string): (AcceptClause & { quality: number }) | undefined {
  const [range = '', ...rest] = text.split(';').map((part) => part.trim());
  const [type = '', subtype = '', ...more] = (range === '*' ? '*/*' : range).toLowerCase().split('/');
  if (type === '' || subtype === '' || more.length > 0 || (type === '*' && subtype !== '*')) return undefined;
  const { q, ...params } = Object.fromEntries(rest.map(parseParameter));
  const quality = q === undefined ? 1 : Number(q);
  return { type, subtype, params, quality: quality >= 0 && quality <= 1 ? quality : 1 };
}

function parseParameter(text: string): [string, string] {
  const at = text.indexOf('=');
  const value = at === -1 ? '' : text.slice(at + 1).trim();
  return [(at === -1 ? text : text.slice(0, at)).trim(), value.replace(/^"(.*)"$/, '$1')];
}
