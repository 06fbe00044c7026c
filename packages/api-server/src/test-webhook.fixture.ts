/** A webhook server in the test's process. */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { CertificateAuthority } from './certificates/certificate-authority.ts';
import type { Json } from './server/test-client.fixture.ts';

/** Handles an AdmissionReview. Returns the `response` to send, or `undefined` if it has written the HTTP response itself. */
export type Handle = (review: Json, response: ServerResponse) => Json | undefined;

export class TestWebhook implements AsyncDisposable {
  /** The reviews received, in order of arrival: the `request` of each, and its URL path. */
  readonly requests: Json[] = [];
  connections = 0;
  handle: Handle = () => ({ allowed: true });
  readonly #server: Server;
  readonly #authority: CertificateAuthority;

  private constructor(authority: CertificateAuthority) {
    this.#authority = authority;
    const { certificate: cert, key } = authority.server(['127.0.0.1']);
    this.#server = createServer({ cert, key }, (request, response) => void this.#answer(request, response));
    this.#server.on('secureConnection', (_: Socket) => {
      this.connections++;
    });
  }

  static async start(directory: string): Promise<TestWebhook> {
    const webhook = new TestWebhook(await CertificateAuthority.open(directory, Date.now));
    webhook.#server.listen(0, '127.0.0.1');
    await once(webhook.#server, 'listening');
    return webhook;
  }

  /**
   * Returns an entry for the `webhooks` of a webhook configuration. `rule`: the fields of its only rule, which default to `*`. `more`:
   * additional fields.
   */
  config(name: string, rule: object, more: object = {}): Json {
    return {
      name: `${name}.example.com`,
      clientConfig: this.clientConfig(name),
      rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], ...rule }],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      ...more,
    };
  }

  clientConfig(path = ''): Json {
    const { port } = this.#server.address() as AddressInfo;
    const caBundle = Buffer.from(this.#authority.certificate).toString('base64');
    return { url: `https://127.0.0.1:${port}/${path}`, caBundle };
  }

  closeIdleConnections(): void {
    this.#server.closeIdleConnections();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const review = JSON.parse(await text(request));
    const path = request.url!.slice(1).split('?')[0]!;
    this.requests.push({ path, ...review.request });
    const answer = this.handle({ path, ...review.request }, response);
    if (answer === undefined) return;
    const { apiVersion, kind } = review;
    response.end(JSON.stringify({ apiVersion, kind, response: { uid: review.request.uid, ...answer } }));
  }
}

/** Returns the response of a mutating webhook that admits the object and patches it. */
export const patched = (...operations: object[]): Json => ({
  ...{ allowed: true, patchType: 'JSONPatch' },
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
});
