import type { RequestFields } from '@podwright/base';
import type { HttpHeader } from '@podwright/kube-api';

/** Request headers that Go's client ignores because it sets them itself. */
const NOT_SENT = ['Content-Length', 'Host', 'Trailer', 'Transfer-Encoding', 'User-Agent'];

/**
 * Which of upstream's two clients to imitate: the probe client sends `Connection: close`; the lifecycle hook client accepts gzip and
 * ignores the body.
 */
export type HttpClient = 'probe' | 'lifecycle';

/** An httpGet handler's headers under Go's canonical names, plus the default headers. */
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

  /** Returns the handler's first `Host` header, if it has one. */
  get host(): string | undefined {
    return this.#first('Host') || undefined;
  }

  /** Returns the headers of a request to `host`. `referer`: the URL that redirected to it. */
  for(host: string, { authorized, referer }: { authorized: boolean; referer?: string }): RequestFields {
    const userAgent = this.#first('User-Agent');
    const sent: RequestFields = { Host: host, ...(userAgent === '' ? {} : { 'User-Agent': userAgent! }) };
    for (const [name, values] of this.#fields) {
      if (NOT_SENT.includes(name) || (name === 'Authorization' && !authorized)) continue;
      sent[name] = values.length === 1 ? values[0]! : values;
    }
    if (referer !== undefined && !this.#first('Referer')) sent.Referer = referer;
    if (this.#client === 'probe') return { ...sent, Connection: 'close' };
    const hasOwnEncoding = this.#first('Accept-Encoding') || this.#first('Range');
    return hasOwnEncoding ? sent : { ...sent, 'Accept-Encoding': 'gzip' };
  }

  #first(name: string): string | undefined {
    return this.#fields.get(name)?.[0];
  }
}

/** Converts `x-request-ID` to `X-Request-Id` (CanonicalMIMEHeaderKey in Go's net/textproto). */
function canonicalName(name: string): string {
  return name.toLowerCase().replace(/(^|-)[a-z]/g, (start) => start.toUpperCase());
}

/** Converts text to one character per UTF-8 byte. Requests are written with one byte per character, and Go sends UTF-8. */
function rawText(value: string): string {
  return Buffer.from(value, 'utf8').toString('latin1');
}
