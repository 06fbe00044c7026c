import type { RequestFields } from '@podwright/base';
import type { HttpHeader } from '@podwright/kube-api';

/** What Go's client does not take from a request's header fields, but works out itself. */
const NOT_SENT = ['Content-Length', 'Host', 'Trailer', 'Transfer-Encoding', 'User-Agent'];

/** Upstream's two clients: that of probes closes each connection, that of hooks takes packed answers, which it does not read. */
export type HttpClient = 'probe' | 'lifecycle';

/** The fields of an httpGet handler, in the form in which Go writes their names, over those that every request has. */
export class ProbeHeaders {
  readonly #fields = new Map<string, string[]>();
  readonly #client: HttpClient;

  constructor(fields: HttpHeader[], client: HttpClient) {
    this.#client = client;
    for (const { name, value } of fields) {
      const key = canonicalName(name);
      this.#fields.set(key, [...(this.#fields.get(key) ?? []), rawText(value ?? '')]);
    }
    if (!this.#fields.has('User-Agent')) this.#fields.set('User-Agent', [`kube-${client}/1.36`]);
    if (!this.#fields.has('Accept')) this.#fields.set('Accept', ['*/*']);
    else if (this.#first('Accept') === '') this.#fields.delete('Accept');
  }

  /** The name that the server is asked for, if the handler gives one: the first of its `Host` fields. */
  get host(): string | undefined {
    return this.#first('Host') || undefined;
  }

  /** The header of a request that asks `host` for something; `referer` is the URL that led there. */
  for(host: string, { authorized, referer }: { authorized: boolean; referer?: string }): RequestFields {
    const userAgent = this.#first('User-Agent');
    const sent: RequestFields = { Host: host, ...(userAgent === '' ? {} : { 'User-Agent': userAgent! }) };
    for (const [name, values] of this.#fields) {
      if (NOT_SENT.includes(name) || (name === 'Authorization' && !authorized)) continue;
      sent[name] = values.length === 1 ? values[0]! : values;
    }
    if (referer !== undefined && !this.#first('Referer')) sent.Referer = referer;
    if (this.#client === 'probe') return { ...sent, Connection: 'close' };
    const asksForBytes = this.#first('Accept-Encoding') || this.#first('Range');
    return asksForBytes ? sent : { ...sent, 'Accept-Encoding': 'gzip' };
  }

  #first(name: string): string | undefined {
    return this.#fields.get(name)?.[0];
  }
}

/** `x-request-ID` is `X-Request-Id` (Go's net/textproto, CanonicalMIMEHeaderKey). */
function canonicalName(name: string): string {
  return name.toLowerCase().replace(/(^|-)[a-z]/g, (start) => start.toUpperCase());
}

/** A request is written a character a byte; what is beyond ASCII is sent in UTF-8, as Go does. */
function rawText(value: string): string {
  return Buffer.from(value, 'utf8').toString('latin1');
}
