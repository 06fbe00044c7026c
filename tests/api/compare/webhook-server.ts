/** A webhook server with a different response for each path. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Certificates } from '../../fixtures/certificates.ts';
import type { Json } from './json.ts';

/**
 * Returns the `response` of a review, without its UID, or `{ whole }`, the entire body. Returns undefined if it has written the HTTP
 * response itself.
 */
export type Answer = (review: Json, response: ServerResponse) => Json | undefined;

export class WebhookServer {
  /** Reviews in order of arrival, with their URL path. */
  readonly reviews: { path: string; url: string; headers: Json; review: Json }[] = [];
  readonly #answers: Readonly<Record<string, Answer>>;
  readonly #server: Server;
  readonly #caBundle: string;

  private constructor(
    pair: { cert: Buffer; key: Buffer },
    caBundle: string,
    answers: Readonly<Record<string, Answer>>,
  ) {
    this.#answers = answers;
    this.#caBundle = caBundle;
    this.#server = createServer(pair, (request, response) => void this.#handle(request, response));
  }

  static async start(answers: Readonly<Record<string, Answer>>): Promise<WebhookServer> {
    const directory = mkdtempSync(join(tmpdir(), 'compare-webhook-'));
    const certificates = new Certificates(directory);
    await certificates.makeAuthority('authority');
    const { certificate, key } = await certificates.make('webhook', 'authority');
    const server = new WebhookServer(
      { cert: certificate, key },
      certificates.read('authority.crt').toString('base64'),
      answers,
    );
    rmSync(directory, { recursive: true });
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  clientConfig(path: string): Json {
    const { port } = this.#server.address() as AddressInfo;
    return { url: `https://127.0.0.1:${port}/${path}`, caBundle: this.#caBundle };
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = request.url ?? '';
    const path = url.slice(1).split('?')[0]!;
    const review = JSON.parse(await text(request));
    const { accept, 'content-type': contentType, 'user-agent': userAgent } = request.headers;
    this.reviews.push({ path, url, headers: { accept, contentType, userAgent }, review });
    const answer = this.#answers[path]?.(review, response);
    if (answer === undefined) return;
    const { apiVersion, kind } = review;
    const body =
      'whole' in answer ? answer.whole : { apiVersion, kind, response: { uid: review.request.uid, ...answer } };
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  }
}
