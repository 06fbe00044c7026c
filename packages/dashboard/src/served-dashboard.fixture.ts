/** A dashboard with a fake API server on a Unix socket, and a client that sends the same headers as a browser. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { silentLogger } from '@podwright/base';
import { WebSocket } from 'ws';
import { DashboardServer } from './dashboard-server.ts';
import { nodeSocket } from './upstream/node-socket.ts';

export type Answer = { status: number; headers: Record<string, string | string[] | undefined>; text: string };
type Call = { method?: string; path: string; headers?: Record<string, string>; body?: string };
type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const DOCUMENT = '<!doctype html><title>page</title>';

/** A dashboard whose fake API server handles requests with `handler`. */
export class ServedDashboard {
  readonly server: DashboardServer;
  readonly seen: IncomingMessage[] = [];
  readonly api: Server;
  readonly port: number;
  readonly token: string;

  static async start(t: TestContext, handler: Handler): Promise<ServedDashboard> {
    const directory = mkdtempSync(join(tmpdir(), 'pw-dashboard-'));
    const socketPath = join(directory, 'api.sock');
    const seen: IncomingMessage[] = [];
    const api = createServer((given, response) => {
      seen.push(given);
      handler(given, response);
    });
    await once(api.listen(socketPath), 'listening');
    const page = new Map([['/', { type: 'text/html; charset=utf-8', gzipped: gzipSync(DOCUMENT) }]]);
    const listen = { host: '127.0.0.1', port: 0 };
    const server = new DashboardServer({ api: nodeSocket(socketPath), page, listen, logger: silentLogger });
    await server.listen();
    t.after(async () => {
      await server.close();
      api.closeAllConnections();
      api.close();
      rmSync(directory, { recursive: true });
    });
    return new ServedDashboard(server, api, seen);
  }

  constructor(server: DashboardServer, api: Server, seen: IncomingMessage[]) {
    this.server = server;
    this.api = api;
    this.seen = seen;
    const { port, hash } = new URL(server.link());
    this.port = Number(port);
    this.token = hash.replace('#token=', '');
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async call({ method = 'GET', path, headers = {}, body }: Call): Promise<Answer> {
    const origin = method === 'GET' ? {} : { origin: this.origin };
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const options = { host: '127.0.0.1', port: this.port, method, path, headers: { ...origin, ...type, ...headers } };
    const sent = request({ ...options, agent: false });
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of response) text += chunk;
    return { status: response.statusCode ?? 0, headers: response.headers, text };
  }

  /** Starts a session. Returns the headers that requests need to belong to it. */
  async logIn(token = new URL(this.server.link()).hash.slice('#token='.length)): Promise<Record<string, string>> {
    const answer = await this.call({ method: 'POST', path: '/dashboard/login', body: JSON.stringify({ token }) });
    if (answer.status !== 200) throw new Error(answer.text);
    const [cookie = ''] = answer.headers['set-cookie'] as string[];
    return { cookie: cookie.split(';')[0]!, 'x-podwright-key': (JSON.parse(answer.text) as { key: string }).key };
  }

  open(path: string, protocols: string[], headers: Record<string, string>): WebSocket {
    const { 'x-podwright-key': key = '', ...others } = headers;
    const all = [...protocols, ...(key === '' ? [] : [`podwright.key.${key}`])];
    return new WebSocket(`ws://127.0.0.1:${this.port}${path}`, all, { headers: { origin: this.origin, ...others } });
  }
}
