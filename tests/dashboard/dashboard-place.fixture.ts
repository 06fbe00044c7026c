/** A real node with a Kubernetes API, `podwright dashboard` in front of it, and a real browser. */
import { runChecked } from '@podwright/host';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { NodePlace } from '../pods/node.fixture.ts';
import type { StartedProgram } from '../pods/started-program.ts';
import { OpenedDashboard, type OpenedPage, startBrowser } from './opened-dashboard.fixture.ts';

export class DashboardPlace {
  readonly node: NodePlace;
  readonly browser: Browser;
  readonly dashboard: OpenedDashboard;
  readonly #bundle: Bundle;
  #daemon: StartedProgram;

  static async start(subnet: string, manifests: string): Promise<DashboardPlace> {
    const bundle = await buildBundle();
    const node = new NodePlace(bundle, subnet, { hasApi: true });
    const api = `[api]\nenabled = true\nservice_cidr = "${node.serviceCidr}"\nlisten = "127.0.0.1:0"\n`;
    node.file('api.toml', `${api}[kubelet]\ncontainer_log_max_size = "500Mi"\n`);
    const daemon = await node.startDaemon();
    await node.loadImage();
    await node.ok('apply', node.file('all.yaml', manifests));
    const [browser, dashboard] = await Promise.all([startBrowser(), OpenedDashboard.start(node)]);
    return new DashboardPlace({ bundle, node, daemon, browser, dashboard });
  }

  constructor(
    parts: Pick<DashboardPlace, 'node' | 'browser' | 'dashboard'> & { bundle: Bundle; daemon: StartedProgram },
  ) {
    this.node = parts.node;
    this.browser = parts.browser;
    this.dashboard = parts.dashboard;
    this.#bundle = parts.bundle;
    this.#daemon = parts.daemon;
  }

  /** Opens the dashboard's page in a new browser profile. */
  async open(options: BrowserContextOptions = {}, dashboard = this.dashboard): Promise<OpenedPage> {
    return await dashboard.open(await this.browser.newContext(options));
  }

  /** Stops the daemon; the pods keep running. */
  async stopNode(): Promise<void> {
    this.#daemon.child.kill('SIGTERM');
    await this.#daemon.ended();
  }

  async startNode(): Promise<void> {
    this.#daemon = await this.node.startDaemon();
  }

  /** Sends a request with a body to the API as an administrator. Returns the JSON response. */
  async send(method: string, path: string, body: object, type = 'application/json'): Promise<Record<string, never>> {
    const socket = ['--unix-socket', this.node.path('state/node.sock'), `http://node${path}`];
    const data = ['-X', method, '-H', `Content-Type: ${type}`, '-d', JSON.stringify(body)];
    return JSON.parse(await runChecked('curl', ['-sS', '-m', '10', ...data, ...socket]));
  }

  async stop(): Promise<void> {
    await this.browser.close();
    await this.dashboard.stop();
    await this.node.call('stop', '--delete');
    await this.#daemon.ended();
    await this.node.remove();
    this.#bundle.remove();
  }
}
